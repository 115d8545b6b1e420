"""`--model`, `--judge` and `--record`: who thinks in a run, and how it is written down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from affidavit.adapters.model_names import open_model
from affidavit.adapters.transcript_model import RecordingModel, ReplayModel
from affidavit.application.minds import ModelMind, as_begun
from affidavit.contract.agent import AgentRequest
from affidavit.contract.errors import InputRefused
from affidavit.diagnose import World
from affidavit.models.roster import Roster
from affidavit.ports.model import Model
from affidavit.ports.store import Store
from affidavit.settings import Settings
from affidavit.wiring import ceilings_of, models_of


@dataclass(frozen=True, slots=True)
class Thinkers:
    """Models by name, first choice first; none means the embedded agent and the embedded judge."""

    models: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    record: Path | None = None

    def or_configured(self, settings: Settings) -> Thinkers:
        """These, and where none was named those of the settings."""
        configured = settings.models
        return replace(
            self,
            models=self.models or configured.author,
            judges=self.judges or configured.judge,
        )


def think_with(
    thinkers: Thinkers, world: World, request: AgentRequest, settings: Settings
) -> World:
    """The world in which these models think.

    Raises InputRefused for a model that cannot be opened or a transcript that is there already;
    then nothing was started.
    """
    if not thinkers.models and not thinkers.judges:
        if thinkers.record is not None:
            raise InputRefused(
                "there is no model to record", code="USAGE", hint="name one with --model"
            )
        return world
    authors = models_of(thinkers.models, settings)
    judges = models_of(thinkers.judges, settings)
    if thinkers.record is not None:
        authors = tuple(_recorded(authors, thinkers.record))
        judges = tuple(_recorded(judges, thinkers.record.with_suffix(".judge.jsonl")))
    return ModelMind(Roster(authors, judges)).named(world, request)


def under_ceilings(world: World, store: Store, settings: Settings) -> World:
    """The world whose models are asked within the day's ceilings of that store (K3)."""
    if not isinstance(world.mind, ModelMind):
        return world
    return replace(world, mind=replace(world.mind, ceilings=ceilings_of(store, settings)))


def judges_of(names: tuple[str, ...], record: Path | None) -> tuple[Model, ...]:
    """The judges of a score, put on record where a file is named; a replay is held to its lines.

    Raises InputRefused as `think_with` does.
    """
    if record is not None and not names:
        raise InputRefused(
            "there is no judge to record", code="USAGE", hint="name one with --judge"
        )
    judges = tuple(open_model(name) for name in names)
    for judge in judges:
        if isinstance(judge, ReplayModel):
            judge.strict = True
    return judges if record is None else tuple(_recorded(judges, record))


def _recorded(models: tuple[Model, ...], file: Path) -> Iterator[Model]:
    """Each model with a transcript of its own; the first one's has the name that was given."""
    for place, model in enumerate(models):
        own = file if place == 0 else file.with_suffix(f".{place + 1}.jsonl")
        yield RecordingModel(model, own)


async def think_again(
    thinkers: Thinkers, world: World, store: Store, run_id: str, settings: Settings
) -> World:
    """The world of a run that goes on: the same thinkers, by the names on its first line.

    Raises InputRefused (MODEL_NEEDED) where others, or none, were named.
    """
    lines = await store.read(run_id)
    content = await store.artifact(run_id, str(lines[0].data["request_digest"]))
    if content is None:
        return world  # driving it will say that it has expired
    asked = AgentRequest.model_validate_json(content)
    bare = Thinkers()
    # What the settings say today need not be what the run was begun with.
    choices = (thinkers.or_configured(settings), *([bare] if thinkers == bare else []))
    worlds = (
        under_ceilings(think_with(choice, world, asked, settings), store, settings)
        for choice in choices
    )
    return as_begun(worlds, run_id, lines[0])
