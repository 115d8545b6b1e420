"""The tables of back ends, alerts and deliveries: read, and refused with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from affidavit.application.deliveries import Destination
from affidavit.contract.errors import InputRefused
from affidavit.settings import Settings, read_settings

WHOLE = """
[outgoing]
hosts = ["127.0.0.1:9090"]
networks = ["10.0.0.0/8"]
[backends]
lookback-s = 900
[backends.prometheus.main]
url = "http://127.0.0.1:9090"
selector = '{plant="lab"}'
timeout-s = 2.5
measures = [{ name = "r", query = "up" }]
[backends.prometheus.main.credential]
bearer-env = "T"
[backends.files.logs]
signal = "logs"
paths = ["/var/log/*.jsonl"]
[alerts]
group-by = ["service"]
[delivery.destinations.ops]
type = "webhook"
url = "https://hooks.example/"
secret-env = ["KEY"]
[delivery.destinations.web]
type = "slack"
channel = "C1"
token-env = "TOKEN"
[[delivery.routes]]
match = { severity = "page" }
to = ["ops", "web"]
[[delivery.routes]]
record-only = true
"""


def read(folder: Path, text: str) -> Settings:
    (folder / "affidavit.toml").write_text(text)
    return read_settings({}, folder)


def test_every_table_is_read(tmp_path: Path) -> None:
    settings = read(tmp_path, WHOLE)
    assert settings.backends.names == (("prometheus", "main"), ("files", "logs"))
    assert settings.backends.prometheus["main"].timeout_s == 2.5
    assert settings.backends.prometheus["main"].credential.bearer_env == "T"
    assert settings.alerts.group_by == ("service",)
    plan = settings.delivery.plan()
    assert plan.destinations == (Destination("ops", "webhook"), Destination("web", "slack"))
    route = plan.route_of({"severity": "page"})
    assert route is not None
    assert route.to == ("ops", "web")
    other = plan.route_of({})
    assert other is not None
    assert other.record_only


@pytest.mark.fault("R70", "F25")
@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('type = "slack"', 'type = "pagerduty"', "delivery.destinations.web"),
        ('type = "slack"', "", "delivery.destinations.web"),
        ('to = ["ops", "web"]', 'to = ["nobody"]', "delivery"),
        ('url = "http://127.0.0.1:9090"', "", "backends.prometheus.main.url"),
        ('signal = "logs"', 'signal = "log"', "backends.files.logs.signal"),
        ("timeout-s = 2.5", "timeout-s = 500", "backends.prometheus.main.timeout-s"),
        ("timeout-s = 2.5", "time-out = 2", "backends.prometheus.main.time-out"),
        ("'{plant=\"lab\"}'", "'plant'", "backends.prometheus.main.selector"),
        ("10.0.0.0/8", "10.0.0.0/99", "outgoing.networks"),
        ("[backends.files.logs]", "[backends.splunk.logs]", "backends.splunk"),
    ],
)
def test_what_does_not_fit_refuses_the_start_and_names_the_key(
    tmp_path: Path, old: str, new: str, place: str
) -> None:
    assert old in WHOLE
    with pytest.raises(InputRefused) as refused:
        read(tmp_path, WHOLE.replace(old, new, 1))
    assert refused.value.code == "SETTINGS_REFUSED"
    assert place in refused.value.message
