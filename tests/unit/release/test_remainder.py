"""What is left of a draft when sentences leave it."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.draft import DraftCandidate, read_candidate, split_sentences
from affidavit.contract.violations import Refusal, SupportCode
from affidavit.release.remainder import draft_without
from affidavit.verify.closure import check_closure
from affidavit.verify.sentences import number_sentences


def draft(**changes: Any) -> DraftCandidate:
    """Two analyses of two and one sentences, a conclusion, two actions and a scope."""
    return read_candidate(
        {
            "analyses": [
                {"id": "A1", "kind": "NORMAL", "body": "One is. Two is.", "tool_call_ids": ["c1"]},
                {"id": "A2", "kind": "NORMAL", "body": "Three is.", "tool_call_ids": ["c2"]},
            ],
            "conclusion": {"text": "Four is.", "based_on_analysis_ids": ["A1", "A2"]},
            "action_plan": [{"text": "Do five. Do six.", "based_on_analysis_ids": ["A1"]}],
            "recommendations": [{"text": "Try seven.", "based_on_analysis_ids": ["A2"]}],
            "limitations": {"scope": "All eight.", "missing_info": []},
            **changes,
        }
    )


def texts(candidate: DraftCandidate) -> list[str]:
    """Every sentence, in order."""
    return [sentence.text for sentence in number_sentences(candidate)]


@pytest.mark.spec("M6", "L2")
def test_nothing_taken_back_changes_nothing() -> None:
    """The draft itself, and every sentence of it."""
    whole = draft()
    left = draft_without(whole, ())
    assert left.draft == whole
    assert left.sentences == number_sentences(whole)


@pytest.mark.spec("M6", "L2")
@pytest.mark.parametrize("number", [1, 2])
def test_a_sentence_leaves_and_the_others_keep_their_words(number: int) -> None:
    """Body and sentences stay each other's, and no other word moves."""
    left = draft_without(draft(), (number,)).draft
    assert left.analyses is not None
    kept = ("Two is.", "One is.")[number - 1]
    assert left.analyses[0].body == kept
    assert [item.text for item in left.analyses[0].sentences] == [kept]
    assert texts(left) == [text for n, text in enumerate(texts(draft()), 1) if n != number]
    assert check_closure(left) == ()


@pytest.mark.spec("M6")
def test_an_analysis_falls_with_its_last_sentence_and_takes_along_what_rests_on_it_alone() -> None:
    """The recommendation on A2 falls; the conclusion goes on standing on A1."""
    left = draft_without(draft(), (3,)).draft
    assert [item.id for item in left.analyses or ()] == ["A1"]
    assert left.recommendations == ()
    assert left.action_plan == draft().action_plan
    assert left.conclusion is not None
    assert left.conclusion.based_on_analysis_ids == ("A1",)
    assert check_closure(left) == ()


@pytest.mark.spec("M6")
def test_an_action_on_two_analyses_stays_with_the_one_that_stands() -> None:
    both = {"text": "Do five.", "based_on_analysis_ids": ["A1", "A2"]}
    left = draft_without(draft(action_plan=[both]), (3,)).draft
    assert left.action_plan[0].based_on_analysis_ids == ("A1",)
    assert left.action_plan[0].text == "Do five."


@pytest.mark.spec("M6")
def test_an_action_loses_a_sentence_or_falls_with_its_last() -> None:
    assert draft_without(draft(), (5,)).draft.action_plan[0].text == "Do six."
    assert draft_without(draft(), (5, 6)).draft.action_plan == ()


@pytest.mark.spec("M6")
def test_a_conclusion_that_rests_on_nothing_is_left_for_the_guard() -> None:
    """It never falls and never gets another ground; the guard sees that it is unbound."""
    left = draft_without(draft(), (1, 2, 3)).draft
    assert left.conclusion is not None
    assert left.conclusion.text == "Four is."
    assert {str(item.code) for item in check_closure(left)} == {
        "ANALYSES_MISSING",
        "CONCLUSION_UNBOUND",
    }


@pytest.mark.spec("M6")
def test_a_refusal_of_the_remainder_is_shown_at_its_place_in_the_draft() -> None:
    """Whoever wrote the draft knows its places, not those of what is left."""
    left = draft_without(draft(), (1,))
    for number, sentence in enumerate(number_sentences(left.draft), 1):
        refusal = Refusal(code=SupportCode.WORDS_UNBOUND, pointer=sentence.pointer, sentence=number)
        (placed,) = left.place((refusal,))
        same = next(s for s in number_sentences(draft()) if s.text == sentence.text)
        assert (placed.pointer, placed.sentence) == (same.pointer, same.number)


@pytest.mark.parametrize(
    ("body", "number", "kept"),
    [
        ("甲有事。乙没事。丙有事。", 2, "甲有事。丙有事。"),
        ("first line\nSecond is. third line\nfourth", 2, "first line\nfourth"),
        ("A is.  B is.\nC is.", 3, "A is.  B is."),
        ("A is.  B is.\nc is", 1, "B is.\nc is"),
        ("A is. B is.\nc is", 2, "A is.\nc is"),
    ],
)
@pytest.mark.spec("M6", "C4")
def test_the_spacing_stays_the_author_s(body: str, number: int, kept: str) -> None:
    """Also in Chinese, and where only a line break parts two sentences."""
    analysis = {"id": "A1", "kind": "NORMAL", "body": body, "tool_call_ids": ["c1"]}
    left = draft_without(draft(analyses=[analysis]), (number,)).draft
    assert left.analyses is not None
    assert left.analyses[0].body == kept
    assert split_sentences(kept) == tuple(item.text for item in left.analyses[0].sentences)


@pytest.mark.spec("M6", "C4")
def test_a_body_spaced_otherwise_than_its_sentences_is_joined_anew() -> None:
    """The author wrote both; spaces aside they are the same, and they stay so."""
    sentences = [{"text": "One is."}, {"text": "Two  is."}, {"text": "Three is."}]
    analysis = {"id": "A1", "kind": "NORMAL", "body": "One is. Two is. Three is."}
    whole = draft(analyses=[{**analysis, "sentences": sentences, "tool_call_ids": ["c1"]}])
    left = draft_without(whole, (1,)).draft
    assert left.analyses is not None
    assert left.analyses[0].body == "Two  is. Three is."
