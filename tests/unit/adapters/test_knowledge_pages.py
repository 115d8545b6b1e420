"""Reading pages: their visible text in passages, and the refusal of what is no page (I2)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from affidavit.adapters.knowledge_pages import PAGE_BYTES_MAX, PAGES_MAX, read_pages
from affidavit.contract.errors import InputRefused
from affidavit.ports.knowledge import PASSAGE_CHARS_MAX

pytestmark = pytest.mark.spec("I2")


def texts(folder: Path) -> list[str]:
    """Every passage below a folder."""
    return [item.text for page in read_pages(folder).pages for item in page.passages]


def refused(path: Path) -> InputRefused:
    """The refusal that a path meets."""
    with pytest.raises(InputRefused) as caught:
        read_pages(path)
    assert caught.value.hint
    return caught.value


def test_markdown_is_cut_into_paragraphs_under_their_headings(tmp_path: Path) -> None:
    """A heading belongs to the paragraphs below it, and is none itself."""
    (tmp_path / "pool.md").write_text("# Pool\n\nRaise it.\r\n\r\n## Then\nRestart *checkout*.\n")
    (page,) = read_pages(tmp_path).pages
    assert [(item.place, item.heading, item.text) for item in page.passages] == [
        (0, "Pool", "Raise it."),
        (1, "Then", "Restart *checkout*."),
    ]


@pytest.mark.fault("R14")
def test_html_is_its_visible_text_alone(tmp_path: Path) -> None:
    """No script, style, form, comment, attribute or hidden element; references are resolved."""
    (tmp_path / "page.html").write_text(
        "<html><head><title>no</title><style>no</style></head><body>"
        "<script>alert('no')</script><h1>Owners</h1>"
        "<p onclick='no()' title='no'>Team <b>Gold</b> owns &lt;payments&gt; &amp; more.</p>"
        "<p hidden>no</p><div style='display: none'><p>no</p></div><p aria-hidden='true'>no</p>"
        "<!-- no --><template><p>no</p></template><svg><text>no</text></svg>"
        "<p>line<br>break</p><ul><li>one<li>two</ul><img alt='no' src='x'>"
        "<noscript>no</noscript><p>last</body></html>",
        encoding="utf-8",
    )
    (page,) = read_pages(tmp_path).pages
    assert [item.text for item in page.passages] == [
        "Team Gold owns <payments> & more.",
        "line",
        "break",
        "one",
        "two",
        "last",
    ]
    assert {item.heading for item in page.passages} == {"Owners"}


def test_broken_html_ends_and_hides_nothing_more_than_it_says(tmp_path: Path) -> None:
    """Unclosed and crossed elements are read to the end; a void element hides nothing after it."""
    (tmp_path / "a.html").write_text("<p hidden><b>no</p>yes <input hidden>and <i>more")
    (tmp_path / "b.html").write_text("<" * 5000 + "div" * 50)
    assert texts(tmp_path / "a.html") == ["yes", "and more"] or texts(tmp_path / "a.html") == [
        "yes and more"
    ]
    read_pages(tmp_path / "b.html")


def test_a_long_paragraph_is_cut_between_words_and_loses_none(tmp_path: Path) -> None:
    """Every word is in some passage, and no passage is longer than the bound; Chinese, too."""
    english = " ".join(f"word{number}." for number in range(1000))
    chinese = "。".join(f"第{number}步重启服务" for number in range(500))
    (tmp_path / "a.txt").write_text(f"{english}\n\n{chinese}", encoding="utf-8")
    found = texts(tmp_path)
    assert all(len(text) <= PASSAGE_CHARS_MAX for text in found)
    assert "".join(found).replace(" ", "") == (english + chinese).replace(" ", "")


def test_control_and_direction_characters_are_taken_out(tmp_path: Path) -> None:
    """What is quoted reads as it is stored."""
    (tmp_path / "a.txt").write_text("a\u202eb\x1b[31mc\u200bd", encoding="utf-8")
    assert texts(tmp_path) == ["ab [31mcd"]


@pytest.mark.fault("R69")
def test_a_link_is_refused_wherever_it_leads(tmp_path: Path) -> None:
    """A link out of the folder, to a folder, and the named path itself."""
    outside = tmp_path / "secret.md"
    outside.write_text("secret")
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "a.md").write_text("fine")
    (pages / "b.md").symlink_to(outside)
    assert "b.md is a link" in refused(pages).message
    (pages / "b.md").unlink()
    (pages / "more").symlink_to(tmp_path)
    assert "is a link" in refused(pages).message
    (tmp_path / "named").symlink_to(outside)
    assert "is a link" in refused(tmp_path / "named").message


def test_a_file_of_fifty_megabytes_is_refused_without_being_read(tmp_path: Path) -> None:
    """The bound is on what is read; a sparse file costs nothing here either."""
    (tmp_path / "a.md").write_text("fine")
    with (tmp_path / "big.md").open("wb") as file:
        file.truncate(50_000_000)
    assert f"larger than {PAGE_BYTES_MAX // 1_000_000} MB" in refused(tmp_path).message


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.md", b"\xff\xfe\x00", "no UTF-8"),
        ("a.txt", b"a\x00b", "no text"),
        ("x" * 250 + ".md", b"fine", "name"),
    ],
)
def test_what_is_no_text_page_is_refused_by_name(
    tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    """One line that says what and where."""
    (tmp_path / name).write_bytes(content)
    assert why in refused(tmp_path).message


def test_a_pipe_is_no_page_and_is_not_waited_for(tmp_path: Path) -> None:
    """A FIFO without a writer would block a plain open for ever."""
    os.mkfifo(tmp_path / "a.md")
    assert "no plain file" in refused(tmp_path).message


def test_other_kinds_are_left_alone_and_counted(tmp_path: Path) -> None:
    """Pictures and hidden files are no fault of a folder; a folder without a page is."""
    (tmp_path / "a.md").write_text("fine")
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.md").write_text("no")
    read = read_pages(tmp_path)
    assert (len(read.pages), read.left_alone) == (1, 1)
    (tmp_path / "a.md").unlink()
    assert refused(tmp_path).code == "PAGES_MISSING"
    assert refused(tmp_path / "nowhere").code == "PAGE_REFUSED"


def test_too_many_pages_are_refused(tmp_path: Path) -> None:
    """The bound is counted in pages, before all of them are kept."""
    for number in range(PAGES_MAX + 1):
        (tmp_path / f"{number}.txt").touch()
    assert f"more than {PAGES_MAX} pages" in refused(tmp_path).message
