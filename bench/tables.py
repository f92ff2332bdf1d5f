"""Results as tables of texts, ratios first; shown on a terminal and in the docs."""

from __future__ import annotations

from typing import Any

from contenders import CONTENDERS, PEERS_OF
from others import STEPS

Results = dict[str, Any]
Table = list[list[str]]
TURNLATCH = [contender.name for contender in CONTENDERS if contender.role == "turnlatch"]
NAMES = [contender.name for contender in CONTENDERS]


def duration(nanoseconds: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{digits(nanoseconds / size)} {unit}"
    return f"{nanoseconds:.0f} ns"


def digits(number: float) -> str:
    """Two digits that mean something, or all before the point."""
    return f"{number:.2f}" if number < 1 else f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def targets(results: Results) -> Table:
    rows = [["", "target", "middle", "worst", "cases that hold", "met"]]
    for line in results["targets"]:
        worst = f"{digits(line['worst'])} {line['unit']}" + (f" ({line['worst_case']})" if line["cases"] > 1 else "")
        middle = f"{digits(line['middle'])} {line['unit']}"
        held = f"{line['held']} of {line['cases']}"
        rows.append([line["runtime"], line["target"], middle, worst, held, "yes" if line["met"] else "**no**"])
    return rows


def turns(results: Results) -> Table:
    rows = [["turn", *NAMES]]
    for name, turn in results["turns"].items():
        rows.append([name, *(shown(turn["results"].get(who)) for who in NAMES)])
    return rows


def shown(result: dict[str, Any] | None) -> str:
    if result is None:
        return "–"
    if "best_ns" not in result:
        return str(result["decision"])
    return duration(result["best_ns"]) + (", wrong" if result["decision"] == "wrong" else "")


def steps(results: Results) -> Table:
    present = [who for who in NAMES if any(who in results["steps"][what] for what in results["steps"])]
    rows = [["", *present]]
    for what, (_, title) in STEPS.items():
        rows.append([title, *(shown(results["steps"].get(what, {}).get(who)) for who in present)])
    return rows


def memory(results: Results) -> Table:
    rows = [["", "the first run, with what all share", "runs", "bytes a run"]]
    for who, counts in results["memory"].items():
        first = counts.get("1", {}).get("bytes", 0)
        for runs, told in counts.items():
            if runs != "1":
                rows.append([who, f"{first / 1e6:.1f} MB", f"{int(runs):,}", f"{told['bytes_a_run']:,.0f}"])
    return rows


def cold_starts(results: Results) -> Table:
    rows = [["", "first line to first decision", "the whole process"]]
    for who, told in results["cold_starts"].items():
        rows.append([who, duration(told["best_ns"]), duration(told["process_best_ns"])])
    return rows


def sizes(results: Results) -> Table:
    rows = [["", "raw", "gzip", "brotli"]]
    for name, told in results["sizes"]["browser"].items():
        rows.append([name, *(f"{told[form]:,}" for form in ("raw", "gzip", "brotli"))])
    rows.append(["wheel", f"{results['sizes']['wheel']:,}", "", ""])
    unpacked, packed = results["sizes"]["npm_unpacked"], results["sizes"]["npm"]
    rows.append(["npm package", f"{unpacked:,}", f"{packed:,}", ""])
    return rows


def faster_peers(results: Results) -> Table:
    """Every turn or step in which somebody who decides rightly is faster than turnlatch in the same runtime."""
    measured = [(turn["kind"], turn["size"], turn["results"]) for turn in results["turns"].values()]
    measured += [(STEPS[what][1], "", taken) for what, taken in results["steps"].items()]
    faster: dict[tuple[str, str, str], list[str]] = {}
    for kind, size, taken in measured:
        for ours, peers in PEERS_OF.items():
            mine = taken.get(ours, {}).get("best_ns")
            for peer in peers:
                its = taken.get(peer, {})
                if mine is not None and its.get("decision") in ("right", "not asked") and its["best_ns"] < mine:
                    times = f"{size} {mine / its['best_ns']:.1f} ×".strip()
                    faster.setdefault((ours, peer, kind), []).append(times)
    rows = [[*where, ", ".join(times)] for where, times in sorted(faster.items(), key=lambda entry: entry[0][:2])]
    return [["turnlatch", "peer", "turn", "how many times faster the peer is"], *rows]


def as_text(table: Table) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return "\n".join(lines).replace("**", "")


def as_markdown(table: Table) -> str:
    head, *rows = ([cell.replace("|", "\\|") for cell in row] for row in table)
    lines = ["| " + " | ".join(row) + " |" for row in ([*head], ["---"] * len(head), *rows)]
    return "\n".join(lines)
