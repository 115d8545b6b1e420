"""Watch a running rig and act on it: measurements, alert, marks in time, and what was changed."""

from affidavit.lab.alarm import EdgeAlarm
from affidavit.lab.faults import Act, Delay, Deploy, Do, Fault, Kill, Restart, ScaleLoad, Send
from affidavit.lab.folder import write_rows
from affidavit.lab.nodes.telemetry import now_us
from affidavit.lab.rig import Rig
from affidavit.lab.scrape import Scraper
from affidavit.lab.supervisor import Supervisor


class Observation:
    """What happens on one rig, from its start to its end.

    `times_us` holds the marks `baseline`, `window`, `injected`, `ended` and `end` in epoch
    microseconds, each once; `changes` the ids of the change log's entries that belong to the
    fault. The alert learns what is usual from `baseline` to `window`, and watches from there.
    """

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.alarm = EdgeAlarm(rig.plant.edge)
        self.times_us: dict[str, int] = {}
        self.changes: list[str] = []
        self.fault: Fault | None = None
        self._scraper = Scraper(rig)
        self._supervisor = Supervisor(rig, rig.folder / "supervisor.logs.jsonl")

    def close(self) -> None:
        """Let the scraper's threads go."""
        self._scraper.close()

    def mark(self, name: str) -> None:
        """Remember now under this name, the first time."""
        self.times_us.setdefault(name, now_us())

    def measure(self) -> None:
        """One pass: supervise, scrape, write the rows down, look whether the alert fires."""
        self._supervisor.look()
        rows = self._scraper.measure()
        write_rows(self.rig.folder / "scraper.metrics.jsonl", rows)
        if "window" in self.times_us:
            self.alarm.look(rows)
        elif "baseline" in self.times_us:
            self.alarm.learn(rows)

    def act(self, do: Do, *, guilty: bool) -> None:
        """Carry one step out. Raises `RigError` when the rig does not follow."""
        event_id = self._apply(do)
        if guilty and event_id:
            self.changes.append(event_id)

    def _apply(self, do: Do) -> str | None:
        rig = self.rig
        event_id: str | None = None
        match do:
            case Deploy(component, version, note, settings):
                event_id = rig.note("deploy", component, note)
                rig.deploy(component, version, dict(settings))
            case Act(component, action, order, event_name, note):
                event_id = rig.note(event_name, component, note) if event_name else None
                rig.ask(component, action, dict(order))
            case Kill(component):
                self._supervisor.held_down.add(component)
                rig.kill(component)
            case Restart(component, note):
                event_id = rig.note("restart", component, note)
                self._supervisor.held_down.discard(component)
                rig.start(rig.running[component].component)
            case ScaleLoad(factor):
                rig.scale_load(factor)
            case Send(body):
                rig.send(dict(body))
            case Delay(caller, callee, delay_s):
                rig.delay((caller, callee), delay_s)
        return event_id
