"""The targets, each as ratios of one run: how many cases hold, the middle one and the worst."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Any

from cases import SIZES

Results = dict[str, Any]
SMALL = ("200 B", "4 KB")
FROM_4_KB = ("4 KB", "64 KB", "1 MB", "8 MB")
FROM_64_KB = ("64 KB", "1 MB", "8 MB")
MICRO = 1_000.0


def all_targets(results: Results) -> list[dict[str, Any]]:
    """Every target: what is asked, what was measured, and whether it is met."""
    at_most, at_least = upper(results), lower(results)
    lines = [
        at_most("Rust", "rust", "rust-limit", 2.0, ("200 B",)),
        at_most("Rust", "rust", "rust-limit", 1.25, FROM_4_KB),
        lifecycle(results),
        waiting_runs(results),
        at_least("Python", "python", "py-tr", 5.0, SMALL),
        at_least("Python", "python", "py-sm", 50.0, SMALL),
        at_least("Python", "python", "py-plain", 1.0, FROM_4_KB),
        at_most("Python", "python", "rust-limit", 1.4, FROM_64_KB),
        on_top_of_rust(results),
        at_least("Node", "node", "xstate+ajv", 5.0, SMALL),
        at_least("Node", "node", "xstate+ajv", 2.0, ("64 KB", "1 MB"), but="one big object"),
        at_least("Node", "node", "xstate+ajv", 1.0, ("64 KB", "1 MB"), only="one big object"),
        at_most("Node", "node", "wasm-limit", 1.3, FROM_4_KB),
        at_most("Chromium", "chromium", "node", 1.3, tuple(SIZES)),
    ]
    return [line for line in lines if line is not None]


def upper(results: Results) -> Callable[..., Any]:
    def at_most(runtime: str, ours: str, other: str, bound: float, sizes: Iterable[str]) -> Any:
        ratios = ratios_of(results, ours, other, sizes)
        wanted = f"at most {bound:g} × {other}, {span(sizes)}"
        return judged(runtime, wanted, ratios, lambda ratio: ratio <= bound, max, "×")

    return at_most


def lower(results: Results) -> Callable[..., Any]:
    def at_least(
        runtime: str, ours: str, peer: str, bound: float, sizes: Iterable[str], only: str = "", but: str = ""
    ) -> Any:
        ratios = ratios_of(results, peer, ours, sizes)
        ratios = {name: ratio for name, ratio in ratios.items() if name.startswith(only)}
        if but:
            ratios = {name: ratio for name, ratio in ratios.items() if not name.startswith(but)}
        times = f"{bound:g} × faster than" if bound > 1 else "faster than"
        faster = "not slower than" if only else times
        wanted = f"{faster} {peer}, {span(sizes)}" + (f", {only}" if only else f", without {but}" if but else "")
        return judged(runtime, wanted, ratios, lambda ratio: ratio >= bound, min, "× faster")

    return at_least


def ratios_of(results: Results, one: str, other: str, sizes: Iterable[str]) -> dict[str, float]:
    """How much longer one takes than another for each turn that both decide rightly."""
    ratios = {}
    for name, turn in results["turns"].items():
        times = [turn["results"].get(who, {}) for who in (one, other)]
        if turn["size"] in sizes and all(time.get("decision") == "right" for time in times):
            ratios[name] = times[0]["best_ns"] / times[1]["best_ns"]
    return ratios


def on_top_of_rust(results: Results) -> Any:
    """What a call costs beyond the core, where the text is short enough not to matter."""
    differences = {}
    for name, turn in results["turns"].items():
        times = [turn["results"].get(who, {}).get("best_ns") for who in ("python", "rust")]
        if turn["size"] == "200 B" and None not in times:
            differences[name] = (times[0] - times[1]) / MICRO
    return judged("Python", "at most 3 µs above Rust, 200 B", differences, lambda above: above <= 3, max, "µs above")


def lifecycle(results: Results) -> Any:
    best = results["steps"].get("journal", {}).get("rust", {}).get("best_ns")
    taken = {} if best is None else {"a lifecycle": best / MICRO}
    return judged("Rust", "a full lifecycle with history and journal in 3 µs", taken, lambda took: took <= 3, max, "µs")


def waiting_runs(results: Results) -> Any:
    counts = results["memory"].get("rust", {})
    most = max(map(int, counts), default=0)
    taken = {}
    if most > 1:
        told = counts[str(most)]
        taken = {f"{most:,} runs": told["bytes_a_run"] - (told["texts_a_run"] or 0)}
    return judged("Rust", "600 bytes per waiting run besides its texts", taken, lambda took: took <= 600, max, "bytes")


def judged(
    runtime: str,
    wanted: str,
    measured: dict[str, float],
    holds: Callable[[float], bool],
    worst_of: Callable[..., str],
    unit: str,
) -> dict[str, Any] | None:
    if not measured:
        return None
    worst = worst_of(measured, key=measured.__getitem__)
    held = sum(map(holds, measured.values()))
    return {
        "runtime": runtime,
        "target": wanted,
        "held": held,
        "cases": len(measured),
        "middle": statistics.median(measured.values()),
        "worst": measured[worst],
        "worst_case": worst,
        "unit": unit,
        "met": held == len(measured),
    }


def span(sizes: Iterable[str]) -> str:
    first, *rest = list(sizes)
    return f"{first} to {rest[-1]}" if rest else first
