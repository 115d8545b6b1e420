"""From `affidavit.toml` and `AFFIDAVIT_…` variables to the settings in force.

A value comes from `affidavit.toml` in the working folder, or the file that `AFFIDAVIT_CONFIG`
names, and is overruled by its variable; an empty variable sets nothing. An unknown key refuses the
start and names the nearest known one (F25): a setting that is misspelt must not be a setting that
is not there. No value is ever echoed: it might be a secret in the wrong place.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from affidavit.contract.errors import InputRefused
from affidavit.settings.table import PREFIX, Setting, settings_of
from affidavit.settings.whole import Settings

CONFIG_NAME: Final = "affidavit.toml"

OTHERS: Final = frozenset(
    {
        f"{PREFIX}CONFIG",
        f"{PREFIX}MODEL_URL",
        f"{PREFIX}MODEL_KEY",
        f"{PREFIX}MODEL_WINDOW",
    }
)
"""Variables that are no settings and are read elsewhere: where the file lies, and what belongs to
an OpenAI-compatible server (docs/models.md)."""

Values = dict[str, Any]


@cache
def known_settings() -> Mapping[str, Setting]:
    """Every setting by its key."""
    return {setting.key: setting for setting in settings_of(Settings)}


def read_settings(environment: Mapping[str, str], folder: Path) -> Settings:
    """The settings in force.

    Raises InputRefused (SETTINGS_REFUSED) for a file that cannot be read, an unknown key or a
    value that does not fit, and names the key.
    """
    named = environment.get(f"{PREFIX}CONFIG")
    path = Path(named) if named else folder / CONFIG_NAME
    values: Values = {}
    if path.is_file():
        values = _read_toml(path)
    elif named:
        raise _refused(f"{PREFIX}CONFIG names {path}, which is no file", "correct the path")
    _refuse_unknown(values)
    for setting, text in _said(environment):
        _put(values, setting.path, setting.read_text(text))
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        # What is misspelt explains what is missing.
        first = min(error.errors(), key=lambda item: item["type"] != "extra_forbidden")
        key = ".".join(str(part) for part in first["loc"])
        wrong = "is no setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise _refused(f"{key!r}: {wrong}", _known_beside(key)) from None


def _read_toml(path: Path) -> Values:
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text, parse_float=Decimal)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _refused(f"{path}: {error}", "mend the file, or remove it") from None
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: object) -> object:
    """Lists as tuples: records hold no lists."""
    match value:
        case list():
            return tuple(_plain(item) for item in value)
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


def _refuse_unknown(values: Mapping[str, Any], before: tuple[str, ...] = ()) -> None:
    """Refuse the first key that is no setting, and no table with settings below it."""
    known = known_settings()
    for name, value in values.items():
        path = (*before, name)
        key = ".".join(path)
        if key in known:
            continue
        if not any(other.startswith(f"{key}.") for other in known):
            raise _unknown(key, known, ".".join(before))
        if not isinstance(value, Mapping):
            raise _refused(f"{key!r}: is a table", f"write [{key}] and its settings below it")
        _refuse_unknown(value, path)


def _said(environment: Mapping[str, str]) -> Iterable[tuple[Setting, str]]:
    """The settings that have a variable with something in it."""
    known = {item.variable: item for item in known_settings().values() if item.has_variable}
    for name, text in environment.items():
        if not name.startswith(PREFIX) or name in OTHERS or not text:
            continue
        if name not in known:
            raise _unknown(name, (*known, *OTHERS))
        yield known[name], text


def _put(values: Values, path: tuple[str, ...], value: object) -> None:
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value


def _unknown(key: str, known: Iterable[str], table: str = "") -> InputRefused:
    near = get_close_matches(key, tuple(known), 1, cutoff=0.6)
    hint = f"did you mean {near[0]}? " if near else ""
    return _refused(f"{key!r}: is no setting", hint + _known_beside(f"{table}." if table else ""))


def _known_beside(key: str) -> str:
    """The settings of the table that a key stands in."""
    table = key.rpartition(".")[0]
    while table:
        below = [
            name.removeprefix(f"{table}.")
            for name in known_settings()
            if name.startswith(f"{table}.")
        ]
        if below:
            names = dict.fromkeys(name.partition(".")[0] for name in below)
            return f"the settings of [{table}] are {', '.join(names)}"
        table = table.rpartition(".")[0]
    return f"the settings are {', '.join(dict.fromkeys(_tops()))}"


def _tops() -> Iterable[str]:
    return (name.partition(".")[0] for name in known_settings())


def _refused(message: str, hint: str) -> InputRefused:
    return InputRefused(message, code="SETTINGS_REFUSED", hint=hint)
