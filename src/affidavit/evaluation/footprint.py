"""How much memory a case took at its peak: ours and its query process's, as Linux counts it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

OWN: Final = "self"


def reset_peak() -> None:
    """Forget our own peak so far, where the kernel allows it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mb(*processes: int | None) -> float | None:
    """The peaks of this process and of those, added up, in MB; None where nobody tells."""
    peaks = [_peak_kb(OWN), *(_peak_kb(str(pid)) for pid in processes if pid is not None)]
    known = [peak for peak in peaks if peak is not None]
    return sum(known) * 1024 / 1e6 if len(known) == len(peaks) else None


def _peak_kb(process: str) -> int | None:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    for line in status.splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    return None
