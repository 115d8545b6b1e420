"""Posts alerts to the service at argv[1] with the key in the file argv[2]: five of each of twenty
groups, from the sender argv[3]. As Alertmanager does, it tries again until it is answered 2xx."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import httpx2

GROUPS, EACH = 20, 5
PATIENCE_S: Final = 120.0  # bounds the wait for a service that comes back; measures nothing


def notification(number: int, sender: str) -> dict[str, Any]:
    """One webhook of version 4, with one alert."""
    group = f"s{number % GROUPS}"
    labels = {"alertname": "Slow", "service": group, "pod": f"{sender}{number}"}
    alert = {
        "status": "firing",
        "labels": labels,
        "startsAt": datetime.now(UTC).isoformat(),
        "fingerprint": f"{sender}{number:04}",
    }
    return {"version": "4", "groupKey": f'{{}}:{{service="{group}"}}', "alerts": [alert]}


def send(api: httpx2.Client, body: dict[str, Any]) -> None:
    """Once it was answered 2xx, and not before."""
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        try:
            answer = api.post("/hooks/alertmanager", json=body)
        except httpx2.TransportError:
            time.sleep(0.1)
            continue
        if answer.is_success:
            return
        if answer.status_code < 500 and answer.status_code != 429:
            raise SystemExit(f"refused: {answer.status_code} {answer.text}")
        time.sleep(0.1)
    raise SystemExit("nobody answered")


def main(url: str, key_file: str, sender: str) -> None:
    """All of them, one after the other."""
    headers = {"authorization": f"Bearer {Path(key_file).read_text().strip()}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=30.0) as api:
        for number in range(GROUPS * EACH):
            send(api, notification(number, sender))
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
