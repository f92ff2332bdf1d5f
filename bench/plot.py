"""The time of a turn as a picture: a row for each turn, a mark for each contender, time by powers of ten."""

from __future__ import annotations

import math
from typing import Any
from xml.sax.saxutils import escape

from tables import duration

ROWS = [
    "question, 200 B",
    "marker + valid, 200 B",
    "marker + valid, 4 KB",
    "fenced, 4 KB",
    "agent stream, 64 KB",
    "marker + valid, 64 KB",
    "one big object, 64 KB",
    "question, 1 MB",
    "marker + valid, 1 MB",
    "agent stream, 1 MB",
    "flood of {, 1 MB",
    "one big object, 8 MB",
]
# Colour tells the language, a filled mark is turnlatch, a hollow one a peer, a bar the limit.
MARKS = {
    "rust-limit": ("rust", "bar"),
    "wasm-limit": ("js", "bar"),
    "rust": ("rust", "disc"),
    "python": ("python", "disc"),
    "node": ("js", "disc"),
    "chromium": ("js", "diamond"),
    "py-plain": ("python", "ring"),
    "py-tr": ("python", "square"),
    "py-sm": ("python", "triangle"),
    "py-reference": ("python", "kite"),
    "xstate+ajv": ("js", "square"),
}
PEERS = {"ring", "square", "triangle", "kite"}
WIDTH, LEFT, RIGHT, TOP, ROW = 960, 190, 24, 96, 40
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 }
.small { font-size: 12px; fill: #59636e }
.title { font-size: 16px; font-weight: 600 }
.ground { fill: #ffffff }
.band { fill: #f6f8fa }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.rust { --ink: #bc4c00 } .python { --ink: #0969da } .js { --ink: #1a7f37 }
.mark { fill: var(--ink); stroke: var(--ink); stroke-width: 1.8 }
.hollow { fill: none }
.bar { stroke-width: 3; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 }
.ground { fill: #0d1117 } .band { fill: #151b23 } .grid { stroke: #3d444d }
.rust { --ink: #ff9b50 } .python { --ink: #6cb6ff } .js { --ink: #57d364 }
}
"""


def svg(results: dict[str, Any]) -> str:
    turns = {name: results["turns"][name]["results"] for name in ROWS if name in results["turns"]}
    times = [taken[who]["best_ns"] for taken in turns.values() for who in MARKS if "best_ns" in taken.get(who, {})]
    first, last = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    bottom = TOP + ROW * len(turns)

    def x_of(nanoseconds: float) -> float:
        return LEFT + (math.log10(nanoseconds) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 44}" role="img">',
        "<title>The time of a turn in each runtime, beside peers and the limit</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{bottom + 44}"/>',
        '<text class="title" x="16" y="26">The time of one turn, from its text to its decision</text>',
        *legend(),
    ]
    for number, name in enumerate(turns):
        y = TOP + ROW * number
        if number % 2 == 0:
            parts.append(f'<rect class="band" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>')
        parts.append(f'<text x="{LEFT - 14}" y="{y + ROW / 2 + 4.5}" text-anchor="end">{escape(name)}</text>')
    for power in range(first, last + 1):
        x = x_of(10**power)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>')
        label = duration(10**power).replace(".0", "")
        anchor = "end" if power == last else "middle"
        parts.append(f'<text class="small" x="{x:.1f}" y="{bottom + 18}" text-anchor="{anchor}">{label}</text>')
    parts.append(f'<text class="small" x="{LEFT}" y="{bottom + 36}">each step to the right is ten times slower</text>')
    for number, taken in enumerate(turns.values()):
        middle = TOP + ROW * number + ROW / 2
        for who in MARKS:
            if "best_ns" in taken.get(who, {}):
                wrong = taken[who]["decision"] == "wrong"
                parts.append(mark(who, x_of(taken[who]["best_ns"]), middle, wrong))
    return "\n".join([*parts, "</svg>", ""])


def legend() -> list[str]:
    parts, x, y = [], 22.0, 50.0
    for who, label in {**{who: who for who in MARKS}, "rust": "turnlatch: Rust", "chromium": "Chromium"}.items():
        label = {"python": "Python", "node": "Node"}.get(label, label)
        width = 30 + 7.2 * len(label)
        if who == "py-plain":
            x, y = 22.0, 74.0
        parts.append(mark(who, x, y, False, in_row=False))
        parts.append(f'<text class="small" x="{x + 12}" y="{y + 4}">{escape(label)}</text>')
        x += width
    return parts


def mark(who: str, x: float, middle: float, wrong: bool, in_row: bool = True) -> str:
    """In a row turnlatch stands above and peers below, so that none hides the other."""
    language, shape = MARKS[who]
    y = middle + (9 if shape in PEERS else -8 if shape != "bar" else 0) * in_row
    size = 5.5
    corners = {
        "diamond": [(0, -7), (7, 0), (0, 7), (-7, 0)],
        "square": [(-size, -size), (size, -size), (size, size), (-size, size)],
        "triangle": [(0, -6.5), (6.5, 5), (-6.5, 5)],
        "kite": [(0, -7), (6, 0), (0, 7), (-6, 0)],
    }
    title = f"<title>{escape(who)}{' decides wrongly' if wrong else ''}</title>"
    if shape == "bar":
        half = 17 if in_row else 8
        kind = f"{language} mark bar"
        return f'<line class="{kind}" x1="{x:.1f}" y1="{y - half}" x2="{x:.1f}" y2="{y + half}">{title}</line>'
    kind = f"{language} mark{' hollow' if shape in PEERS else ''}"
    if wrong:
        cross = f"M{x - 5:.1f} {y - 5}l10 10m0 -10l-10 10"
        return f'<path class="{kind}" d="{cross}">{title}</path>'
    if shape in ("disc", "ring"):
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y}" r="5.5">{title}</circle>'
    points = " ".join(f"{x + right:.1f},{y + down}" for right, down in corners[shape])
    return f'<polygon class="{kind}" points="{points}">{title}</polygon>'
