"""Is a number the number of a field that the clause speaks of?

A field is meant when its name is met by the words around the number, the closest first, and no
other field of the record by more of them. A meant field that holds another number refutes; a number
that no named field explains has to be telling (three digits, a unit, a decimal) to be bound by
standing in the right record alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from affidavit.contract.evidence import Row, Value
from affidavit.verify.prose import others, restating
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.comparing import compares, names_limit
from affidavit.verify.prose.desk import TOLD, WHOLE
from affidavit.verify.prose.figures import (
    Figure,
    Near,
    attached_moment,
    counts_things,
    is_whole,
    near_words,
)
from affidavit.verify.prose.nouns import claims
from affidavit.verify.prose.quantities import (
    RATIO_NAMES,
    counts_group,
    has_statistic,
    is_unnamed,
    qualifiers_in,
    statistics_of,
)
from affidavit.verify.prose.times import is_snapshot_of, is_timed
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.statements.fields import Field
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.select import kin
from affidavit.verify.statements.units import Stated, agrees, convert, unit_of
from affidavit.verify.statements.words import stems_of


def knowing(figure: Figure, bindings: list[Binding]) -> list[Binding]:
    """The calls that have a field for what the number counts ("3 restarts"), where some do."""
    nouns = frozenset(
        word
        for token in near_words(figure).counted
        if token.kind is Kind.WORD and (claims(token) or token.text.casefold().endswith("s"))
        for word in kin_of(token)
    )
    if not nouns or (figure.stated.unit and unit_of(figure.stated.unit)):
        return bindings
    known = [
        item
        for item in bindings
        if item.call.id != TOLD
        and any(
            field.number is not None and not field.loose and stems_of(_last(field.name)) & nouns
            for record in item.records()
            for field in record.fields
        )
    ]
    told = [item for item in bindings if item.call.id == TOLD]
    return [*known, *told] if known else bindings


def kin_of(token: Token) -> frozenset[str]:
    """The stems that a token may stand for in a technical name."""
    return frozenset(other for word in token.stems | stems_of(token.text) for other in kin(word))


def by_field(
    figure: Figure, binding: Binding, window: tuple[datetime, datetime] | None
) -> bool | None:
    """True where a fitting field holds the number, False where it holds another, None for neither."""
    near = near_words(figure)
    moment = attached_moment(figure)
    if binding.call.id == TOLD:
        return _told(figure, binding, near) or None
    about = binding.call.about_stems
    timeless = is_snapshot_of(binding.call, moment, window)
    best = tuple(
        record
        for record in binding.records()
        if is_timed(record, moment, window) and (timeless or record.is_dated)
    )
    fitted = tuple(record for record in best if fits(figure, record, near, about, strict=False))
    if fitted and is_singled(figure, binding, fitted):
        return True
    wider = tuple(
        record for record in binding.wider()
        if is_timed(record, moment, window) and (timeless or record.is_dated)
        and _as_near(record, best, near)
    )  # fmt: skip
    fitted = tuple(record for record in wider if fits(figure, record, near, about, strict=True))
    if fitted and is_singled(figure, binding, fitted):
        return True
    if is_whole(figure):
        return None
    return False if best and _refuted(figure, best, near) else None


_ONE_OF: Final = frozenset(
    "a an one another some each every first second third next last latest earliest among sample other 一 其中 某 每 各 另".split()
)


def is_singled(figure: Figure, binding: Binding, holding: tuple[RecordView, ...]) -> bool:
    """Whether the clause says which of several rows it means, or the number stands in all of them.

    Where nothing in the clause tells one row from the next, a number of one row is said of none.
    """
    rows = [record for record in holding if isinstance(record.fact, Row)]
    if not rows or len(rows) < len(holding):
        return True
    words = {token.text.casefold() for token in figure.clause.tokens}
    if words & _ONE_OF or any(word.endswith("est") for word in words):
        return True
    here = frozenset(item.place for item in rows)
    for shape in {row.shape for row in rows}:
        same = binding.call.by_shape.get(shape, frozenset())
        spoken = frozenset(item.place for item in binding.records() if item.shape == shape)
        if spoken < same or len(same) < 2 or same <= here:
            return True
    return False


def _told(figure: Figure, binding: Binding, near: Near) -> bool:
    """A told sentence holds the number with its unit, beside the clause's moments and names."""
    moments = [token.moment for token in figure.clause.of(Kind.MOMENT) if token.moment]
    for record in binding.records():
        if not all(record.stands_at(moment) for moment in moments):
            continue
        for field in record.fields:
            if field.number is None or bool(field.unit) != bool(figure.stated.unit):
                continue
            if (field.name == WHOLE) and not is_whole(figure):
                continue
            if agrees(figure.stated, field.number, field.unit) and (
                telling(figure.stated) or field.tight & (near.next | _stems_of(near.counted))
            ):
                return True
    return False


def _stems_of(tokens: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(word for token in tokens for word in token.stems | stems_of(token.text))


def _as_near(record: RecordView, best: tuple[RecordView, ...], near: Near) -> bool:
    """Whether a record holds the number's own words as well as the best records do."""
    wanted = frozenset().union(*(near.all & item.stems for item in best), frozenset[str]())
    return wanted <= record.stems


def fits(
    figure: Figure, record: RecordView, near: Near, about: frozenset[str], *, strict: bool
) -> bool:
    """Whether a field of a record holds the number, and is the one that the words around it mean.

    `about` are the stems of what was asked; `strict` wants the field named.
    """
    stated = figure.stated
    numeric = [field for field in record.fields if field.number is not None]
    scores = [(overlap(field, near), field) for field in numeric]
    most = max((score for score, _ in scores), default=0)
    named = max((score for score, field in scores if not field.loose), default=0)
    counted = _counts(figure, near)
    index = _index_of(figure, record)
    wanted = statistics_of(figure)
    qualified = qualifiers_in(near.all)
    pair = _pair_of(figure)
    if pair is not None and not any(
        field.number is not None and agrees(pair, field.number, field.unit)
        for field in record.fields
    ):
        return False
    for score, field in scores:
        if field.number is None or not _is(stated, field, record, about):
            continue
        if wanted and not has_statistic(field, record, about, wanted):
            continue
        own = qualifiers_in(field.names)
        if qualified and own and not qualified & own:
            continue
        if index and _INDEXED.match(field.name) and not field.name.startswith(index):
            continue
        if field.names & _AGES and not near.all & _AGED:
            continue
        if field.loose and any(
            other.number is not None and not other.loose and _is_meant(other, near, own_score)
            for own_score, other in scores
        ):
            continue
        if score == most and score > 0:
            return True
        if is_whole(figure) and (telling(stated) or "total" in field.names):
            return True
        if counted and counts_group(stated, field, record, _kin_of_all(near.counted)):
            return True
        if strict or counted:
            continue
        if field.loose and named == 0 and telling(stated):
            return True
        if most == 0 and (telling(stated) or len(numeric) == 1):
            return True
    return _in_name(figure, record)


_AGES: Final = stems_of("age")
_AGED: Final = stems_of(
    "age aged old older young running run up uptime exist created since ago started start"
)
"""Only these speak of how old a thing is; "crashing for 3 days" says something else."""


def _kin_of_all(tokens: tuple[Token, ...]) -> frozenset[str]:
    return frozenset(word for token in tokens if token.kind is Kind.WORD for word in kin_of(token))


_INDEXED: Final = re.compile(r"[^\[\]]{1,80}\[\d{1,6}\]")


def _index_of(figure: Figure, record: RecordView) -> tuple[str, ...]:
    """The list items of a record that the clause names: `waits[0]` where `waits[0].name` is named."""
    names = {token.text.casefold() for token in figure.clause.names}
    found = (
        _INDEXED.match(field.name)
        for field in record.fields
        if field.number is None and field.text.strip().casefold() in names
    )
    return tuple(dict.fromkeys(match[0] for match in found if match))


def _pair_of(figure: Figure) -> Stated | None:
    """The whole that the number is a part of, where units say that both measure: "3 GB of 8 GB"."""
    tokens, place = figure.clause.tokens, figure.place
    for start in (place - 1, place + 2):
        if not 0 <= start < len(tokens) or tokens[start].stated is None:
            continue
        of = tokens[start - 1].text.casefold() if start else ""
        whole = tokens[start].stated
        if of in {"of", "/"} and whole is not None and whole.unit and unit_of(whole.unit):
            return whole
    return None


def is_meant_best(names: frozenset[str], record: RecordView, near: Near, stated: Stated) -> bool:
    """Whether the words around a number mean a statement's attribute no less than another field."""
    own = sum(2 for word in near.next if kin(word) & names)
    own += sum(1 for word in near.all if kin(word) & names)
    others = (
        overlap(field, near)
        for field in record.fields
        if field.number is not None
        and not field.loose
        and not agrees(stated, field.number, field.unit)
    )
    most = max(others, default=0)
    return own >= most and (own > 0 or telling(stated) or most == 0)


def _counts(figure: Figure, near: Near) -> bool:
    """Whether the number counts things that a field would have to name."""
    if any(claims(token) for token in near.counted if token.kind is Kind.WORD):
        return True
    return counts_things(figure) and (
        figure.stated.step < 1 or len(figure.stated.number.as_tuple().digits) < 3
    )


def _in_name(figure: Figure, record: RecordView) -> bool:
    """Whether the number is part of what is measured: 503 of `HTTPCode_ELB_503_Count`."""
    text = figure.token.text
    fact = record.fact
    return (
        isinstance(fact, Value)
        and text.isdigit()
        and len(text) >= 3
        and text in stems_of(f"{fact.subject} {fact.attribute}")
    )


def overlap(field: Field, near: Near) -> int:
    """How well a field is meant: words next to the number count double, next in the text too."""
    if not field.loose and near.labels & {field.name.casefold(), _last(field.name)}:
        return 10
    names = field.tight if field.loose else field.names
    score = 2 * sum(1 for word in near.next if kin(word) & names)
    score += sum(1 for word in near.all if kin(word) & names)
    if field.loose:
        score += sum(1 for word in near.all if kin(word) & field.names - names)
    return score


def _last(name: str) -> str:
    return name.casefold().rsplit(".", 1)[-1]


def _refuted(figure: Figure, records: Iterable[RecordView], near: Near) -> bool:
    """Whether every record names what the words mean, and holds another number there."""
    seen = False
    for record in records:
        numeric = [field for field in record.fields if field.number is not None and not field.loose]
        scores = [(overlap(field, near), field) for field in numeric]
        most = max((score for score, _ in scores), default=0)
        meant = [
            field for score, field in scores if score == most and _is_meant(field, near, score)
        ]
        if not meant:
            return False
        seen = True
    return seen


def _is_meant(field: Field, near: Near, score: int) -> bool:
    """Whether a field's last word is among the words next to the number."""
    last = stems_of(_last(field.name))
    return score > 1 and any(kin(word) & last for word in near.next)


def _is(stated: Stated, field: Field, record: RecordView, about: frozenset[str]) -> bool:
    assert field.number is not None
    if stated.number == 0 and field.number != 0:
        return False
    wanted = unit_of(stated.unit) if stated.unit else None
    if wanted is None or field.unit:
        return agrees(stated, field.number, field.unit)
    if wanted.dimension == "ratio" and field.names & RATIO_NAMES:
        return agrees(stated, field.number, "ratio")
    return is_unnamed(stated, field, record, about) and agrees(
        Stated(stated.number, "", stated.about), field.number, ""
    )


def telling(stated: Stated) -> bool:
    """Whether a number is no small whole one that anything might hold."""
    digits = len(stated.number.as_tuple().digits)
    return bool(stated.unit and unit_of(stated.unit)) or digits >= 3 or stated.step < 1


def by_label(figure: Figure, binding: Binding, places: frozenset[int]) -> bool:
    """Whether the number names a thing of its label: 2 is the partition, and not the lag, of a row."""
    label = figure.clause.tokens[figure.place - 1] if figure.place else None
    words = label.stems | stems_of(label.text) if label is not None else frozenset[str]()
    text = figure.token.text.casefold()
    for place in places & frozenset().union(*binding.allowed):
        record = binding.call.records[place]
        named = [
            field for field in record.fields
            if not field.loose and any(kin(word) & stems_of(_last(field.name)) for word in words)
        ]  # fmt: skip
        if not named or any(
            field.text.casefold() == text or field.number == figure.stated.number for field in named
        ):
            return True
    return False


def by_comparison(
    figure: Figure,
    binding: Binding,
    window: tuple[datetime, datetime] | None,
    before: Binding | None,
) -> bool | None:
    """Whether every reading that the clause speaks of stands in the stated relation.

    "the others" are the records that the clause before did not speak of. None without a reading.
    """
    if binding.call.id == TOLD:
        return None
    near = near_words(figure)
    apart = others.spoken_of(figure.clause, binding, before)
    about = binding.call.about_stems
    if any(restating.restates(item, figure.stated, figure.operator) for item in binding.records()):
        return True
    readings = [
        (record, field)
        for record in binding.wider()
        if is_timed(record, None, window) and record.place not in apart
        for field in meant(record, near)
    ]
    if not readings:
        return None
    if all(
        field.number is not None and restating.is_limit(record, field.number)
        for record, field in readings
    ):
        return False
    if all(_is_number(figure, field) for _, field in readings):
        return None if names_limit(figure) else "=" in figure.operator
    return all(stands(figure, field, record, about) for record, field in readings)


def _is_number(figure: Figure, field: Field) -> bool:
    """Whether the reading is the stated number itself: "exceeds its deadline of 2.5 s"."""
    return field.number is not None and agrees(figure.stated, field.number, field.unit)


def meant(record: RecordView, near: Near) -> list[Field]:
    """The fields of a record that the words around a number mean best."""
    numeric = [field for field in record.fields if field.number is not None and not field.loose]
    scores = [overlap(field, near) for field in numeric]
    most = max(scores, default=0)
    if most == 0 and (len(numeric) != 1 or record.fact.kind != "value"):
        return []
    return [field for score, field in zip(scores, numeric, strict=True) if score == most]


def stands(figure: Figure, field: Field, record: RecordView, about: frozenset[str]) -> bool:
    """Whether a field stands to the stated number as the clause compares."""
    stated = figure.stated
    number = field.number
    if number is None:
        return False
    if stated.unit and unit_of(stated.unit):
        converted = convert(number, field.unit, stated.unit)
        if converted is None and not is_unnamed(stated, field, record, about):
            return False
        number = number if converted is None else converted
    return compares(number, figure.operator, stated.number)


def stands_beside(figure: Figure) -> bool:
    """Whether a compared number stands so to the number before it: "-31 dBm, below -18 dBm"."""
    stated = figure.stated
    for token in reversed(figure.clause.tokens[: figure.place]):
        if token.stated is None:
            continue
        other = token.stated
        number = convert(other.number, other.unit, stated.unit) if stated.unit else other.number
        return number is None or compares(number, figure.operator, stated.number)
    return True
