"""The formats that can be imported, by the name that the command line takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import MappingProxyType
from typing import Final, TypeAlias

from affidavit.contract.errors import InputRefused
from affidavit.importers.holmes import import_holmes
from affidavit.importers.nezha import import_nezha
from affidavit.importers.nezha_quiet import import_nezha_quiet
from affidavit.importers.opensre import import_opensre
from affidavit.importers.otlp import import_otlp
from affidavit.importers.petshop import import_petshop
from affidavit.importers.rcaeval import import_rcaeval
from affidavit.importers.rootcausebench import import_rootcausebench

Importer: TypeAlias = Callable[[Path, Path], list[Path]]

FORMATS: Final[Mapping[str, Importer]] = MappingProxyType(
    {
        "nezha": import_nezha,
        "nezha-quiet": import_nezha_quiet,
        "rcaeval": import_rcaeval,
        "petshop": import_petshop,
        "opensre": import_opensre,
        "rootcausebench": import_rootcausebench,
        "holmes": import_holmes,
        "otlp": import_otlp,
    }
)


def import_incidents(format_name: str, src: Path, dst: Path) -> list[Path]:
    """Turns a foreign data set into incident folders under `dst`; returns them.

    Errors: InputRefused when the format is unknown, `src` is missing or does not hold it, or a
    folder of the same name is there already. Folders written before the error stay; the one at
    which it happened is not there.
    """
    importer = FORMATS.get(format_name)
    if importer is None:
        raise InputRefused(
            f"{format_name!r} is no known format", hint="one of " + ", ".join(sorted(FORMATS))
        )
    if not src.exists():
        raise InputRefused(f"{src} is not there")
    return importer(src, dst)


def import_apart(format_name: str, src: Path, dst: Path) -> list[Path]:
    """As `import_incidents`, in a process that is gone afterwards.

    For whoever goes on: an import's memory is not given back by the process that needed it, and
    would be counted as that of all that comes after it. Errors: as there.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as apart:
        try:
            return apart.submit(import_incidents, format_name, src, dst).result()
        except BrokenProcessPool:
            raise InputRefused(
                f"the import of {src} was ended from outside", hint="is there memory enough?"
            ) from None
