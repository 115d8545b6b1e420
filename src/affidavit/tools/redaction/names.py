"""Names of services and hosts, masked so that whoever has the store can take the masks off (T7)

An option of a run. Before the run begins each name is given a pseudonym by lot; then no answer of a
tool is kept, and nothing is told to a model, unless its names were exchanged, wherever they stand:
within pod names, identifiers and texts. What an agent asks has the names put back before a back
end sees it. So everything downstream speaks of pseudonyms alone: projections, prompts, report,
stream, journal and file. The list is an artifact of the run, private to the store.

Deliberately absent: finding names. Those that are given are masked, and no others.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from affidavit.contract.errors import InputRefused
from affidavit.core.canonical import canonical_json

FORMAT: Final = "affidavit-names/1"

NAMES_MAX: Final = 2_000
"""One pattern holds them all; the largest system that we measured on has 60 services."""

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,99}")
"""What a name may be: then it stands in JSON, in a URL and in a query as it is."""

PREFIX: Final = "name-"

LETTERS: Final = "bcdfghjkmnpqrstvwxz"
"""No vowel, so that no word comes out; no letter that is read as another."""

LETTERS_COUNT: Final = 6
"""47 million pseudonyms: two of one run hardly meet by chance, and are drawn anew if they do."""

WITHIN_MIN: Final = 4
"""A name this long is masked within words too (`CheckoutService`); a shorter one, such as `db`,
only where it stands by itself."""


@dataclass(frozen=True, slots=True)
class NameMask:
    """Names and their pseudonyms in one run. `pseudonyms` is keyed by the name in lower case."""

    pseudonyms: Mapping[str, str]
    names: Mapping[str, str]
    to_mask: re.Pattern[str]
    to_unmask: re.Pattern[str]

    def mask(self, text: str) -> str:
        """The text with every name, however it is capitalised, exchanged for its pseudonym."""
        return self.to_mask.sub(lambda found: self.pseudonyms[found[0].lower()], text)

    def unmask(self, text: str) -> str:
        """The text with every pseudonym exchanged for its name, as that was given."""
        return self.to_unmask.sub(lambda found: self.names[found[0]], text)

    def mask_bytes(self, raw: bytes) -> bytes:
        """A raw response, masked: every text and key of a JSON document, else all of its text."""
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            return self.mask(raw.decode("utf-8", "surrogateescape")).encode(
                "utf-8", "surrogateescape"
            )
        masked = self._mask_value(value)
        return json.dumps(masked, sort_keys=True, separators=(",", ":")).encode("ascii")

    def _mask_value(self, value: object) -> object:
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, list):
            return [self._mask_value(item) for item in value]
        if isinstance(value, dict):
            return {self.mask(key): self._mask_value(item) for key, item in value.items()}
        return value

    def write(self) -> bytes:
        """The list, as an artifact keeps it."""
        return canonical_json({"format": FORMAT, "names": dict(self.names)})


def draw_names(names: Iterable[str]) -> NameMask:
    """Pseudonyms for these names, by lot. Raises InputRefused (NAMES_REFUSED)."""
    wanted = {name.lower(): name for name in names}
    if not 0 < len(wanted) <= NAMES_MAX:
        raise _refused(f"{len(wanted)} names are to be masked", f"give 1 to {NAMES_MAX}")
    for lower, name in wanted.items():
        if lower in PREFIX:
            raise _refused(f"{name!r} is part of what masks look like", "leave it out")
        if NAME.fullmatch(name) is None:
            hint = "2 to 100 letters, digits, dots, hyphens and underscores"
            raise _refused(f"{name[:40]!r} is no name that can be masked", hint)
    drawn: dict[str, str] = {}
    for name in wanted.values():
        pseudonym = _draw()
        while pseudonym in drawn or _holds_one(pseudonym, wanted):
            pseudonym = _draw()
        drawn[pseudonym] = name
    return _mask_of(drawn)


def read_names(content: bytes) -> NameMask:
    """The list in an artifact. Raises ValueError for what is none."""
    raw = json.loads(content)
    if not isinstance(raw, dict) or raw.get("format") != FORMAT or not raw.get("names"):
        raise ValueError("no list of names")
    return _mask_of(raw["names"])


def _holds_one(pseudonym: str, names: Iterable[str]) -> bool:
    """Whether a name would be found within this pseudonym: to mask twice must do nothing."""
    return any(len(name) >= WITHIN_MIN and name in pseudonym for name in names)


def _draw() -> str:
    return PREFIX + "".join(secrets.choice(LETTERS) for _ in range(LETTERS_COUNT))


def _mask_of(names: Mapping[str, str]) -> NameMask:
    longest_first = sorted(names.values(), key=len, reverse=True)
    return NameMask(
        pseudonyms={name.lower(): pseudonym for pseudonym, name in names.items()},
        names=dict(names),
        to_mask=re.compile("|".join(map(_pattern_of, longest_first)), re.IGNORECASE | re.ASCII),
        to_unmask=re.compile("|".join(map(re.escape, names))),
    )


def _pattern_of(name: str) -> str:
    escaped = re.escape(name)
    if len(name) >= WITHIN_MIN:
        return escaped
    return rf"(?<![A-Za-z0-9]){escaped}(?![A-Za-z0-9])"


def _refused(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="NAMES_REFUSED", hint=hint)
