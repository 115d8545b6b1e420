"""What an object of JSON says of its own members: a Secret's data, a name beside a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.hints import Strength, hint_of
from affidavit.tools.redaction.kubernetes import (
    KIND,
    SECRET_FIELDS,
    SECRET_KINDS,
    SECRET_LIST,
)

Hint = tuple[Strength, str]
NO_HINT: Final[Hint] = (Strength.NONE, "")
SECRET_VALUE: Final[Hint] = (Strength.STRONG, KIND)
SECRET_ITEM: Final[Hint] = (Strength.NONE, KIND)
"""An object that is a Secret although it does not say so: an item of a SecretList."""
KEY_NUMBER: Final[Hint] = (Strength.STRONG, "private-key-number")
KEY_NUMBERS: Final = frozenset("d p q dp dq qi k".split())
"""The private members of a JSON Web Key (RFC 7518 section 6)."""


@dataclass(frozen=True, slots=True)
class ObjectHints:
    """What an object says of its own members."""

    is_secret: bool
    is_list: bool
    is_web_key: bool
    named: Hint
    within: Hint
    columns: tuple[Hint, ...] = ()

    @classmethod
    def of(cls, pairs: Sequence[tuple[object, object]], within: Hint) -> ObjectHints:
        """Whether it is a Kubernetes Secret, a key, or a name beside a value; `within` is what was
        said of the object itself."""
        kind, named, is_web_key = "", NO_HINT, False
        columns: tuple[Hint, ...] = ()
        for key, item in pairs:
            if not isinstance(item, str):
                if key in _HEADINGS and isinstance(item, list):
                    columns = tuple(_hint(one) if isinstance(one, str) else NO_HINT for one in item)
                continue
            if key == "kind":
                kind = item
            elif key in _NAMING:
                named = _hint(item)
            elif key == "kty":
                is_web_key = True
        is_secret_ = kind in SECRET_KINDS or within is SECRET_ITEM
        return cls(is_secret_, kind == SECRET_LIST, is_web_key, named, within, columns)

    def row_hints(self, row: Sequence[object]) -> tuple[Hint, ...]:
        """What the headings say of a row's cells; nothing of a row that is not as wide as they."""
        fits = len(row) == len(self.columns)
        return self.columns if fits else (NO_HINT,) * len(row)

    def hint_below(self, key: object, quiet: bool) -> Hint:
        """What the object and the key say of the value there."""
        if quiet or not isinstance(key, str):
            return NO_HINT
        if self.is_secret and key in SECRET_FIELDS:
            return SECRET_VALUE
        if self.is_list and key == "items":
            return SECRET_ITEM
        if self.is_web_key and key in KEY_NUMBERS:
            return KEY_NUMBER
        if key in {"value", "Value"}:
            if self.named is not NO_HINT:
                return self.named
            if self.within[0] is Strength.STRONG:
                return self.within
        return _hint(key)


_HEADINGS: Final = frozenset({"columns", "headers", "fields"})
ROWS: Final = frozenset({"rows", "data", "values"})
"""A table of JSON: the names of its columns, and its rows as lists."""
_NAMING: Final = frozenset({"name", "Name", "key", "Key", "header", "path"})
"""What names the value beside it; a JSON patch names it by a path."""


_HEADER_NAMES: Final = frozenset(
    "authorization proxy-authorization x-authorization cookie set-cookie cookie2 "
    "set-cookie2".split()
)


def _hint(key: str) -> Hint:
    """What a key promises; of a header its own name stands for the kind."""
    low = key.lower()
    if low in _HEADER_NAMES:
        return Strength.WEAK, low
    if len(low) > 64:
        low = low[-64:]
    strength, kind = hint_of(low.replace(" ", "_").encode("utf-8", "surrogatepass"))
    return (strength, kind) if strength is not Strength.NONE else NO_HINT
