"""Each refusal has one plain sentence, and a next query that would prove the words."""

from __future__ import annotations

import pytest

from affidavit.contract.violations import (
    EXPLANATIONS,
    SUPPORT_EXPLANATIONS,
    EvidenceCode,
    SupportCode,
    meaning_of,
    remedy_of,
)

CODES = (*EvidenceCode, *SupportCode)


@pytest.mark.spec("G10", "C7")
def test_every_code_is_explained_and_nothing_else_is() -> None:
    assert set(EXPLANATIONS) == set(EvidenceCode)
    assert set(SUPPORT_EXPLANATIONS) == set(SupportCode)
    assert meaning_of("NO_SUCH_CODE") is remedy_of("NO_SUCH_CODE") is None


@pytest.mark.spec("G10", "C7")
@pytest.mark.parametrize("code", CODES)
def test_an_explanation_is_one_plain_sentence_each(code: str) -> None:
    """It ends, it does not go on, and it speaks to whoever wrote the report."""
    for text in (meaning_of(code), remedy_of(code)):
        assert text is not None
        assert text.endswith(".")
        assert text.count(". ") == 0
        assert text[0].isupper()
        assert len(text) <= 120


def test_no_two_codes_mean_the_same() -> None:
    meanings = [meaning_of(code) for code in CODES]
    assert len(set(meanings)) == len(meanings)
