#!/usr/bin/env python3
"""A second, independent verifier of affidavit files, written from docs/affidavit-file.md alone.

It checks integrity (canonical bytes, signature, head, chain, commitments), closure (conclusion →
analysis → call → projection) and the decision table, with the standard library and `cryptography`.
Exit: 0 intact, by a key given with --key · 3 intact, signer unknown · 1 altered · 2 unreadable.
"""

import argparse
import base64
import hashlib
import json
import re
import sys
from itertools import accumulate
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

TRUSTED, ALTERED, UNREADABLE, UNKNOWN = 0, 1, 2, 3
PARTS = {"format", "release", "request", "calls", "statements", "journal"}
CLOSING = {"affidavit/0": "digest", "affidavit/1": "signature"}
P, ORDER_8 = 2**255 - 19, 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
SMALL = {0, 1, P - 1, ORDER_8, P - ORDER_8}
NO_BRACKET = r'"(?:[^"\\]|\\.)*"|[^][{}"]+'
NAMES = ["envelope", "keyid", "payload", "payloadType", "public_key", "sig", "signatures"]


class Refused(Exception):
    """Exit code, and what does not hold."""


def need(condition: object, pointer: str, why: str) -> None:
    if not condition:
        raise Refused(ALTERED, f"{pointer or '/'}: {why}")


def canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def sha256(value: Any) -> str:
    return hashlib.sha256(value if isinstance(value, bytes) else canonical(value)).hexdigest()


def read(content: bytes) -> dict[str, Any]:
    """The file, if it equals its own canonical bytes: no float, no huge integer, ASCII keys."""

    def refuse(text: str) -> Any:
        raise ValueError(f"{text[:20]} has no canonical form")

    hooks: dict[str, Any] = {
        "parse_int": lambda t: int(t) if len(t) < 18 and abs(int(t)) < 2**53 else refuse(t),
        "parse_float": refuse, "parse_constant": refuse,
        "object_pairs_hook": lambda items: {k if k.isascii() else refuse(k): v for k, v in items},
    }  # fmt: skip
    try:
        text = content.decode("ascii") if len(content) <= 64_000_000 else refuse("so large a file")
        levels = accumulate(1 if mark in "[{" else -1 for mark in re.sub(NO_BRACKET, "", text))
        file = json.loads(text * (max(levels, default=0) <= 100), **hooks)
        known = file.keys() == PARTS | {CLOSING[file["format"]]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Refused(UNREADABLE, f"no affidavit file that is known here ({error})") from None
    need(known and canonical(file) == content, "", "these are not the file's own canonical bytes")
    return file


def unbase64(text: str) -> bytes:
    content = base64.b64decode(text, validate=True)
    need(base64.b64encode(content).decode() == text, "/signature", "base64 with stray bits")
    return content


def check_signature(file: dict[str, Any], pinned: set[str]) -> int:
    """The signature holds, and what it signs is this file; the verdict for one that is intact."""
    if file["format"] == "affidavit/0":
        own = file["digest"] == sha256({name: file[name] for name in PARTS})
        need(own and not pinned, "/digest", "altered, or not signed although a key is pinned")
        return UNKNOWN
    envelope, public = file["signature"]["envelope"], unbase64(file["signature"]["public_key"])
    (entry,) = envelope["signatures"]
    need(sorted((*file["signature"], *envelope, *entry)) == NAMES, "/signature", "misshapen")
    y = int.from_bytes(public, "little") % 2**255
    need(len(public) == 32 and y < P and y not in SMALL, "/signature/public_key", "unsound key")
    need(entry["keyid"] == sha256(public), "/signature/envelope/signatures/0/keyid", "another key")
    kind, payload = envelope["payloadType"].encode(), unbase64(envelope["payload"])
    need(not pinned or sha256(public) in pinned, "/signature/public_key", "another key signed")
    journal, release, first = file["journal"], file["release"], file["journal"][0]["data"]
    own_type = f"application/vnd.affidavit.run-head.{release['provenance']}+json"
    ((number, before),) = re.findall(rb'"number":([1-9]\d{,14}),.*"previous":"([^"]{64})"', payload)
    signed = {
        "format": file["format"], "run_id": release["run_id"], "tenant": release["tenant"],
        "number": int(number), "previous": f"{int(before, 16):064x}",
        "lines": len(journal), "last_line": journal[-1]["hash"], "sealed_us": journal[-1]["at_us"],
        "content": sha256({name: file[name] for name in PARTS}),
        "provenance": re.fullmatch("recorded|supplied", release["provenance"])[0],  # type: ignore[index]
        "release": sha256(release), "question": sha256(release["question"]),
        "incident": file["request"]["incident"], "policy": first.get("policy_digest", "0" * 64),
        "catalogue": first["catalogue_digest"], "version": first["version"],
    }  # fmt: skip
    need(canonical(signed) == payload and kind.decode() == own_type, "/signature", "not this file")
    message = b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)
    Ed25519PublicKey.from_public_bytes(public).verify(unbase64(entry["sig"]), message)
    return TRUSTED if pinned else UNKNOWN


def check_chain(file: dict[str, Any]) -> None:
    """Each line's hash covers its run, place, time, kind, data and the hash before it."""
    before, run_id = "0" * 64, file["release"]["run_id"]
    for seq, line in enumerate(file["journal"], start=1):
        body = {name: line[name] for name in ("at_us", "type", "data")}
        body |= {"run_id": run_id, "seq": seq, "prev": before}
        same = canonical(line) == canonical({**body, "hash": sha256(body)})
        need(same and type(line["at_us"]) is int, f"/journal/{seq - 1}", "it does not follow")
        before = line["hash"]
    kinds = [line["type"] for line in file["journal"]]
    for kind, place in (("RUN_STARTED", 0), ("RELEASE_DECISION", -2), ("RUN_ENDED", -1)):
        need(kinds.count(kind) == 1 and kinds[place] == kind, "/journal", f"{kind}: once, in place")


def check_closure(file: dict[str, Any], raws: dict[str, bytes]) -> None:
    """Everything that is cited leads to a READY call with exactly this projection."""
    journal, release, report = file["journal"], file["release"], file["release"]["result"]
    asked, named = journal[0]["data"]["request_digest"], journal[-2]["data"]["release_digest"]
    need((asked, named) == (sha256(file["request"]), sha256(release)), "/release", "of another run")
    raw_of, ready = (
        {line["data"]["tool_call_id"]: line["data"] for line in journal if line["type"] == kind}
        for kind in ("TOOL_CALL_PROJECTING", "TOOL_CALL_READY")
    )
    need(ready.keys() <= raw_of.keys(), "/journal", "READY without a raw response")
    calls = {call["tool_call_id"]: call for call in file["calls"]}
    need(len(calls) == len(file["calls"]), "/calls", "a call stands twice")
    for key, call in calls.items():
        need(ready[key]["result_digest"] == sha256(call["result"]), "/calls", f"{key}: altered")
        recorded = call["provenance"] == "recorded" or release["provenance"] == "supplied"
        need(recorded, "/calls", f"{key} was supplied, and the answer calls itself recorded")
    for key, raw in raws.items():  # the salt, and the response after it
        need(raw_of[key]["raw_digest"] == sha256(raw), "/journal", f"{key} answered otherwise")
    text = canonical(release).decode()
    lists = "".join(re.findall(r'"tool_call_ids":\[([^]]*)\]', text))
    cited = {*re.findall(r'"tool_call_id":"([^"]*)"', text), *re.findall(r'"([^"]*)"', lists)}
    need(cited <= calls.keys(), "/calls", "a cited call is not in the file")
    analyses = {one["id"]: one for one in report["analyses"]} if report else {}
    for one in analyses.values():
        fits = {"NORMAL": "EVIDENCE_FOUND", "NEGATIVE_OBSERVATION": "NO_EVIDENCE"}[one["kind"]]
        kinds = {ready[key]["evidence_status"] for key in one["tool_call_ids"]}
        need(kinds == {fits}, "/release/result/analyses", f"{one['id']} and its calls do not fit")
    if report:
        need(len(analyses) == len(report["analyses"]), "/release/result/analyses", "an id twice")
        for part in (report["conclusion"], *report["action_plan"], *report["recommendations"]):
            rests = set(part["based_on_analysis_ids"])
            need(rests and rests <= analyses.keys(), "/release/result", "a part rests on nothing")


DONE, SPENT, NO_ROOT = ("SUCCESS",), ("BUDGET_EXHAUSTED", "TIMED_OUT"), "DIAGNOSIS_UNAVAILABLE"
FEW, FAIL = ("INSUFFICIENT_EVIDENCE", "DIAGNOSIS_COLLECTION"), ("FAILED", None, None)
ROWS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("D1", "D2", "D2b"), (DONE, "SUCCESS", None, None, None)),
    "D3": (DONE, "FALLBACK", "EVIDENCE_VALIDATION_FAILED", "EVIDENCE_VALIDATION", None),
    "D4": (DONE, "FALLBACK", "SEMANTIC_UNSUPPORTED", "SEMANTIC_VALIDATION", None),
    "D5": (DONE, "FALLBACK", "SEMANTIC_UNAVAILABLE", "SEMANTIC_VALIDATION", None),
    **dict.fromkeys(("D6", "D9", "D10"), (DONE, "FALLBACK", *FEW, None)),
    "D7": (DONE, "FALLBACK", "MISSING_REQUIRED_CONTEXT", "DIAGNOSIS_INPUT", None),
    **dict.fromkeys(("D8", "D11"), (("FAILED",), *FAIL, NO_ROOT)),
    "D12": (SPENT, "FALLBACK", *FEW, None), "D13": (SPENT, *FAIL, NO_ROOT),
    "D14": (("CANCELLED",), "CANCELLED", None, None, "RUN_CANCELLED"),
    "D15": (("FAILED",), *FAIL, "INTERNAL_FAILURE"),
}  # fmt: skip
LETTERS = {  # an examination is read as a word, one letter a line: a capital one is a yes
    "EVIDENCE_GUARD_INITIAL": ("g", lambda d: (d["result"], d["violations"]) == ("PASSED", 0)),
    "EVIDENCE_REPAIR_ATTEMPT": ("r", lambda d: d["result"] == "APPLIED"),
    "EVIDENCE_GUARD_RECHECK": ("c", lambda d: (d["result"], d["violations"]) == ("PASSED", 0)),
    "SUPPORT_CHECK": ("s", lambda d: d["result"] != "REFUTED"),
    "DRAFT_WITHDRAWAL_ATTEMPT": ("w", lambda d: d["withdrawn"] != 0),
    "SEMANTIC_GUARD_ATTEMPT": ("a", lambda d: d["result"] == "ANSWERED"),
    "SEMANTIC_GUARD_DECISION": ("v", lambda d: d["verdict"] == "SUPPORTED"),
}
WORDS = {
    "D1": "GSw?a?AV", "D2": "gRCSw?a?AV", "D2b": "(G|gRC)SWCSa?AV", "D3": "g(r|Rc)",
    "D4": "(G|gRC)(s|SWCs|S(w|WCS)?a?Av)", "D5": "(G|gRC)S(w|WCS)?aa?",
}  # fmt: skip
ENDS = {  # with facts, and without
    "CANCELLED": ("D14", "D14"), "INTERNAL_FAILURE": ("D15", "D15"), "UNREADABLE": ("D10", "D11"),
    **dict.fromkeys(("BUDGET_EXHAUSTED", "TIMED_OUT"), ("D12", "D13")),
    **dict.fromkeys(("GAVE_UP", "PROTOCOL_VIOLATED", "LOOP_DETECTED"), ("D9", "D11")),
}  # fmt: skip


def check_decision(file: dict[str, Any]) -> None:
    """The row may stand with its states, and is the one that the journal's lines imply."""
    journal, release, row = file["journal"], file["release"], file["release"]["decision"]
    fallback, last = release["fallback"] or {}, journal[-1]["data"]
    said = [release["outcome"], fallback.get("type"), fallback.get("failure_stage")]
    states, *fixed = ROWS.get(row, ((), None))
    fits = release["run_state"] in states and [*said, release["failure_code"]] == fixed
    fits &= (release["result"] is None) == (said[0] != "SUCCESS")
    need(fits and fallback.get("conclusion") is None, "/release", "no row has this")
    lines = {**journal[-2]["data"], "run_state": last["run_state"], "release_digest": None}
    shown = {name: release[name] for name in ("decision", "outcome", "failure_code", "run_state")}
    shown |= {"fallback_type": said[1], "release_digest": None}
    need(lines == shown, "/journal", "the last lines say otherwise")
    data, facts = {n["type"]: n["data"] for n in journal}, fallback.get("observed_facts")
    examined = [(*LETTERS[n["type"]], n["data"]) for n in journal if n["type"] in LETTERS]
    word = "".join(char.upper() if yes(line) else char for char, yes, line in examined)
    ending = data.get("RELEASE_STOPPED", data["COLLECTION_ENDED"])["ending"]
    if ending in ENDS:
        implied = {ENDS[ending][0 if facts else 1]}
    elif word == "":
        is_full = data["COLLECTION_ENDED"]["stop_reason"] == "INFORMATION_SATURATED"
        implied = {"D10", "D9" if is_full else "D10"} if facts else {"D11"}
    elif word in {"G", "g"}:
        implied = {"D6" if facts else "D7" if word == "G" and fallback.get("asked_for") else "D8"}
    else:
        implied = {name for name, shape in WORDS.items() if re.fullmatch(shape, word)}
    if "CANCEL_REQUESTED" in data and not implied <= {"D12", "D13", "D15"}:
        implied = {"D14"}
    need(row in implied, "/release/decision", f"the lines imply {implied or 'nothing'}")


def verify(content: bytes, pinned: Any = (), raws: Any = None) -> tuple[int, str]:
    try:
        file = read(content)
        verdict = check_signature(file, set(pinned))
        check_chain(file)
        check_closure(file, raws or {})
        check_decision(file)
    except Refused as error:
        return error.args
    except (InvalidSignature, LookupError, TypeError, ValueError, AttributeError) as error:
        return ALTERED, f"a misshapen part ({type(error).__name__}: {error})"
    key = file.get("signature", {"public_key": ""})["public_key"]
    return verdict, f"tamper-evident since recording, by key {sha256(unbase64(key))}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--key", action="append", default=[], metavar="ID")
    parser.add_argument("--raw", action="append", default=[], metavar="CALL=FILE")
    given = parser.parse_args()
    try:
        keys = {re.fullmatch("[0-9a-f]{64}", key)[0] for key in given.key}  # type: ignore[index]
        raws = {c: Path(f).read_bytes() for c, f in (one.split("=", 1) for one in given.raw)}
        code, says = verify(given.file.read_bytes(), keys, raws)
    except (OSError, TypeError, ValueError) as error:
        parser.error(f"cannot read what was given ({error})")
    print(("INTACT", "ALTERED", "UNREADABLE", "SIGNER UNKNOWN")[code], says, sep=": ")
    sys.exit(code)
