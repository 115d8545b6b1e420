"""Files that somebody with a key of his own made anew, digest by digest, after a change (A4, A5).

The first verifier re-checks all that a file says, the second integrity, closure and decision. So of
such files the first may refuse more; what it takes the second takes too, and neither ever breaks.
"""

from __future__ import annotations

import base64
import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from affidavit.affidavit.dsse import encode_pae
from affidavit.affidavit.recheck import Verdict
from affidavit.core.canonical import digest
from tests.support.checking import SIGNER, recheck
from tests.support.second_verifier import SECOND
from tests.support.worlds import act, conclude
from tests.unit.affidavit.files import sealed_by

FORGERIES: Final = 250
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2**53 - 1, "", "x", "0" * 64, [], {}, [1], {"a": 1}, [None]),
    *("recorded", "supplied", "D1", "SUCCESS"),
)
GOOD: Final = {Verdict.INTACT_SIGNER_UNKNOWN, Verdict.INTACT_TRUSTED}


def encoded(value: object) -> bytes:
    """The value as canonical JSON writes it, whatever it holds."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def hashed(value: object) -> str:
    """The digest of that."""
    return digest(encoded(value))


def forged(parts: dict[str, Any]) -> bytes:
    """The file with every digest, the chain, the head and the signature made anew.

    Raises whatever a part of an odd shape leads to: nothing can be forged of it.
    """
    journal, release = parts["journal"], parts["release"]
    journal[0]["data"]["request_digest"] = hashed(parts["request"])
    results = {call["tool_call_id"]: call["result"] for call in parts["calls"]}
    prev = "0" * 64
    for line in journal:
        data = line["data"]
        if line["type"] == "TOOL_CALL_READY" and data["tool_call_id"] in results:
            data["result_digest"] = hashed(results[data["tool_call_id"]])
        if line["type"] == "RELEASE_DECISION":
            data["release_digest"] = hashed(release)
        line["prev"] = prev
        prev = hashed({name: value for name, value in line.items() if name != "hash"})
        line["hash"] = prev
    head = json.loads(base64.b64decode(parts["signature"]["envelope"]["payload"]))
    first = journal[0]["data"]
    head |= {name: release[name] for name in ("run_id", "tenant", "provenance")}
    head |= {"lines": len(journal), "last_line": prev, "sealed_us": journal[-1]["at_us"]}
    head |= {"release": hashed(release), "question": hashed(release["question"])}
    head |= {"incident": parts["request"]["incident"], "version": first["version"]}
    head |= {"catalogue": first["catalogue_digest"], "policy": first["policy_digest"]}
    head["content"] = hashed({name: part for name, part in parts.items() if name != "signature"})
    payload = encoded(head)
    kind = f"application/vnd.affidavit.run-head.{release['provenance']}+json"
    signature = SIGNER.sign(encode_pae(kind, payload))
    sig = {"keyid": signature.key_id, "sig": base64.b64encode(signature.value).decode()}
    envelope = {"payload": base64.b64encode(payload).decode(), "payloadType": kind}
    closing = {
        "envelope": {**envelope, "signatures": [sig]},
        "public_key": base64.b64encode(signature.public_key).decode(),
    }
    return encoded({**parts, "signature": closing})


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value within this one."""
    within = value if isinstance(value, dict) else dict(enumerate(value))
    for key, inner in within.items():
        yield (*at, key)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*at, key))


def change(parts: dict[str, Any], dice: random.Random) -> None:
    """Exchange, take out, double, disorder or add a value somewhere."""
    at = dice.choice([way for way in places(parts) if way[0] not in {"signature", "format"}])
    holder: Any = parts
    for key in at[:-1]:
        holder = holder[key]
    match dice.choice(["exchange", "exchange", "take out", "double", "disorder", "add"]):
        case "exchange":
            holder[at[-1]] = copy.deepcopy(dice.choice(VALUES))
        case "take out":
            del holder[at[-1]]
        case "double" if isinstance(holder, list):
            holder.insert(at[-1], copy.deepcopy(holder[at[-1]]))
        case "disorder" if isinstance(holder, list):
            dice.shuffle(holder)
        case _ if isinstance(holder, dict):
            holder["zebra"] = 1
        case _:
            holder.append(1)


@pytest.mark.spec("A4", "A5")
@pytest.mark.fault("F47")
def test_what_the_first_takes_the_second_takes_and_neither_breaks() -> None:
    bases = [
        sealed_by([act("probe", "search"), conclude()]),
        sealed_by([act("probe", "search"), conclude(conclusion=None)]),
    ]
    dice = random.Random(20260302)
    outcomes: set[tuple[bool, bool]] = set()
    for _ in range(FORGERIES):
        parts = json.loads(dice.choice(bases))
        change(parts, dice)
        try:
            content = forged(parts)
        except (KeyError, TypeError, AttributeError, IndexError):
            continue
        first = recheck(content).verdict
        second, says = SECOND.verify(content)
        assert second in {1, 2, 3}
        assert not (first in GOOD and second != 3), says
        assert (first is Verdict.UNREADABLE) == (second == 2)
        outcomes.add((first in GOOD, second == 3))
    assert outcomes == {(True, True), (False, True), (False, False)}


@pytest.mark.spec("A4", "A5")
@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("journal", 0, "seq"), True),
        (("journal", 3, "at_us"), True),
        (("journal", 3, "at_us"), "1"),
        (("release", "provenance"), "both"),
    ],
    ids=str,
)
def test_what_equals_another_value_in_python_alone_is_another_value(
    place: tuple[Any, ...], value: object
) -> None:
    """`True == 1` in the language of both verifiers, and not in JSON."""
    parts = json.loads(sealed_by([act("probe"), conclude()]))
    assert recheck(forged(copy.deepcopy(parts))).verdict in GOOD
    holder: Any = parts
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = value
    content = forged(parts)
    assert recheck(content).verdict is Verdict.ALTERED
    assert SECOND.verify(content)[0] == 1


@pytest.mark.spec("A4")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("number", True),
        ("number", 1.0),
        ("number", "1"),
        ("number", 0),
        ("number", 10**15),
        ("lines", 12.0),
        ("previous", "F" * 64),
        ("previous", 0),
        ("zebra", 1),
    ],
)
def test_a_head_has_one_form(field: str, value: object) -> None:
    """Signed by a key that nobody knows, so that only its form can be wrong."""
    parts = json.loads(sealed_by([act("probe"), conclude()]))
    envelope = parts["signature"]["envelope"]
    head = json.loads(base64.b64decode(envelope["payload"]))
    if field == "lines":
        value = float(head["lines"])
    payload = encoded({**head, field: value})
    signature = SIGNER.sign(encode_pae(envelope["payloadType"], payload))
    envelope["payload"] = base64.b64encode(payload).decode()
    envelope["signatures"][0]["sig"] = base64.b64encode(signature.value).decode()
    content = encoded(parts)
    assert recheck(content).verdict is Verdict.ALTERED
    assert SECOND.verify(content)[0] == 1
