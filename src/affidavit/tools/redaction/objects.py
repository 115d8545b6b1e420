"""What an object of JSON says of its own members: a Secret's data, a name beside a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.hints import Strength, hint_of
from affidavit.tools.redaction.kubernetes import KIND, SECRET_FIELDS, SECRET_KINDS

Hint = tuple[Strength, str]
NO_HINT: Final[Hint] = (Strength.NONE, "")
SECRET_VALUE: Final[Hint] = (Strength.STRONG, KIND)


@dataclass(frozen=True, slots=True)
class ObjectHints:
    """What an object says of its own members."""

    is_secret: bool
    named: Hint

    @classmethod
    def of(cls, pairs: Sequence[tuple[object, object]]) -> ObjectHints:
        """Whether it is a Kubernetes Secret, or a name beside a value."""
        is_secret_, named = False, NO_HINT
        for key, item in pairs:
            if key == "kind" and isinstance(item, str) and item in SECRET_KINDS:
                is_secret_ = True
            elif key in {"name", "Name", "key", "Key", "header"} and isinstance(item, str):
                named = _hint(item)
        return cls(is_secret_, named)

    def hint_below(self, key: object, quiet: bool) -> Hint:
        """What the object and the key say of the value there."""
        if quiet or not isinstance(key, str):
            return NO_HINT
        if self.is_secret and key in SECRET_FIELDS:
            return SECRET_VALUE
        if key in {"value", "Value"} and self.named is not NO_HINT:
            return self.named
        return _hint(key)


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
