"""A folder as a model: whole files, bounded waits, and no work for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from affidavit.adapters.mailbox_model import MailboxModel
from affidavit.contract.errors import InputRefused, ModelFailed
from affidavit.ports.model import ModelAnswer, decode_request
from affidavit.testing.virtual_clock import VirtualClock
from tests.support.desks import WIDE, ask_for, desk_of
from tests.support.runs import driven, request

pytestmark = pytest.mark.anyio


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def requests_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("request-*.json"))


async def answer_all(folder: Path, content: str, count: int = 1) -> None:
    """Somebody at the other end: takes requests as they come and answers each."""
    done = 0
    while done < count:
        for path in requests_in(folder):
            answer = folder / path.name.replace("request", "answer")
            if not answer.exists() and "withdrawn" not in path.name:
                decode_request(path.read_bytes())
                draft = folder / f".{answer.name}.tmp"
                draft.write_text(content, encoding="utf-8")
                draft.rename(answer)
                done += 1
        await anyio.sleep(0.01)


def mailbox(folder: Path) -> MailboxModel:
    return MailboxModel(folder, sleep=lambda _: anyio.sleep(0.01))


ANSWER = json.dumps({"text": "by hand", "model": "a person"})


@pytest.mark.spec("K7")
async def test_a_request_is_answered_by_whoever_writes_the_answer(tmp_path: Path) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_all, tmp_path, ANSWER)
        answer = await mailbox(tmp_path).complete(ask_for("why?"))
    assert (answer.text, answer.usage) == ("by hand", None)
    assert names_in(tmp_path) == ["answer-1.json", "request-1.json"]


@pytest.mark.spec("K7")
async def test_many_at_once_get_a_number_each_and_their_own_answer(tmp_path: Path) -> None:
    told: dict[str, ModelAnswer] = {}

    async def ask(text: str) -> None:
        told[text] = await mailbox(tmp_path).complete(ask_for(text))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_all, tmp_path, ANSWER, 8)
        for place in range(8):
            tasks.start_soon(ask, str(place))
    assert len(told) == 8
    asked = [decode_request(path.read_bytes()) for path in requests_in(tmp_path)]
    assert sorted(item.messages[0].text for item in asked) == sorted(told)


@pytest.mark.spec("K7")
@pytest.mark.parametrize("content", ["", "no json", '{"text": 1}', "[]", "\x00"])
async def test_an_answer_that_cannot_be_read_is_a_failed_attempt(
    tmp_path: Path, content: str
) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer_all, tmp_path, content)
        with pytest.raises(ModelFailed) as failed:
            await mailbox(tmp_path).complete(ask_for())
    assert failed.value.code == "MODEL_ANSWER_MALFORMED"
    assert failed.value.may_retry


@pytest.mark.spec("K5", "K7")
async def test_the_wait_is_bounded_and_a_request_nobody_waits_for_is_withdrawn(
    tmp_path: Path,
) -> None:
    clock = VirtualClock()
    model = MailboxModel(tmp_path, sleep=clock.sleep, answer_timeout_s=5.0)
    async with clock.jumping(), driven(clock=clock, asked=request(limits=WIDE)) as run:
        with pytest.raises(ModelFailed):
            await desk_of(run, model).ask(ask_for())
    assert clock.monotonic_s() < 30
    names = names_in(tmp_path)
    assert names
    assert all(name.endswith(".withdrawn.json") for name in names)


@pytest.mark.spec("K0")
def test_a_folder_that_is_not_there_is_refused(tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "nowhere")):
        with pytest.raises(InputRefused) as refused:
            MailboxModel.parse(path)
        assert refused.value.code == "MODEL_MAILBOX"


async def test_a_mailbox_that_is_gone_is_a_model_that_cannot_be_reached(tmp_path: Path) -> None:
    with pytest.raises(ModelFailed) as failed:
        await mailbox(tmp_path / "gone").complete(ask_for())
    assert failed.value.code == "MODEL_UNREACHABLE"
