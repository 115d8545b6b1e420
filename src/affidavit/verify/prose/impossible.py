"""Two numbers of one sentence that contradict each other, whatever the evidence holds."""

from __future__ import annotations

from typing import Final

from affidavit.verify.prose.numbering import names_thing
from affidavit.verify.prose.relating import comparing
from affidavit.verify.prose.tokens import Kind, Token

Tokens = tuple[Token, ...]


def part_above_whole(tokens: Tokens) -> str:
    """ "5 of its 4 nodes": a part that is more than its whole."""
    for place, token in enumerate(tokens):
        behind = [
            item for item in tokens[place + 1 : place + 5] if item.text.casefold() not in _OWN
        ]
        if token.stated is None or len(behind) < 2 or behind[0].text.casefold() != "of":
            continue
        whole = behind[1].stated
        if whole is not None and token.stated.unit == whole.unit:
            if token.stated.number > whole.number:
                return token.text
    return ""


_OWN: Final = frozenset("the its their all".split())


def wrongly_compared(tokens: Tokens) -> str:
    """Two numbers on either side of one comparing word of which it is not true."""
    places = [(place, operator) for place, operator in comparing(tokens)]
    numbers = [
        (place, token) for place, token in enumerate(tokens)
        if token.kind is Kind.NUMBER and token.stated is not None
        and not (token.stems and names_thing(tokens, place))
    ]  # fmt: skip
    if len(places) != 1 or len(numbers) != 2:
        return ""
    place, operator = places[0]
    (left_at, left), (right_at, right) = numbers
    assert left.stated is not None
    assert right.stated is not None
    if not left_at < place < right_at or left.stated.unit != right.stated.unit:
        return ""
    one, two = left.stated.number, right.stated.number
    holds = one > two if operator == ">" else one < two
    return "" if holds else tokens[place].text
