"""Two verifiers that share no code agree: on every row's file, and on every manipulation (A4, A5).

The second one is contrib/verify_affidavit.py. Both leave with the same exit code, whatever somebody
without the key does to a file.
"""

from __future__ import annotations

import ast
import base64
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any, Final

import anyio
import pytest

from affidavit.adapters.ed25519_signer import MemorySigner
from affidavit.adapters.memory_store import MemoryStore
from affidavit.affidavit.document import (
    Document,
    read_document,
    sealed_unsigned,
    write_document,
)
from affidavit.affidavit.dsse import RUN_HEAD_SUPPLIED
from affidavit.affidavit.recheck import Verdict
from affidavit.affidavit.seal import head_of, sign
from affidavit.affidavit.seal_checks import signed_head
from affidavit.contract.decisions import DecisionId
from affidavit.core.canonical import canonical_json, digest
from affidavit.diagnose import drive, start
from affidavit.ports.signer import Signer
from affidavit.testing.scripted import ScriptedArguments
from tests.simulation.test_release_table import CASES, Case
from tests.support.checking import KEY_ID, NOBODY, PINNED, recheck
from tests.support.gates import ASIDE, gated, report
from tests.support.runs import RUN_ID, request
from tests.support.second_verifier import PATH, SECOND
from tests.support.worlds import act, conclude, world
from tests.unit.affidavit.files import Forgery, chained, file_in, sealed_by

EXIT: Final = {
    Verdict.INTACT_TRUSTED: 0,
    Verdict.ALTERED: 1,
    Verdict.UNREADABLE: 2,
    Verdict.INTACT_SIGNER_UNKNOWN: 3,
}


def verdicts(content: bytes, *, pinned: bool = True) -> tuple[int, int]:
    """Exit codes of the first and the second verifier."""
    first = EXIT[recheck(content, PINNED if pinned else NOBODY).verdict]
    second: int = SECOND.verify(content, {KEY_ID} if pinned else set())[0]
    return first, second


def refused_by_both(content: bytes, *, pinned: bool = True) -> bool:
    """Whether neither takes the file, and both for the same kind of reason: altered, unreadable."""
    first, second = verdicts(content, pinned=pinned)
    return first == second and first in {1, 2}


@cache
def published() -> bytes:
    """The file of a published report that rests on one reading, beside an empty one."""
    return sealed_by([act("probe", "search"), conclude()])


@cache
def fallback() -> bytes:
    """The file of a fallback with facts of two calls."""
    return sealed_by([act("probe", "search"), conclude(conclusion=None)])


# --- Good files --------------------------------------------------------------------------------


@pytest.mark.spec("A4", "A5")
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.decision} {case.name}")
@pytest.mark.anyio
async def test_both_take_the_file_of_every_row(case: Case) -> None:
    store = MemoryStore()
    told = world(case.script, store=store, judge=case.judge(), repairer=case.repairer)
    await start(told, request(limits=case.limits))
    await drive(RUN_ID, told)
    content = await file_in(store)
    assert read_document(content).release.decision is case.decision
    assert verdicts(content) == (0, 0)
    assert verdicts(content, pinned=False) == (3, 3)


@pytest.mark.spec("A4", "A5", "D14")
@pytest.mark.anyio
async def test_both_take_the_file_of_a_cancelled_run() -> None:
    store = MemoryStore()

    async def cancel(arguments: ScriptedArguments) -> tuple[()]:
        await store.post(RUN_ID, "cancel", "somebody")
        await anyio.sleep_forever()
        return ()

    told = world([act("probe"), act("hang")], store=store, backends={"hang": cancel})
    await start(told, request())
    await drive(RUN_ID, told)
    content = await file_in(store)
    assert read_document(content).release.decision is DecisionId.D14
    assert verdicts(content) == (0, 0)


@pytest.mark.spec("A4", "A5", "C12", "D2b", "N18")
@pytest.mark.anyio
async def test_both_take_a_supplied_report_and_one_less_an_aside_as_what_they_are() -> None:
    """Supplied is signed as another thing: a supplied file that calls itself recorded is none."""
    for run, row in (
        (await gated(report()), DecisionId.D1),
        (await gated(report(ASIDE), withdraw=True), DecisionId.D2B),
        (await gated(report(ASIDE)), DecisionId.D4),
    ):
        document = read_document(run.file)
        assert document.release.decision is row
        assert verdicts(run.file) == (0, 0)
        assert document.signed is not None
        assert document.signed.payload_type == RUN_HEAD_SUPPLIED
        disguised = Forgery(document, release={"provenance": "recorded"}).make()
        if document.calls:
            assert refused_by_both(disguised)


@pytest.mark.spec("A5")
def test_the_second_verifier_stands_alone() -> None:
    """At most 250 lines, the standard library and one package for signatures."""
    text = PATH.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 250
    roots = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    foreign = {root.split(".")[0] for root in roots} - sys.stdlib_module_names
    assert foreign == {"cryptography"}


# --- Manipulations that need no key --------------------------------------------------------------


def damage(content: bytes, dice: random.Random) -> bytes:
    """The content with one change of a random kind at a random place."""
    place = dice.randrange(len(content))
    match dice.choice(["change", "cut", "insert", "delete", "swap", "double"]):
        case "change":
            byte = dice.choice([b for b in range(256) if b != content[place]])
            return content[:place] + bytes([byte]) + content[place + 1 :]
        case "cut":
            return content[:place]
        case "insert":
            return content[:place] + dice.randbytes(dice.randint(1, 4)) + content[place:]
        case "delete":
            return content[:place] + content[place + dice.randint(1, 80) :]
        case "double":
            return content[:place] + content[max(0, place - dice.randint(1, 80)) :]
        case _:
            other = min(len(content), place + dice.randint(1, 40))
            return content[:place] + content[place:other][::-1] + content[other:]


@pytest.mark.spec("A4")
@pytest.mark.fault("F47")
def test_a_large_file_shows_any_damage() -> None:
    calls = [act(*(["probe"] * 6), service=f"service-{n}") for n in range(9)]
    content = sealed_by([*calls, conclude()])
    assert len(content) > 40_000
    assert verdicts(content) == (0, 0)
    dice = random.Random(4711)
    for _ in range(150):
        damaged = damage(content, dice)
        if damaged != content:
            assert refused_by_both(damaged)


def edits_of_bytes(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The same content written in another way."""
    plain = json.loads(content)
    yield "a space", content.replace(b'"format":', b'"format": ')
    yield "a line break at the end", content + b"\n"
    yield "a byte-order mark", b"\xef\xbb\xbf" + content
    yield "indented", json.dumps(plain, indent=1, sort_keys=True).encode()
    yield "unsorted", json.dumps(dict(reversed(plain.items())), separators=(",", ":")).encode()
    yield "a doubled key", content.replace(b'"calls":', b'"calls":[],"calls":', 1)
    yield (
        "a doubled key, equal",
        content.replace(
            b'"format":"affidavit/1"', b'"format":"affidavit/1","format":"affidavit/1"'
        ),
    )
    yield "an unknown part", content.replace(b'{"calls"', b'{"aaa":1,"calls"', 1)
    yield "an escape", content.replace(b"checkout", b"\\u0063heckout", 1)
    yield "a float", content.replace(b'"seq":1,', b'"seq":1.0,')
    yield "an exponent", content.replace(b'"seq":1,', b'"seq":1e0,')
    yield "two documents", content + content
    yield "nothing", b""


def edits_of_lines(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Each journal line deleted, doubled, swapped with the next, and the tail cut after it."""
    plain = json.loads(content)
    lines = plain["journal"]
    for place in range(len(lines)):
        for how, changed in (
            ("deleted", lines[:place] + lines[place + 1 :]),
            ("doubled", lines[: place + 1] + lines[place:]),
            ("swapped", [*lines[:place], *lines[place : place + 2][::-1], *lines[place + 2 :]]),
            ("cut after", lines[:place]),
        ):
            if changed != lines:
                yield f"line {place} {how}", canonical_json({**plain, "journal": changed})


SHAPES: Final[tuple[object, ...]] = (None, True, 7, "x", [], {}, [[]], [{}])


def edits_of_shape(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Parts taken off or put on, and what no parser should be given."""
    plain = json.loads(content)

    def with_parts(**parts: object) -> bytes:
        return canonical_json({**plain, **parts})

    for name in plain:
        less = {key: part for key, part in plain.items() if key != name}
        yield f"without {name}", canonical_json(less)
        for value in SHAPES:
            if value != plain[name]:
                yield f"{name} is {value!r}", with_parts(**{name: value})
    yield "stripped to version 0", with_parts(format="affidavit/0")
    digested = {key: part for key, part in plain.items() if key != "signature"}
    yield (
        "version 0, a wrong digest",
        canonical_json({**digested, "format": "affidavit/0", "digest": "0" * 64}),
    )
    yield "a version to come", with_parts(format="affidavit/2")
    yield "both closings", with_parts(digest="0" * 64)
    line = plain["journal"][0]
    for name in line:
        less = {key: part for key, part in line.items() if key != name}
        yield f"a line without {name}", with_parts(journal=[less, *plain["journal"][1:]])
    yield "a line more than it is", with_parts(journal=[{**line, "x": 1}, *plain["journal"][1:]])
    yield "a line that is none", with_parts(journal=[1, *plain["journal"][1:]])
    for name, inner in (
        ("a huge integer", b"9007199254740992"),
        ("a huger integer", b"9" * 5_000),
        ("depth", b"[" * 100 + b"]" * 100),
        ("great depth", b"[" * 1_200 + b"]" * 1_200),
        ("depth behind brackets in texts", b'["]",' * 150 + b"1" + b',"["]' * 150),
        ("a key beyond ASCII", b'{"\\u00e9":1}'),
        ("a float", b"1.5"),
        ("a NaN", b"NaN"),
    ):
        yield name, content.replace(b'{"calls":', b'{"aaa":' + inner + b',"calls":', 1)
        twice = b'{"calls":' + inner + b',"calls":'
        yield f"{name} under a doubled key", content.replace(b'{"calls":', twice, 1)
    yield "no end of brackets", b"[" * 200_000
    yield "larger than 64 MB", content + b" " * 64_000_000


def edits_of_fields(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Each value of each journal line and of the signature exchanged for another (F47)."""
    plain = json.loads(content)
    for place, line in enumerate(plain["journal"]):
        for field in (*line, *(f"data.{name}" for name in line["data"])):
            copy = json.loads(json.dumps(plain))
            holder = copy["journal"][place]
            name = field.removeprefix("data.")
            holder = holder["data"] if field != name else holder
            holder[name] = another(holder[name])
            yield f"line {place} {field}", canonical_json(copy)


def another(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return ("0" if value[:1] != "0" else "1") + value[1:]
        case list():
            return [*value, "x"]
        case dict():
            return {**value, "x": 1}
        case _:
            return "x"


def edits_of_records(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Calls and parts exchanged, taken out, doubled, or taken from another file."""
    plain, other = json.loads(content), json.loads(fallback())
    for name in ("calls", "release", "request", "journal", "statements", "signature"):
        if other[name] != plain[name]:
            yield f"another run's {name}", canonical_json({**plain, name: other[name]})
    first = plain["calls"][0]
    yield "a call doubled", canonical_json({**plain, "calls": [first, *plain["calls"]]})
    yield "a call taken out", canonical_json({**plain, "calls": plain["calls"][1:]})
    renamed = {**first, "tool_call_id": "call_0002"}
    yield "a call renamed", canonical_json({**plain, "calls": [renamed, *plain["calls"][1:]]})
    swapped = {**first, "result": other["calls"][-1]["result"]}
    yield "a result exchanged", canonical_json({**plain, "calls": [swapped, *plain["calls"][1:]]})


SMALL_ORDER: Final = (
    bytes(32),
    (1).to_bytes(32, "little"),
    (2**255 - 20).to_bytes(32, "little"),
    (2**255 - 19).to_bytes(32, "little"),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
)


def edits_of_signature(content: bytes) -> Iterator[tuple[str, bytes]]:
    """The envelope bent in every way that its parts allow."""
    plain = json.loads(content)

    def bent(change: Callable[[dict[str, Any]], None]) -> bytes:
        copy = json.loads(json.dumps(plain))
        change(copy["signature"])
        return canonical_json(copy)

    payload = base64.b64decode(plain["signature"]["envelope"]["payload"])
    for name, how in (
        ("no padding", lambda text: text.rstrip("=")),
        ("a line break", lambda text: text[:4] + "\n" + text[4:]),
        ("stray bits", stray_bits),
        ("url alphabet", lambda text: text.replace("+", "-").replace("/", "_") + "-"),
    ):

        def rewrite(seal: dict[str, Any], how: Callable[[str], str] = how) -> None:
            entry = seal["envelope"]["signatures"][0]
            entry["sig"] = how(entry["sig"])

        yield f"malleable base64: {name}", bent(rewrite)
    for key in SMALL_ORDER:

        def exchange(seal: dict[str, Any], key: bytes = key) -> None:
            seal["public_key"] = base64.b64encode(key).decode()
            entry = seal["envelope"]["signatures"][0]
            entry["keyid"] = digest(key)
            entry["sig"] = base64.b64encode((1).to_bytes(32, "little") + bytes(32)).decode()

        yield f"a key of small order, {key.hex()[:8]}", bent(exchange)
    for kind in ("supplied+json", "recorded.v0+json"):

        def retype(seal: dict[str, Any], kind: str = kind) -> None:
            seal["envelope"]["payloadType"] = f"application/vnd.affidavit.run-head.{kind}"

        yield f"type {kind}", bent(retype)
    head = json.loads(payload)
    for field in head:

        def forge(seal: dict[str, Any], field: str = field) -> None:
            changed = canonical_json({**head, field: another(head[field])})
            seal["envelope"]["payload"] = base64.b64encode(changed).decode()

        yield f"head: {field}", bent(forge)
    yield "no signature", bent(lambda seal: seal["envelope"].update(signatures=[]))
    yield (
        "two signatures",
        bent(lambda seal: seal["envelope"]["signatures"].append(seal["envelope"]["signatures"][0])),
    )
    yield (
        "a signature of nothing",
        bent(lambda seal: seal["envelope"]["signatures"][0].update(sig="")),
    )
    yield "a further field", bent(lambda seal: seal["envelope"].update(note="x"))


def stray_bits(text: str) -> str:
    """The same bytes in base64, the unused bits of the last digit set."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    digits = text.rstrip("=")
    last = alphabet[alphabet.index(digits[-1]) + 1]
    return digits[:-1] + last + text[len(digits) :]


@pytest.mark.spec("A4", "A5")
@pytest.mark.fault("F47")
@pytest.mark.parametrize(
    "edits",
    [
        edits_of_bytes,
        edits_of_shape,
        edits_of_lines,
        edits_of_fields,
        edits_of_records,
        edits_of_signature,
    ],
    ids=lambda edits: edits.__name__,
)
@pytest.mark.parametrize("pinned", [True, False], ids=["pinned", "unpinned"])
def test_both_refuse_what_was_changed_without_the_key(
    edits: Callable[[bytes], Iterator[tuple[str, bytes]]], pinned: bool
) -> None:
    content = published()
    taken = [
        (name, verdicts(changed, pinned=pinned))
        for name, changed in edits(content)
        if changed == content or not refused_by_both(changed, pinned=pinned)
    ]
    assert taken == []


# --- Manipulations by somebody who signs anew ----------------------------------------------------


def resigned(document: Document, signer: Signer) -> bytes:
    """The document, closed anew by that key at the same place."""
    head = signed_head(document)
    anew = head_of(document, head.number, head.previous)
    return write_document(sign(document, anew, signer))


@pytest.mark.spec("A4")
def test_who_signs_with_another_key_is_seen_by_whoever_pins_ours() -> None:
    """And by nobody else: that is what a pin is for."""
    document = read_document(published())
    content = resigned(document, MemorySigner())
    assert refused_by_both(content)
    assert verdicts(content, pinned=False) == (3, 3)
    failure = recheck(content, PINNED).failure
    assert failure is not None
    assert failure.name == "signer"


@pytest.mark.spec("A4")
def test_a_file_without_a_signature_is_no_more_than_it_was() -> None:
    """A downgrade: good without a pin, at best of an unknown signer, and refused with one."""
    content = write_document(sealed_unsigned(read_document(published())))
    assert verdicts(content, pinned=False) == (3, 3)
    assert refused_by_both(content)


@pytest.mark.spec("A4", "A5", "N12")
@pytest.mark.parametrize("make", [published, fallback], ids=["published", "fallback"])
def test_who_holds_the_key_still_cannot_leave_a_line_out(make: Callable[[], bytes]) -> None:
    """Lines that a decision rests on, taken out and chained and signed anew with our own key."""
    document = read_document(make())
    seen = 0
    for place, entry in enumerate(document.journal):
        kept = document.journal[:place] + document.journal[place + 1 :]
        content = Forgery(document, journal=chained(kept)).make()
        first, second = verdicts(content)
        assert first == 1, entry.type
        seen += second == 1
    assert seen >= 6


@pytest.mark.spec("A5", "E17", "L8")
def test_both_refuse_a_row_that_the_lines_do_not_imply() -> None:
    document = read_document(fallback())
    rows = [row for row in DecisionId if row is not document.release.decision]
    for row in rows:
        content = Forgery(document, release={"decision": str(row)}).make()
        assert refused_by_both(content), row
    other = Forgery(document, release={"run_state": "FAILED"}).make()
    assert refused_by_both(other)


@pytest.mark.spec("A5", "G6", "G8")
def test_both_refuse_a_citation_that_leads_nowhere() -> None:
    document = read_document(published())
    shown = document.release.model_dump(mode="json")["result"]
    for part, field, value in (
        ("analysis", "tool_call_ids", ["call_0099"]),
        ("analysis", "tool_call_ids", []),
        ("analysis", "kind", "NEGATIVE_OBSERVATION"),
        ("conclusion", "based_on_analysis_ids", ["A9"]),
        ("conclusion", "based_on_analysis_ids", []),
    ):
        result = json.loads(json.dumps(shown))
        place = result["analyses"][0] if part == "analysis" else result["conclusion"]
        place[field] = value
        content = Forgery(document, release={"result": result}).make()
        assert refused_by_both(content), (part, field, value)
    without = Forgery(document, calls=()).make()
    assert refused_by_both(without)


# --- Commitments ---------------------------------------------------------------------------------


@pytest.mark.spec("A5", "C2")
@pytest.mark.anyio
async def test_a_raw_response_can_be_shown_later_and_not_guessed_before() -> None:
    store = MemoryStore()
    told = world([act("probe", "search"), conclude()], store=store)
    await start(told, request())
    await drive(RUN_ID, told)
    content = await file_in(store)
    kept = {item.digest: item.content for item in await store.artifacts(RUN_ID)}
    raw_of = {
        str(entry.data["tool_call_id"]): kept[str(entry.data["raw_digest"])]
        for entry in await store.read(RUN_ID)
        if entry.type == "TOOL_CALL_PROJECTING"
    }
    assert SECOND.verify(content, set(), raw_of)[0] == 3
    for key, raw in raw_of.items():
        assert raw[32:] not in content
        assert digest(raw[32:]).encode() not in content
        changed = bytes([raw[0] ^ 1]) + raw[1:]
        assert SECOND.verify(content, set(), {key: changed})[0] == 1
        assert SECOND.verify(content, set(), {key: raw[32:]})[0] == 1
    salts = {raw[:32] for raw in raw_of.values()}
    assert len(salts) == len(raw_of)
    assert all(salt.hex() not in content.decode() for salt in salts)
    assert SECOND.verify(content, set(), {"call_0099": b""})[0] == 1


def test_a_forger_s_file_is_the_real_one_when_nothing_is_changed() -> None:
    """The resigning above makes good files: what is caught is the change."""
    document = read_document(published())
    assert Forgery(document).make() == published()
    same = replace(document)
    assert verdicts(resigned(same, MemorySigner()), pinned=False) == (3, 3)
