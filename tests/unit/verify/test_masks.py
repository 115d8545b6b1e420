"""Nothing that rests on a masked secret is let through (T7)."""

from __future__ import annotations

from typing import Any

import pytest

from affidavit.contract.masking import DEPTH_MAX, holds_mask
from affidavit.contract.violations import SupportCode
from affidavit.tools.redaction import MASK_PATTERN, redact_text
from tests.unit.verify.test_contradiction import Call, call, checked

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
CONFIG = call("config", {"name": "checkout", "token": TOKEN, "replicas": 3}, "get_config")


def is_masked(text: str, *calls: Call, **more: Any) -> bool:
    return SupportCode.MASK_CITED in checked(text, *calls, **more)[0]


def value(attribute: str, wanted: object, operator: str = "=") -> list[dict[str, object]]:
    return [
        {
            "kind": "value",
            "tool_call_id": "config",
            "subject": "checkout",
            "attribute": attribute,
            "operator": operator,
            "value": wanted,
        }
    ]


@pytest.mark.spec("T7")
def test_the_pattern_is_what_redaction_writes() -> None:
    left = redact_text(f"Authorization: Bearer {TOKEN}").text
    assert holds_mask(left)
    assert MASK_PATTERN.search(left)
    assert not holds_mask("[masked] masked:token:1")


@pytest.mark.spec("T7")
def test_a_sentence_or_statement_that_repeats_a_mask_is_refused() -> None:
    mask = "[masked:github-token:1]"
    assert is_masked(f"The token of checkout is {mask}.", CONFIG)
    stated = value("token", mask)
    assert is_masked("The token of checkout is set.", CONFIG, statements=stated)
    assert is_masked("checkout has 3 replicas.", CONFIG, statements=[{**stated[0], "where": mask}])


@pytest.mark.spec("T7")
def test_a_masked_value_proves_nothing_not_even_that_it_is_another() -> None:
    """ "not abc" would be proved by any mask; the twin rests on a value that is no secret."""
    unlike = value("token", "abc", "!=")
    assert is_masked("The token of checkout is not abc.", CONFIG, statements=unlike)
    replicas = value("replicas", 3)
    assert not is_masked("checkout has 3 replicas.", CONFIG, statements=replicas)


@pytest.mark.spec("T7")
def test_words_beside_a_mask_are_words_like_any_other() -> None:
    line = (
        f"2031-03-02T10:03:11Z ERROR checkout: login of eve failed, authorization: Bearer {TOKEN}"
    )
    logs = call("logs", line, "search_logs", arguments={"service": "checkout"})
    assert not is_masked("checkout logged that the login of eve failed.", logs)


@pytest.mark.spec("T7")
def test_a_mask_is_found_at_any_depth_and_too_deep_counts_as_one() -> None:
    assert holds_mask({"where": [{"a": "[masked:jwt:2]"}]})
    assert holds_mask({"[masked:jwt:2]": 1})
    assert not holds_mask({"where": [{"a": 1, "b": None}], "c": True})
    deep: object = "x"
    for _ in range(DEPTH_MAX + 2):
        deep = [deep]
    assert holds_mask(deep)


@pytest.mark.spec("T7")
def test_an_address_may_be_called_by_the_mask_that_the_calls_hold() -> None:
    """It names somebody; what it is, and a mask that no call holds, is still refused."""
    account = call(
        "account", {"owner": "[masked:e-mail:1]", "berths": 3, "state": "active"}, "get_account"
    )
    assert not is_masked("The account of [masked:e-mail:1] has 3 berths.", account)
    assert is_masked("The account of [masked:e-mail:2] has 3 berths.", account)
    assert is_masked("The owner of the account is [masked:e-mail:1].", account)
    assert is_masked("The owner is not [masked:e-mail:1].", account)
