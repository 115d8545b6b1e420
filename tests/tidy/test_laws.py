"""Every law holds in the source, and each is broken here once on purpose."""

from __future__ import annotations

import ast
from typing import Final

import pytest

from tests.tidy import laws
from tests.tidy.laws import LAWS, MAKERS, Law, Module, source_modules

CONTRACT: Final = "contract/record.py"
LONG_FUNCTION: Final = "def f():\n" + "    x = 1\n" * laws.FUNCTION_LINES_MAX
LONG_MODULE: Final = "x = 1\n" * (laws.MODULE_LINES_MAX + 1)

BREACHES: Final[tuple[tuple[Law, str, str], ...]] = (
    (laws.trust_has_one_maker, "release/decide.py", "VerifiedDraft(draft)"),
    (laws.trust_has_one_maker, "verify/evidence.py", "support.SupportedDraft(draft)"),
    (laws.trust_has_one_maker, "tools/a.py", "object.__new__(Published)"),
    (laws.trust_has_one_maker, "tools/a.py", "Published.__new__(Published)"),
    (laws.trust_has_one_maker, "tools/a.py", "cast('Published', x)"),
    (laws.trust_has_one_maker, "tools/a.py", "class Mine(SafeFallback): pass"),
    (laws.trust_has_one_maker, "contract/a.py", "class Published:\n def f(cls): return cls()"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept BaseException: pass"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept: raise"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept (OSError, BaseException): pass"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept* BaseException: pass"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept builtins.BaseExceptionGroup: pass"),
    (laws.stops_pass, "tools/a.py", "with contextlib.suppress(BaseException): f()"),
    (laws.gathers_raise, "core/a.py", "asyncio.gather(a, return_exceptions=True)"),
    (laws.gathers_raise, "core/a.py", "asyncio.gather(a, return_exceptions=quiet)"),
    (laws.records_are_validated, "tools/a.py", "Draft.model_construct(id='A1')"),
    (laws.records_are_validated, "tools/a.py", "make = Draft.model_construct"),
    (laws.records_are_validated, "tools/a.py", "draft.model_copy(update={'id': 'A1'})"),
    (laws.records_are_validated, "tools/a.py", "draft.model_copy(**changes)"),
    (laws.records_are_validated, "a.py", "def f(x):\n object.__setattr__(x, 'id', 'A1')"),
    (laws.records_are_immutable, CONTRACT, "class Draft:\n ids: list[str]"),
    (laws.records_are_immutable, CONTRACT, "class Draft:\n ids: tuple[dict[str, int], ...]"),
    (laws.records_are_immutable, CONTRACT, "class Draft:\n ids: 'typing.Set[str] | None' = None"),
    (laws.imports_stand_on_top, "tools/a.py", "def f():\n import duckdb"),
    (laws.imports_stand_on_top, "adapters/a.py", "def f():\n from affidavit.ports import clock"),
    (laws.names_say_something, "tools/utils.py", "x = 1"),
    (laws.names_say_something, "helpers/rows.py", "x = 1"),
    (laws.names_say_something, "tools/a.py", "class RunManager: pass"),
    (laws.names_say_something, "tools/a.py", "class BaseGuard: pass"),
    (laws.names_say_something, "tools/a.py", "class JournalImpl: pass"),
    (laws.names_say_something, "tools/a.py", "class Guard:\n def process(self): pass"),
    (laws.things_fit_a_screen, "tools/a.py", LONG_FUNCTION),
    (laws.things_fit_a_screen, "tools/a.py", LONG_MODULE),
    (laws.public_things_are_documented, "tools/a.py", "x = 1"),
    (laws.public_things_are_documented, "tools/a.py", "'''Doc.'''\ndef f(): pass"),
    (laws.public_things_are_documented, "tools/a.py", "'''Doc.'''\nclass C: pass"),
    (laws.public_things_are_documented, "a.py", "'''Doc.'''\nclass C:\n 'Doc.'\n def f(self): 1"),
    (laws.pure_things_compute, CONTRACT, "datetime.now(UTC)"),
    (laws.pure_things_compute, "verify/closure.py", "open('x')"),
    (laws.pure_things_compute, "release/decide.py", "async def decide(): return 1"),
    (laws.state_is_held_by_objects, "tools/a.py", "seen = []"),
    (laws.state_is_held_by_objects, "tools/a.py", "seen: dict[str, int] = {}"),
    (laws.state_is_held_by_objects, "tools/a.py", "seen = defaultdict(int)"),
    (laws.state_is_held_by_objects, "tools/a.py", "def f():\n global seen\n seen = 1"),
    (laws.exceptions_to_lint_say_why, "tools/a.py", "import os  # noqa"),
    (laws.exceptions_to_lint_say_why, "tools/a.py", "import os  # noqa: F401"),
    (laws.exceptions_to_lint_say_why, "tools/a.py", "x = 1  # type: ignore[assignment]"),
)

KEPT: Final[tuple[tuple[Law, str, str], ...]] = (
    (laws.trust_has_one_maker, "release/publish.py", "Published(supported)"),
    (laws.stops_pass, "core/run.py", "try: f()\nexcept BaseException: raise"),
    (laws.stops_pass, "tools/a.py", "try: f()\nexcept (OSError, ValueError): pass"),
    (laws.gathers_raise, "tools/a.py", "asyncio.gather(a, return_exceptions=False)"),
    (laws.records_are_validated, "tools/a.py", "draft.model_copy()"),
    (laws.records_are_validated, "a.py", "def __post_init__(x):\n object.__setattr__(x, 'a', 1)"),
    (laws.records_are_immutable, CONTRACT, "class D:\n a: tuple[str, ...]\n b: Mapping[str, int]"),
    (laws.imports_stand_on_top, "adapters/a.py", "def f():\n import duckdb"),
    (laws.imports_stand_on_top, "cli/a.py", "def f():\n from affidavit import diagnose"),
    (laws.names_say_something, "tools/database.py", "class ServiceMap: pass"),
    (laws.public_things_are_documented, "a.py", "'''Doc.'''\ndef _f(): pass\nclass _C: pass"),
    (laws.pure_things_compute, "core/clock.py", "datetime.now(UTC)"),
    (laws.pure_things_compute, CONTRACT, "class P:\n async def f(self):\n  'Doc.'\n  ..."),
    (laws.state_is_held_by_objects, "a.py", "__all__ = ['f']\nTABLE: Final = {}\nx = (1, 2)"),
    (laws.exceptions_to_lint_say_why, "a.py", "import os  # noqa: F401 -- re-exported"),
    (laws.exceptions_to_lint_say_why, "a.py", "x = 1  # type: ignore[misc]  # no stubs"),
)


def breaches(law: Law, modules: tuple[Module, ...]) -> list[str]:
    """Everything that breaks a law, once each."""
    return sorted({finding for module in modules for finding in law(module)})


@pytest.mark.spec("K6", "L7")
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_law_holds_in_the_source(law: Law) -> None:
    """Every module of the package keeps every law."""
    assert breaches(law, source_modules()) == []


@pytest.mark.parametrize(("law", "path", "text"), BREACHES)
def test_a_breach_is_seen(law: Law, path: str, text: str) -> None:
    """A law that could not fail would hold nothing."""
    assert len(breaches(law, (Module.parse(path, text),))) == 1


@pytest.mark.parametrize(("law", "path", "text"), KEPT)
def test_what_is_allowed_stays_allowed(law: Law, path: str, text: str) -> None:
    """A law does not forbid the neighbour of what it forbids."""
    assert breaches(law, (Module.parse(path, text),)) == []


def test_every_law_is_broken_here_once() -> None:
    """No law without its breach."""
    assert {law for law, _, _ in BREACHES} == set(LAWS)


@pytest.mark.spec("L7")
@pytest.mark.parametrize("type_", sorted(MAKERS))
def test_a_trust_type_is_made_in_exactly_one_place(type_: str) -> None:
    """L7: one call makes it, in its maker's file. What is not built yet is named as such."""
    modules = source_modules()
    if not any(type_ == class_.name for m in modules for class_ in laws.classes(m.tree)):
        pytest.xfail(f"{type_} is not built yet")
    made = [m.at(node, type_) for m in modules for node in laws.makings(m, type_)]
    assert len(made) == 1, made
    assert made[0].startswith(MAKERS[type_])


def test_the_public_face_is_small() -> None:
    """At most 20 public names, said in one place."""
    init = next(m for m in source_modules() if str(m.path) == "__init__.py")
    names = next(
        node.value
        for node in init.tree.body
        if isinstance(node, ast.Assign) and laws.name_of(node.targets[0]) == "__all__"
    )
    assert 1 <= len(ast.literal_eval(names)) <= 20
