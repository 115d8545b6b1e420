"""Anchors of other packages: real packages with real metadata, loaded only when they are named."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from affidavit.adapters import anchor_plugins
from affidavit.adapters.anchors import FileAnchor, open_anchors
from affidavit.application.anchoring import Teller
from affidavit.contract.errors import InputRefused, RecordFailed
from affidavit.diagnose import drive, start
from affidavit.ports.store import SealedHead
from affidavit.settings import read_settings
from affidavit.wiring.sealing import head_teller
from tests.support.runs import RUN_ID, request
from tests.support.worlds import act, conclude, world

pytestmark = [pytest.mark.anyio, pytest.mark.spec("A4")]

Install = Callable[..., None]

HEAD = SealedHead("local", 1, RUN_ID, "1" * 64, "0" * 64)

STAMPS = """
from pathlib import Path

class Stamps:
    def __init__(self, folder):
        self.folder = folder
        self.name = "stamp"

    async def tell(self, head, line):
        (self.folder / f"{head.number}.tsr").write_bytes(bytes.fromhex(head.digest))

def open_anchor(address):
    folder = Path(address.removeprefix("stamp:"))
    if not folder.is_dir():
        raise NotADirectoryError("secret-of-the-address")
    return Stamps(folder)
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a package with one module and one entry point, as pip would lay it out."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))

    def make(module: str, source: str, scheme: str = "stamp") -> None:
        (site / f"{module}.py").write_text(source)
        info = site / f"{module}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        entry = f"[affidavit.anchors]\n{scheme} = {module}:open_anchor\n"
        (info / "entry_points.txt").write_text(entry)
        sys.modules.pop(module, None)

    return make


async def test_a_kind_of_another_package_is_told_of_a_published_run(
    install: Install, tmp_path: Path
) -> None:
    """Named in the setting, and nothing here is changed."""
    install("acme_stamps", STAMPS)
    settings = read_settings({"AFFIDAVIT_SIGNING_ANCHORS": f"stamp:{tmp_path}"}, tmp_path)
    told = world([act("probe"), conclude()])
    told = type(told)(
        told.driver, told.collection, told.examiner, told.seal, tell=head_teller(settings)
    )
    await start(told, request())
    await drive(RUN_ID, told)
    (head,) = await told.driver.store.sealed_heads(request().tenant)
    assert (tmp_path / "1.tsr").read_bytes().hex() == head.digest


async def test_what_is_installed_and_not_named_is_not_even_imported(
    install: Install, tmp_path: Path
) -> None:
    install("acme_evil_anchor", "raise SystemExit('imported')")
    (anchor,) = open_anchors((f"file:{tmp_path}/heads",))
    assert isinstance(anchor, FileAnchor)
    assert "acme_evil_anchor" not in sys.modules


@pytest.mark.parametrize("scheme", ["file", "https", "http", "syslog"])
async def test_a_scheme_of_ours_cannot_be_taken_over(install: Install, scheme: str) -> None:
    install("acme_thief", "raise SystemExit('imported')", scheme)
    for address in (f"{scheme}:", f"{scheme}://", f"{scheme}:x"):
        with suppress(InputRefused):
            (anchor,) = open_anchors((address,))
            assert type(anchor).__module__ == "affidavit.adapters.anchors"
    assert "acme_thief" not in sys.modules


async def test_a_kind_that_nobody_or_two_offer_is_refused(install: Install, tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="names no anchor"):
        open_anchors((f"stamp:{tmp_path}",))
    install("acme_stamps_one", STAMPS)
    install("acme_stamps_two", STAMPS)
    with pytest.raises(InputRefused, match="both offer") as caught:
        open_anchors((f"stamp:{tmp_path}",))
    assert caught.value.code == "ANCHOR_REFUSED"


@pytest.mark.parametrize(
    "source",
    [
        "import nowhere_at_all",
        "open_anchor = 7",
        "def open_anchor(address):\n    return object()",
        "class open_anchor:\n    name = 7\n    def __init__(self, address): pass",
        "def open_anchor(address):\n    raise OSError('secret-of-the-address')",
    ],
)
async def test_what_cannot_be_made_or_is_no_anchor_is_refused(
    install: Install, source: str
) -> None:
    install("acme_broken_anchor", source)
    with pytest.raises(InputRefused) as caught:
        open_anchors(("stamp:somewhere",))
    assert caught.value.code == "ANCHOR_REFUSED"
    assert caught.value.hint
    assert "secret" not in caught.value.message


FAILING = """
class Failing:
    name = "secret-name"
    async def tell(self, head, line):
        {body}

def open_anchor(address):
    return Failing()
"""


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError('secret-words')",
        "raise ExceptionGroup('secret-words', [OSError('x')])",
        "import anyio; await anyio.sleep(60)",
        "raise TimeoutError('secret-words')",
    ],
)
async def test_whatever_it_does_the_publication_stands(
    install: Install, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("acme_failing_anchor", FAILING.format(body=body))
    monkeypatch.setattr(anchor_plugins, "TELL_MAX_S", 0.05)
    complaints: list[RecordFailed] = []
    await Teller(open_anchors(("stamp:secret-address",)), complaints.append)(HEAD)
    assert [failed.code for failed in complaints] == ["ANCHOR_FAILED"]
    assert "secret" not in complaints[0].message
    assert "stamp:" in complaints[0].message


async def test_the_page_s_own_example_makes_an_anchor(install: Install, tmp_path: Path) -> None:
    """The example in docs/anchors.md, installed as it stands, beside a stand-in for its library."""
    page = (Path(__file__).parents[3] / "docs" / "anchors.md").read_text(encoding="utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    install("acme_tsa", source, "rfc3161")
    (tmp_path / "site" / "acme_tsp.py").write_text(
        "def request_token(url, digest):\n    return url.encode() + digest\n"
        "def check_token(token, digest):\n    assert token.endswith(digest)\n"
    )
    (anchor,) = open_anchors((f"rfc3161:https://tsa.example/x?into={tmp_path}",))
    await anchor.tell(HEAD, b"{}")
    token = tmp_path / f"{HEAD.tenant}-{HEAD.number}-{HEAD.digest}.tsr"
    assert token.read_bytes() == b"https://tsa.example/x" + bytes.fromhex(HEAD.digest)
