"""Questions and answers in a folder: put once, answered at any time, used by asking again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from affidavit.adapters.deferred_model import DeferredModel
from affidavit.adapters.model_names import open_model
from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.ports.model import ANSWER_BYTES_MAX, decode_request
from tests.support.desks import ask_for

pytestmark = pytest.mark.anyio


async def unanswered(folder: Path, words: str = "why?") -> str:
    """The code of a question that nobody has answered."""
    with pytest.raises(ModelFailed) as failed:
        await DeferredModel(folder).complete(ask_for(words))
    return str(failed.value.code)


def only_request(folder: Path) -> Path:
    (request,) = folder.glob("request-*.json")
    return request


def answer_only(folder: Path, content: str, suffix: str = ".json") -> None:
    """Somebody writes the answer to the only question."""
    name = only_request(folder).stem.replace("request-", "answer-") + suffix
    (folder / name).write_text(content, encoding="utf-8")


def files_in(folder: Path) -> int:
    return len(list(folder.iterdir()))


@pytest.mark.spec("K7")
async def test_a_question_is_put_once_and_nobody_is_waited_for(tmp_path: Path) -> None:
    assert await unanswered(tmp_path) == "MODEL_UNREACHABLE"
    assert await unanswered(tmp_path) == "MODEL_UNREACHABLE"
    assert decode_request(only_request(tmp_path).read_bytes()) == ask_for("why?")
    await unanswered(tmp_path, "and why not?")
    assert files_in(tmp_path) == 2


@pytest.mark.spec("K7")
async def test_an_answer_is_whole_or_its_text_alone(tmp_path: Path) -> None:
    await unanswered(tmp_path)
    answer_only(tmp_path, ' {"a": "é"}\n', ".txt")
    said = await DeferredModel(tmp_path).complete(ask_for("why?"))
    assert (said.text, said.model, said.usage) == ('{"a": "é"}', tmp_path.name, None)
    answer_only(tmp_path, json.dumps({"text": "whole", "model": "m"}))
    assert (await DeferredModel(tmp_path).complete(ask_for("why?"))).text == "whole"


@pytest.mark.spec("K7")
@pytest.mark.parametrize("content", ["{", "[]", '{"text": 1}', "x" * (ANSWER_BYTES_MAX + 1)])
async def test_an_answer_that_cannot_be_read_is_a_failed_attempt(
    tmp_path: Path, content: str
) -> None:
    await unanswered(tmp_path)
    answer_only(tmp_path, content)
    assert await unanswered(tmp_path) == "MODEL_ANSWER_MALFORMED"


async def test_a_folder_that_is_gone_is_a_failed_attempt(tmp_path: Path) -> None:
    assert await unanswered(tmp_path / "gone") == "MODEL_UNREACHABLE"


def test_the_folder_names_the_model_and_has_to_be_there(tmp_path: Path) -> None:
    folder = tmp_path / "whose-answers"
    with pytest.raises(InputRefused) as refused:
        open_model(f"deferred:{folder}")
    assert refused.value.code == "MODEL_DEFERRED"
    folder.mkdir()
    assert open_model(f"deferred:{folder}").name == "whose-answers"
