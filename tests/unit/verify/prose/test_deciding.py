"""What no rule reads together is left to a model judge; what stands nowhere is not (M4, M6)."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import read_candidate
from affidavit.contract.violations import (
    COVERAGE_CODES,
    OPEN_CODES,
    Refusal,
    RefusalClass,
    SupportCode,
)
from affidavit.tools.supplied import read_gate_input, supplied_ledger
from affidavit.verify.evidence import VerifiedDraft, check_evidence
from affidavit.verify.support import check_support
from affidavit.verify.withdrawal import withdrawable
from tests.support.runs import RUN_ID, TENANT

TABLE = (
    "name         boxes  missing  packed_at\n"
    "belt-north   1840   12       2026-05-19T18:02:10Z\n"
    "belt-south   960    31       2026-05-19T18:09:40Z\n"
)


def refusals_of(text: str, **statement: Any) -> tuple[Refusal, ...]:
    """What refuses a draft of this one sentence, in its analysis."""
    sentence = {"text": text, "statements": [statement] if statement else []}
    plain = {"text": "belt-north has 1840 boxes."}
    read = read_gate_input(
        {
            "question": "What is wrong with the belts?",
            "window": {"start": "2026-05-19T18:00:00Z", "end": "2026-05-19T18:30:00Z"},
            "tool_calls": [
                {"id": "q", "tool": "list_belts", "status": "success", "result": TABLE},
            ],
            "draft": {
                "analyses": [
                    {
                        "id": "A1",
                        "kind": "NORMAL",
                        "sentences": [plain, plain, plain, plain, sentence],
                        "tool_call_ids": ["q"],
                    }
                ],
                "conclusion": {
                    "text": plain["text"],
                    "sentences": [plain],
                    "based_on_analysis_ids": ["A1"],
                },
                "limitations": {"scope": "belts"},
            },
        }
    )
    ledger = supplied_ledger(read, RUN_ID, TENANT)
    draft = check_evidence(read_candidate(read.draft), ledger)
    assert isinstance(draft, VerifiedDraft)
    found = check_support(draft, ledger, read.question).refusals
    if any(item.refusal_class is RefusalClass.CONTRADICTION for item in found):
        assert withdrawable(found, draft.candidate) == ()
    return found


def codes(text: str, **statement: Any) -> set[SupportCode]:
    return {item.code for item in refusals_of(text, **statement)}


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("belt-south has 1840 boxes.", SupportCode.NUMBER_UNBOUND),
        ("belt-south has 880 boxes.", SupportCode.NUMBER_UNBOUND),  # 1840 - 960
        ("belt-north was packed at 18:09:40.", SupportCode.TIME_UNBOUND),
        ("All belts have 1840 boxes.", SupportCode.QUANTIFIER_UNBOUND),
    ],
)
def test_what_the_results_hold_and_no_rule_binds_is_left_open(text: str, code: SupportCode) -> None:
    """Refused all the same where no model judges."""
    found = codes(text)
    assert code in found
    assert found <= COVERAGE_CODES


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("belt-north has 7777 boxes.", SupportCode.NUMBER_UNKNOWN),
        ("belt-north has 9.3% missing boxes.", SupportCode.NUMBER_UNKNOWN),
        ("belt-north was packed at 17:55:01.", SupportCode.TIME_UNKNOWN),
        ("belt-west has 12 missing boxes.", SupportCode.IDENTIFIER_UNKNOWN),
    ],
)
def test_what_stands_nowhere_is_refuted_whatever_a_judge_says(text: str, code: SupportCode) -> None:
    """The results do not hold it (M4)."""
    assert code in codes(text)
    assert code not in COVERAGE_CODES


@pytest.mark.spec("M4", "G0")
def test_a_typed_statement_that_is_wrong_is_refuted_exactly() -> None:
    """A statement is compared with its field, so that nothing is left open."""
    said = {"tool_call_id": "q", "kind": "value", "subject": "belt-south", "attribute": "boxes"}
    found = codes("belt-south has 1840 boxes.", **said, value=1840)
    assert SupportCode.NUMBER_REFUTED in found


@pytest.mark.spec("M6")
def test_what_is_left_open_is_no_aside() -> None:
    """An author may take back words that nothing licenses, and not a reading that may be wrong."""
    open_, aside = refusals_of("belt-south has 1840 boxes."), refusals_of("The paint is blue.")
    assert {item.code for item in open_} & OPEN_CODES
    assert {item.code for item in aside} == {SupportCode.WORDS_UNBOUND}


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("All belts have more than 900 boxes.", "All belts have 1840 boxes."),
        ("Both belts have fewer than 2000 boxes.", "Both belts have 960 boxes."),
        ("Each belt has missing boxes.", "Each belt has 31 missing boxes."),
        ("1840 boxes are on belt-north.", "1840 boxes are on all belts."),
        ("belt-south has 31 missing boxes.", "There are 31 missing boxes on every belt."),
        ("belt-north was packed at 18:02:10.", "All belts were packed at 18:02:10."),
    ],
)
def test_what_is_said_of_all_is_so_in_every_row(true: str, false: str) -> None:
    """A number or a moment of one row is not one of each."""
    assert codes(true) == set()
    assert SupportCode.QUANTIFIER_UNBOUND in codes(false)


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    "text",
    ["The belts hold 2.8 thousand boxes of two sorts.", "A scale-up of belt-north was tried."],
)
def test_a_rounded_number_and_joined_words_are_open(text: str) -> None:
    found = codes(text)
    assert found
    assert found <= OPEN_CODES | COVERAGE_CODES
    assert SupportCode.NUMBER_UNKNOWN not in found
    assert SupportCode.IDENTIFIER_UNKNOWN not in found


@pytest.mark.spec("M4")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The belts hold 17.3 thousand boxes of two sorts.", SupportCode.NUMBER_UNKNOWN),
        ("The belts hold 28 million boxes of two sorts.", SupportCode.NUMBER_UNKNOWN),
        ("belt-west of the hall was tried.", SupportCode.IDENTIFIER_UNKNOWN),
        ("sorter-b of the hall was tried.", SupportCode.IDENTIFIER_UNKNOWN),
    ],
)
def test_another_number_and_another_name_stay_contradictions(text: str, code: SupportCode) -> None:
    assert code in codes(text)
