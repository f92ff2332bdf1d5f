"""Who takes part: turnlatch in every runtime, its peers, the limit of its parts, and the machine's memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = ROOT / "target/bench"
NATIVE = ROOT / "target/release/bench-worker"
PYTHON = BUILT / "python/bin/python"
WASM_LIMIT = ROOT / "target/wasm-speed/wasm32-unknown-unknown/wasm/turnlatch_bench_limit.wasm"
# It stands where Node finds the packages it needs.
CHROMIUM = ROOT / "bindings-wasm/build/bench-chromium.mjs"


@dataclass(frozen=True)
class Contender:
    """A program that speaks the protocol."""

    name: str
    role: str
    about: str
    command: tuple[str, ...]
    # Some take a millisecond to make a run; what a run takes does not depend on how many there are.
    runs: tuple[int, ...] = (1, 100_000)
    has_cold_start: bool = True
    # Engines of JavaScript find out while they run what is worth compiling well.
    compiles_on_the_way: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **self.variables}


def native(name: str, role: str, about: str, **more: object) -> Contender:
    return Contender(name, role, about, (str(NATIVE), name), **more)  # type: ignore[arg-type]


def in_python(name: str, role: str, about: str, **more: object) -> Contender:
    program = ROOT / "bench/workers/python/worker.py"
    return Contender(name, role, about, (str(PYTHON), str(program), name), **more)  # type: ignore[arg-type]


def in_node(name: str, role: str, about: str, **more: object) -> Contender:
    program = ROOT / "bench/workers/js/node.mjs"
    variables = {"BENCH_LIMIT_WASM": str(WASM_LIMIT)}
    more |= {"compiles_on_the_way": True, "variables": variables}
    return Contender(name, role, about, ("node", "--expose-gc", str(program), name), **more)  # type: ignore[arg-type]


CONTENDERS = [
    native("rust", "turnlatch", "the core, called by a Rust host", runs=(1, 100_000, 1_000_000)),
    in_python("python", "turnlatch", "the wheel, release build"),
    in_node("node", "turnlatch", "the npm package in Node, text as a string"),
    Contender(
        "chromium",
        "turnlatch",
        "the npm package in a page, the small build that browsers download",
        ("node", str(CHROMIUM), "chromium"),
        # What a browser tells of a page's memory leaves that of wasm out.
        runs=(),
        compiles_on_the_way=True,
        variables={"BENCH_ROOT": str(ROOT)},
    ),
    native("rust-limit", "limit", "memchr + serde_json + jsonschema, no lifecycle", has_cold_start=False, runs=()),
    in_node("wasm-limit", "limit", "the same in wasm under Node, text as a string", has_cold_start=False, runs=()),
    in_node("wasm-limit, bytes", "limit", "the same, text as bytes", has_cold_start=False, runs=()),
    in_python("py-plain", "peer", "orjson + jsonschema-rs and an `if` chain"),
    in_python("py-tr", "peer", "transitions + orjson + fastjsonschema", runs=(1, 10_000)),
    in_python("py-sm", "peer", "python-statemachine + orjson + jsonschema-rs", runs=(1, 5_000)),
    # Its runs are those of py-plain, and take milliseconds to be made to wait.
    in_python("py-reference", "peer", "regular expressions + json + jsonschema, a machine by hand", runs=()),
    in_node("xstate+ajv", "peer", "XState 5 + Ajv 2020, compiled once", runs=(1, 20_000)),
    native("memory-scan", "machine", "memchr over the text, finding nothing", has_cold_start=False, runs=()),
    native("memory-copy", "machine", "a copy of the text", has_cold_start=False, runs=()),
]
BY_NAME = {contender.name: contender for contender in CONTENDERS}
# Who could be used instead of whom.
PEERS_OF = {
    "python": ["py-plain", "py-tr", "py-sm", "py-reference"],
    "node": ["xstate+ajv"],
}
