"""Every JSON block of the documents is read by what would read it. The word behind ``json`` says what it shows."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest
from prometheus_client import CollectorRegistry

from conftest import StartService
from running import ROOT
from turnlatch import Run, Skill, admit, types
from turnlatch.telemetry import Metrics

PAGES = ["README.md", "docs/*.md", "examples/**/README.md", "bindings-*/README.md"]
START = 1_771_200_000_000


class Block(NamedTuple):
    """A block of a page; lines are JSON values if it shows several."""

    page: str
    line: int
    kind: str
    text: str

    @property
    def values(self) -> list[Any]:
        """What the block holds."""
        return [json.loads(line) for line in self.text.splitlines()]


def blocks_of(page: Path) -> list[Block]:
    """The JSON blocks of a page."""
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^ *```json *(.*?) *\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    name = page.relative_to(ROOT).as_posix()
    return [Block(name, text.count("\n", 0, block.start()) + 1, block[1], block[2]) for block in found]


def all_blocks() -> list[Block]:
    """Those of all pages that users read."""
    pages = {page for pattern in PAGES for page in ROOT.glob(pattern) if "node_modules" not in page.parts}
    return [block for page in sorted(pages) for block in blocks_of(page)]


BLOCKS = all_blocks()
TABLES = [block for block in BLOCKS if block.kind == "engine-table"]


def a_run() -> Run:
    """A run of the request that the spec shows."""
    [request] = next(block for block in BLOCKS if block.kind == "request").values
    skill = Skill({"execution_modes": ["auto", "interactive"]}, output_schema={"type": "object", "required": ["file"]})
    return Run.create(admit(skill, request, engines=[request["engine"]]), START)[0]


def read_request(block: Block) -> None:
    """Admission takes it."""
    assert a_run().status == "queued"
    assert len(block.values) == 1


def read_events(block: Block) -> None:
    """A run takes them, one after the other; late ones are absorbed."""
    run = a_run()
    for event in block.values:
        run.apply(event, START)
    assert run.status == "canceled"


def read_effects(block: Block) -> None:
    """The core knows each of them, though this run may not owe it."""
    run = a_run()
    for effect in block.values:
        assert run.due(effect)["perform"] in ("now", "later", "never")


def read_receipt(block: Block) -> None:
    """A reply that comes after the automatic decision gets the same, at another time."""
    run = a_run()
    run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, START)
    run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which file?"}, START)
    deadline = START + 600_000  # as the request says
    run.apply({"type": "timer_fired", "interaction_id": 1}, deadline)
    run.apply({"type": "slot_granted", "slot_id": "r1/s2"}, deadline)
    receipt = cast("dict[str, Any]", run.reply(1, "the second", deadline).receipt)
    [shown] = block.values
    receipt["resolved"]["resolved_at"] = shown["resolved"]["resolved_at"]
    assert {**receipt, "revision": shown["revision"]} == shown


def read_observation(block: Block) -> None:
    """The metrics take it."""
    registry = CollectorRegistry()
    observation = cast("types.Observation", json.loads(block.text))
    Metrics(registry, lambda: {}).observe(observation)
    labels = {"outcome": "waiting_user", "rule": "GATE-7"}
    assert registry.get_sample_value("turnlatch_decisions_total", labels) == 1
    assert set(observation) <= set(types.Observation.__annotations__)


READERS: dict[str, Callable[[Block], None]] = {
    "request": read_request,
    "events": read_events,
    "effects": read_effects,
    "receipt": read_receipt,
    "observation": read_observation,
}


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_is_what_it_says(block: Block) -> None:
    if block.kind == "engine-table":
        assert list(json.loads(block.text)) == ["engines"]  # and the services read it, below
    else:
        READERS[block.kind](block)


def test_services_take_the_documented_engine_tables(start_service: StartService, tmp_path: Path) -> None:
    assert len(TABLES) >= 2
    for number, block in enumerate(TABLES):
        table = tmp_path / f"engines-{number}.json"
        table.write_text(block.text, encoding="utf-8")
        service = start_service("--engines", str(table))
        assert service.get("/v1/skills").json()["engines"] == sorted(json.loads(block.text)["engines"]), block
