"""Pages from templates, every value escaped."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

ROOM: Final = Path(__file__).parent

_TEMPLATES: Final = Environment(
    loader=FileSystemLoader(ROOM / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(name: str, **values: object) -> HTMLResponse:
    """A page. Every value is escaped."""
    return HTMLResponse(_TEMPLATES.get_template(name).render(**values))
