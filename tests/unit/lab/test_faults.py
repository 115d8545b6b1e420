"""The fault table: every row names what exists, and no row tells on itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import pytest

from affidavit.lab.faults import FAULTS, Act, Delay, Deploy, Do, Fault, Kill, Restart
from affidavit.lab.nodes.__main__ import PROGRAMS
from affidavit.lab.nodes.node import Node, NodeSpec
from affidavit.lab.plant import PLANTS, Component, Plant

BROKEN = tuple(fault for fault in FAULTS.values() if fault.component)
WANTED = frozenset(
    "slow_query lock pool_exhaustion error_burst dependency_down cpu_burn memory_leak bad_deploy "
    "config_error slow_edge cache_gone poison_message healthy recovered red_herring".split()
)


def every_do(fault: Fault) -> tuple[Do, ...]:
    return tuple(step.do for step in (*fault.steps, *fault.ending, *fault.innocent))


@contextmanager
def started(component: Component, folder: Path, **settings: object) -> Iterator[Node]:
    """The component's program as its process would build it, without serving."""
    small = {"orders": 10, "lines": 10} if component.program == "database" else {}
    spec = NodeSpec(
        name=component.name,
        instance=f"{component.name}-1",
        program=component.program,
        version=component.version,
        port=0,
        folder=str(folder),
        settings=dict(component.settings) | small | settings,
        upstreams=dict.fromkeys(component.calls, 1),
    )
    node = Node(spec)
    PROGRAMS[component.program](node)
    yield node
    node.telemetry.close()


def test_the_table_has_every_kind_of_fault_and_window() -> None:
    """What the lab promises to be able to break, and the windows in which nothing is broken."""
    assert set(FAULTS) == WANTED


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_every_step_names_a_component_of_the_plant(fault: Fault) -> None:
    """A step that names nothing would fail only minutes into a recording."""
    plant = PLANTS[fault.plant]
    if fault.component:
        plant.component(fault.component)
    for do in every_do(fault):
        match do:
            case Deploy(component=name) | Act(component=name) | Kill(name) | Restart(name, _):
                plant.component(name)
            case Delay(caller, callee, _):
                assert fault.link == (caller, callee)
                assert callee in plant.component(caller).calls
            case _:
                pass


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_every_setting_and_action_is_known_to_its_program(fault: Fault, tmp_path: Path) -> None:
    """The programs themselves accept what the table asks of them."""
    plant = PLANTS[fault.plant]
    for number, do in enumerate(every_do(fault)):
        folder = tmp_path / str(number)
        folder.mkdir()
        match do:
            case Deploy(name, _, _, settings):
                with started(plant.component(name), folder, **settings) as node:
                    assert settings.items() <= node.settings.items()
            case Act(name, "set", order):
                with started(plant.component(name), folder) as node:
                    reply = node.answer("POST", "/-/set", json.dumps(order).encode(), None)
                assert reply.status == HTTPStatus.OK, reply.payload
            case Act(name, action, _):
                with started(plant.component(name), folder) as node:
                    assert action in node.actions
            case _:
                pass


def test_a_setting_that_a_program_does_not_know_is_refused(tmp_path: Path) -> None:
    """A typing error in the table cannot pass for a change."""
    with started(PLANTS["pair"].component("orders"), tmp_path) as node:
        reply = node.answer("POST", "/-/set", b'{"lines_in_historie": true}', None)
    assert reply.status == HTTPStatus.BAD_REQUEST
    assert b"lines_in_historie" in reply.payload


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault.name)
def test_the_change_log_never_names_the_fault(fault: Fault) -> None:
    """What is written down when something changes is what its author believed, not the answer."""
    assert fault.steps
    for do in every_do(fault):
        note = getattr(do, "note", "")
        assert fault.name not in note
        assert fault.name.replace("_", " ") not in note
        assert fault.notes not in note


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_a_window_without_a_faulty_component_has_no_guilty_step(fault: Fault) -> None:
    """Truth and steps agree about whether anything is broken."""
    assert bool(fault.steps) == bool(fault.component)
    assert not fault.ending or fault.steps


def test_most_faults_come_with_an_innocent_change() -> None:
    """Correlation with a change must never suffice, so a recording has one that is innocent."""
    assert all(fault.innocent for fault in BROKEN)


@pytest.mark.parametrize("plant", PLANTS.values(), ids=lambda plant: plant.name)
def test_a_plant_starts_its_components_after_those_that_they_call(plant: Plant) -> None:
    """The order of the components is the order of starting."""
    seen: set[str] = set()
    for component in plant.components:
        assert set(component.calls) <= seen
        seen.add(component.name)
    assert plant.edge in seen
    with pytest.raises(KeyError, match="it has"):
        plant.component("nowhere")


def test_the_topology_names_every_edge_of_the_plant() -> None:
    """`topology.json` is the plant's own table in the incident folder's words."""
    topology = PLANTS["pair"].topology()
    assert [node["name"] for node in topology["nodes"]] == ["orders-db", "orders", "storefront"]
    assert topology["edges"] == [
        {"from": "orders", "to": "orders-db", "kind": "reads"},
        {"from": "storefront", "to": "orders", "kind": "calls"},
    ]
