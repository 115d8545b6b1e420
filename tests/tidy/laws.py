"""Laws of the source that imports cannot show, each a function over one module's syntax tree.

A law yields what breaks it, as text; a module that keeps it yields nothing. `test_laws.py` holds
every law against the source and breaks each of them once on purpose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

SOURCE: Final = Path(__file__).parents[2] / "src" / "affidavit"

MAKERS: Final = MappingProxyType(
    {
        "VerifiedDraft": "verify/evidence.py",
        "SupportedDraft": "verify/support.py",
        "Published": "release/publish.py",
        "SafeFallback": "release/fallback.py",
    }
)
"""The one file that may make each trust type (L7). Add a row for a new trust type."""

PURE: Final = (
    "contract/",
    "progress/",
    "verify/closure",
    "verify/evidence",
    "verify/statements",
    "verify/prose",
    "verify/review",
    "verify/sentences",
    "verify/support",
    "verify/withdrawal",
    "release/decide",
    "release/fallback",
)
"""Where a function may only compute; .importlinter forbids these files clock, dice and I/O too."""

OPTIONAL_IMPORTS: Final = ("adapters/", "cli/", "importers/")
"""Where a heavy optional dependency may be imported inside a function."""

FUNCTION_LINES_MAX: Final = 60  # what fits a screen, docstring included
MODULE_LINES_MAX: Final = 450  # what one reads at a sitting

VAGUE_FILES: Final = frozenset(
    "base common handler handlers helper helpers impl manager misc service services util "
    "utils".split()
)
VAGUE_LAST_WORDS: Final = frozenset(
    "Base Common Handler Helper Helpers Impl Manager Service Util Utils".split()
)
VAGUE_FIRST_WORDS: Final = frozenset({"Base", "Common"})
VAGUE_FUNCTIONS: Final = frozenset({"handle", "process"})

MUTABLE_TYPES: Final = frozenset(
    "list dict set bytearray List Dict Set DefaultDict MutableMapping MutableSequence MutableSet "
    "defaultdict deque".split()
)
IMPURE_BUILTINS: Final = frozenset({"open", "print", "input", "breakpoint", "exec", "eval"})

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Module:
    """One source file: where it stands in the package, its text and its syntax tree."""

    path: PurePosixPath
    text: str
    tree: ast.Module

    @classmethod
    def parse(cls, path: str, text: str) -> Module:
        """The module at a path relative to the package, from its text."""
        return cls(PurePosixPath(path), text, ast.parse(text, filename=path))

    def is_in(self, *prefixes: str) -> bool:
        """Whether the module's path starts with one of the prefixes."""
        return str(self.path).startswith(prefixes)

    def at(self, node: ast.AST, what: str) -> str:
        """A finding at a node."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}: {what}"


Law = Callable[[Module], Iterator[str]]


def source_modules() -> tuple[Module, ...]:
    """Every module of the package, parsed."""
    return tuple(
        Module.parse(file.relative_to(SOURCE).as_posix(), file.read_text(encoding="utf-8"))
        for file in sorted(SOURCE.rglob("*.py"))
    )


def name_of(node: ast.AST | None) -> str:
    """The last part of a (dotted) name; empty for anything else."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Constant(value=str(name)):
            return name
        case ast.Subscript(value=value):
            return name_of(value)
        case _:
            return ""


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    """Every call in the tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call))


def functions(tree: ast.AST) -> Iterator[Function]:
    """Every function and method in the tree."""
    return (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """Every class in the tree."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def makings(module: Module, type_: str) -> Iterator[ast.AST]:
    """Every place in a module that makes, forges or subclasses the trust type."""
    for call in calls(module.tree):
        made = name_of(call.func) == type_
        forged = name_of(call.func) in {"__new__", "cast", "construct", "model_construct"} and any(
            name_of(part) == type_ for part in (*call.args, getattr(call.func, "value", None))
        )
        if made or forged:
            yield call
    for class_ in classes(module.tree):
        if any(name_of(base) == type_ for base in class_.bases):
            yield class_
        if class_.name == type_:
            yield from (call for call in calls(class_) if name_of(call.func) == "cls")


def trust_has_one_maker(module: Module) -> Iterator[str]:
    """L7: a trust type is made in its maker's file alone."""
    for type_, maker in MAKERS.items():
        if str(module.path) != maker:
            for node in makings(module, type_):
                yield module.at(node, f"makes {type_}, which only {maker} may")


def stops_pass(module: Module) -> Iterator[str]:
    """K6: nothing outside core catches everything; a stop must pass."""
    if module.is_in("core/"):
        return
    catch_all = {"BaseException", "BaseExceptionGroup"}
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            if node.type is None or catch_all & {name_of(type_) for type_ in caught}:
                yield module.at(node, "catches everything, and a stop with it")
    for call in calls(module.tree):
        if name_of(call.func) == "suppress" and catch_all & {name_of(arg) for arg in call.args}:
            yield module.at(call, "suppresses everything, and a stop with it")


def gathers_raise(module: Module) -> Iterator[str]:
    """K6: `gather(return_exceptions=True)` swallows a stop."""
    for call in calls(module.tree):
        for keyword in call.keywords:
            off = isinstance(keyword.value, ast.Constant) and keyword.value.value is False
            if keyword.arg == "return_exceptions" and not off:
                yield module.at(call, "return_exceptions swallows a stop")


def records_are_validated(module: Module) -> Iterator[str]:
    """L7: no way around a record's validation, and no writing into a frozen one."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and node.attr == "model_construct":
            yield module.at(node, "model_construct makes a record without validation")
    for call in calls(module.tree):
        changed = call.args or any(keyword.arg in {"update", None} for keyword in call.keywords)
        if name_of(call.func) == "model_copy" and changed:
            yield module.at(call, "model_copy(update=…) changes a record without validation")
    for function in functions(module.tree):
        if function.name in {"__init__", "__post_init__", "model_post_init"}:
            continue
        for call in calls(function):
            if ast.unparse(call.func) == "object.__setattr__":
                yield module.at(call, "writes into a frozen record")


def records_are_immutable(module: Module) -> Iterator[str]:
    """L7: a field of a contract record is never a list, dict or set."""
    if not module.is_in("contract/"):
        return
    for class_ in classes(module.tree):
        for field in class_.body:
            if not isinstance(field, ast.AnnAssign):
                continue
            text = field.annotation
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                text = ast.parse(text.value, mode="eval").body
            mutable = {name_of(node) for node in ast.walk(text)} & MUTABLE_TYPES
            if mutable and name_of(field.annotation) != "ClassVar":
                yield module.at(field, f"a record holds a mutable {', '.join(sorted(mutable))}")


def imports_stand_on_top(module: Module) -> Iterator[str]:
    """An import inside a function hides a cycle; only an optional dependency may stand there."""
    for function in functions(module.tree):
        for node in ast.walk(function):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            ours = ast.unparse(node).split()[1].startswith("affidavit")
            if not module.is_in(*OPTIONAL_IMPORTS) or (ours and not module.is_in("cli/")):
                yield module.at(node, "imports inside a function")


def words_of(name: str) -> list[str]:
    """The words of a CamelCase name."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", name)


def names_say_something(module: Module) -> Iterator[str]:
    """No name that could be any module's or any class's."""
    if VAGUE_FILES & {part.removesuffix(".py") for part in module.path.parts}:
        yield f"{module.path}: a file name that could be any file's"
    for class_ in classes(module.tree):
        words = words_of(class_.name) or [""]
        if words[-1] in VAGUE_LAST_WORDS or words[0] in VAGUE_FIRST_WORDS:
            yield module.at(class_, f"class {class_.name} could be any class")
    for function in functions(module.tree):
        if function.name in VAGUE_FUNCTIONS:
            yield module.at(function, f"{function.name}() could do anything")


def things_fit_a_screen(module: Module) -> Iterator[str]:
    """Bounds on the length of functions and modules."""
    lines = len(module.text.splitlines())
    if lines > MODULE_LINES_MAX:
        yield f"{module.path}: {lines} lines, at most {MODULE_LINES_MAX}"
    for function in functions(module.tree):
        length = (function.end_lineno or function.lineno) - function.lineno + 1
        if length > FUNCTION_LINES_MAX:
            yield module.at(
                function, f"{function.name} has {length} lines, at most {FUNCTION_LINES_MAX}"
            )


def public_members(body: list[ast.stmt]) -> Iterator[Documented]:
    """The public functions and classes of a body, and the public members of those classes."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            marks = {name_of(mark) for mark in node.decorator_list}
            if not marks & {"overload", "setter", "override"}:
                yield node
            if isinstance(node, ast.ClassDef):
                yield from public_members(node.body)


def public_things_are_documented(module: Module) -> Iterator[str]:
    """Every public module, class, function and method says what it means."""
    if any(re.match(r"_(?!_)", part) for part in module.path.parts):
        return
    if ast.get_docstring(module.tree) is None:
        yield f"{module.path}:1: the module has no docstring"
    for node in public_members(module.tree.body):
        if ast.get_docstring(node) is None:
            yield module.at(node, f"{node.name} has no docstring")


def is_declaration(function: Function) -> bool:
    """Whether a function only declares itself, as a Protocol's method does."""
    return all(
        isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
        for part in function.body
    )


def pure_things_compute(module: Module) -> Iterator[str]:
    """Pure files ask no clock, do no I/O, and never wait."""
    if not module.is_in(*PURE):
        return
    for call in calls(module.tree):
        if isinstance(call.func, ast.Name) and call.func.id in IMPURE_BUILTINS:
            yield module.at(call, f"calls {call.func.id}() in a pure file")
        match call.func:
            case ast.Attribute(value=value, attr="now" | "utcnow" | "today"):
                if name_of(value) in {"datetime", "date"}:
                    yield module.at(call, "asks the clock in a pure file")
            case _:
                pass
    for function in functions(module.tree):
        if isinstance(function, ast.AsyncFunctionDef) and not is_declaration(function):
            yield module.at(function, "waits in a pure file")


def state_is_held_by_objects(module: Module) -> Iterator[str]:
    """No global that changes: no `global`, and a module's containers are Final."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Global):
            yield module.at(node, "rebinds a global")
    for statement in module.tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                final = name == "__all__"
            case ast.AnnAssign(target=ast.Name(), annotation=annotation, value=value):
                final = name_of(annotation) == "Final"
            case _:
                continue
        mutable = isinstance(
            value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
        ) or (isinstance(value, ast.Call) and name_of(value.func) in MUTABLE_TYPES)
        if mutable and not final:
            yield module.at(statement, "a mutable global that is not Final")


def exceptions_to_lint_say_why(module: Module) -> Iterator[str]:
    """`noqa` names its code and its reason; `type: ignore` likewise."""
    for number, line in enumerate(module.text.splitlines(), start=1):
        if re.search(r"#\s*noqa(?!: [A-Z0-9, ]+ --? \S)", line):
            yield f"{module.path}:{number}: write `# noqa: CODE - reason`"
        if re.search(r"#\s*type:\s*ignore(?!\[[a-z-, ]+\]\s+# \S)", line):
            yield f"{module.path}:{number}: write `# type: ignore[code]  # reason`"


LAWS: Final[tuple[Law, ...]] = (
    trust_has_one_maker,
    stops_pass,
    gathers_raise,
    records_are_validated,
    records_are_immutable,
    imports_stand_on_top,
    names_say_something,
    things_fit_a_screen,
    public_things_are_documented,
    pure_things_compute,
    state_is_held_by_objects,
    exceptions_to_lint_say_why,
)
