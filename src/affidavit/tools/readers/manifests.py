"""YAML, read by PyYAML's base loader: every scalar stays the text that it was written as.

Anchors and aliases are refused (a small file could say a million things); what is no YAML, or not
a mapping of several keys, is nobody's shape here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import yaml

from affidavit.tools.readers.fields import is_records

YAML_CHARS_MAX: Final = 400_000
"""A larger text is read line by line: PyYAML builds a tree of it."""

_OPENING: Final = re.compile(
    r"(?:---|[A-Za-z_][\w./-]{0,100}:(?: \S.*)?|- [A-Za-z_][\w./-]{0,100}:(?: .*)?)\s*"
)
_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_manifest(lines: Sequence[str]) -> object | None:
    """The document or list of documents that a text is in YAML, or None."""
    said = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    margin = [line for line in said if not line[0].isspace()]
    if len(said) < 2 or not all(_may_stand_at_margin(line) for line in margin[:400]):
        return None
    text = "\n".join(lines)
    if len(text) > YAML_CHARS_MAX or "\t" in text[:2_000]:
        return None
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
            return None
        documents = [one for one in yaml.load_all(text, Loader=_LOADER) if one]
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    known = [one for one in documents if _is_structured(one)]
    if not known or len(known) < len(documents):
        return None
    return known[0] if len(known) == 1 else known


def _is_structured(document: object) -> bool:
    """Whether a document is more than one line that happens to hold a colon."""
    if isinstance(document, Mapping):
        return len(document) > 1 or any(isinstance(v, (Mapping, list)) for v in document.values())
    return is_records(document)


def _may_stand_at_margin(line: str) -> bool:
    return bool(_OPENING.fullmatch(line[:2_000])) or line[0] in "-}]"
