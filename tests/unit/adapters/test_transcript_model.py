"""What one model said can be said again, in order, failures among it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.adapters.model_names import open_model
from affidavit.adapters.transcript_model import FORMAT, RecordingModel, ReplayModel
from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.ports.model import Purpose, model_failure
from affidavit.testing.scripted_model import Line, ScriptedModel, call_tools, say
from tests.support.desks import ask_for

pytestmark = pytest.mark.anyio

SCRIPT: list[Line] = [say("one"), model_failure("MODEL_CUT"), call_tools(("probe", {"a": 0.5}))]


async def record(file: Path) -> list[object]:
    told = RecordingModel(ScriptedModel(SCRIPT), file)
    return [await outcome(told, str(place)) for place in range(3)]


async def outcome(model: RecordingModel | ReplayModel, text: str) -> object:
    try:
        return await model.complete(ask_for(text))
    except ModelFailed as failed:
        return (failed.code, failed.may_retry, failed.billed)


@pytest.mark.spec("A3", "K8")
async def test_a_recording_is_replayed_outcome_for_outcome(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    said = await record(file)
    again = ReplayModel.read(file, strict=True)
    assert [await outcome(again, str(place)) for place in range(3)] == said
    assert said[1] == ("MODEL_CUT", True, True)
    assert (await outcome(again, "0"))[0] == "REPLAY_ENDED"  # type: ignore[index]
    assert again.drifts == 0
    assert open_model(f"replay:{file}").name == "replay:scripted"


@pytest.mark.spec("A3")
async def test_a_request_that_drifted_takes_its_turn_and_is_counted_or_refused(
    tmp_path: Path,
) -> None:
    file = tmp_path / "t.jsonl"
    said = await record(file)
    lenient, strict = ReplayModel.read(file), ReplayModel.read(file, strict=True)
    assert await outcome(lenient, "another") == said[0]
    assert lenient.drifts == 1
    assert (await outcome(strict, "another"))[0] == "REPLAY_DRIFT"  # type: ignore[index]
    with pytest.raises(ModelFailed, match="no line left"):
        await lenient.complete(ask_for(purpose=Purpose.JUDGE))


@pytest.mark.spec("A3")
@pytest.mark.parametrize(
    "content",
    [
        "",
        "no json",
        "{}",
        json.dumps({"format": "another/1"}),
        json.dumps({"format": FORMAT}) + "\nno json",
        json.dumps({"format": FORMAT}) + "\n{}",
        json.dumps({"format": FORMAT}) + "\n[]",
        json.dumps({"format": FORMAT})
        + '\n{"purpose": "decide", "request_digest": "x", "answer": {"text": 1}}',
    ],
)
def test_what_is_no_transcript_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "t.jsonl"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(InputRefused) as refused:
        ReplayModel.read(file)
    assert refused.value.code == "TRANSCRIPT_REFUSED"


async def test_a_transcript_is_never_written_over(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    await record(file)
    before = file.read_bytes()
    with pytest.raises(InputRefused):
        RecordingModel(ScriptedModel(SCRIPT), file)
    assert file.read_bytes() == before


@pytest.mark.spec("K0")
@pytest.mark.parametrize("name", ["", "gpt", "gpt:", "nobody:gpt", "exec:", "mailbox:"])
def test_what_names_no_model_is_refused_with_what_could_be_written(name: str) -> None:
    with pytest.raises(InputRefused) as refused:
        open_model(name)
    assert refused.value.hint
