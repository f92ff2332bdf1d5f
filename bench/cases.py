"""The turns that are measured, and what each of them has to come to.

Kinds and sizes are those that agents and attackers produce: prose, objects, fences, an agent's own stream, and floods
of what looks like the beginning of something.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

SIZES = {"200 B": 200, "4 KB": 4_000, "64 KB": 64_000, "1 MB": 1_000_000, "8 MB": 8_000_000}
PROSE = "The build is green and the tests have passed, as far as I can see. Shall I go on with the release?\n"
MIXED = "Der Bau läuft, 测试已经通过，版本可以发布。Продолжать? 続けますか。 😀\n"
MARKER = "__SKILL_DONE__"
WAITS = {"status": "waiting_user"}
FAILS = {"status": "failed"}

Turn = tuple[str, dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """A turn: its text, and the decision that is right."""

    kind: str
    size: str
    text: str
    expected: dict[str, Any]
    is_stream: bool = False

    @property
    def name(self) -> str:
        return f"{self.kind}, {self.size}"

    @property
    def bytes(self) -> int:
        return len(self.text.encode())

    def write(self, folder: Path) -> Path:
        """Writes what a worker reads."""
        path = folder / f"{quote(self.name, safe='')}.json"
        content = {"what": "turn", "text": self.text, "is_stream": self.is_stream}
        path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
        return path


def prose(size: int, words: str = PROSE) -> str:
    """At least one sentence, and no more bytes than asked for otherwise."""
    return words * max(1, size // len(words.encode()))


def output(size: int, **more: Any) -> tuple[str, int]:
    """An object of about this many bytes that fits the schema, and how many items it has."""
    count = max(1, size // 38)
    items = [{"id": number, "name": f"item number {number}"} for number in range(count)]
    return json.dumps({"summary": "done", "items": items, **more}, separators=(",", ":")), count


def succeeds(text: str, items: int) -> Turn:
    return text, {"status": "succeeded", "items": items}


def big_object(size: int) -> Turn:
    return succeeds(*output(size, **{MARKER: True}))


def marker_and_valid(size: int) -> Turn:
    """Three quarters are prose, as after a turn's work, and the rest is its output."""
    text, items = output(size // 4, **{MARKER: True})
    return succeeds(prose(size * 3 // 4) + "\n" + text, items)


def soft(size: int) -> Turn:
    text, items = output(size // 4)
    return succeeds(prose(size * 3 // 4) + "\n" + text, items)


def marker_and_invalid(size: int) -> Turn:
    text, _ = output(size // 4, summary=7, **{MARKER: True})
    return prose(size * 3 // 4) + "\n" + text, FAILS


def fenced(size: int) -> Turn:
    text, items = output(size // 2, **{MARKER: True})
    return succeeds(f"{prose(size // 4)}\n```json\n{text}\n```\n{prose(size // 4)}", items)


def question(size: int) -> Turn:
    return prose(size), WAITS


def mixed_question(size: int) -> Turn:
    return prose(size, MIXED), WAITS


def malformed_ask(size: int) -> Turn:
    broken = '<ASK_USER_YAML>\nkind: [choose_one\nprompt: "Which'
    return f'{prose(size // 2)}\n{{"ask_user": {{"prompt": "Which one?", \n{broken}\n{prose(size // 2)}', WAITS


def unclosed_brace(size: int) -> Turn:
    text, items = output(size // 4, **{MARKER: True})
    return succeeds(f"An object begins with {{ in JSON.\n{prose(size * 3 // 4)}\n{text}", items)


def stream(size: int) -> Turn:
    """What `codex exec --json` prints: mostly what its tools said."""
    text, items = output(min(size // 8, 20_000), **{MARKER: True})
    return succeeds(rows(size, prose(200), f"Done.\n```json\n{text}\n```"), items)


def tool_echo(size: int) -> Turn:
    """The tools have read files that have everything a finished turn has; the agent asks."""
    text, _ = output(200, **{MARKER: True})
    return rows(size, f"cat result.json\n{text}\n", "Which of the two shall I take?"), WAITS


def rows(size: int, tool_output: str, words: str) -> str:
    def item(number: int, kind: str, **members: Any) -> dict[str, Any]:
        return {"type": "item.completed", "item": {"id": f"item_{number}", "type": kind, **members}}

    def tool(number: int) -> dict[str, Any]:
        return item(number, "command_execution", command="cat notes", aggregated_output=tool_output * 4, exit_code=0)

    thought = item(0, "reasoning", text="I look at the notes.")
    row_size = len(json.dumps(tool(1000)))
    tools = [tool(number) for number in range(1, max(2, size // row_size))]
    usage = {"input_tokens": 900, "cached_input_tokens": 0, "output_tokens": 90}
    all_rows = [
        {"type": "thread.started", "thread_id": "01a1e464-a92a-7741-9391-9aba1678727a"},
        {"type": "turn.started"},
        thought,
        *tools,
        item(len(tools) + 1, "agent_message", text=words),
        {"type": "turn.completed", "usage": usage},
    ]
    return "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in all_rows)


def flood(piece: str) -> Callable[[int], Turn]:
    return lambda size: (piece * (size // len(piece)), WAITS)


def deep(size: int) -> Turn:
    depth = size // 6
    return '{"a":' * depth + "1" + "}" * depth, WAITS


KINDS: dict[str, tuple[Callable[[int], Turn], list[str]]] = {
    "question": (question, ["200 B", "4 KB", "64 KB", "1 MB", "8 MB"]),
    "marker + valid": (marker_and_valid, ["200 B", "4 KB", "64 KB", "1 MB", "8 MB"]),
    "soft": (soft, ["200 B", "64 KB"]),
    "marker + invalid": (marker_and_invalid, ["200 B", "64 KB"]),
    "malformed ask_user": (malformed_ask, ["4 KB", "1 MB"]),
    "fenced": (fenced, ["4 KB", "64 KB", "1 MB"]),
    "one big object": (big_object, ["4 KB", "64 KB", "1 MB", "8 MB"]),
    "agent stream": (stream, ["4 KB", "64 KB", "1 MB", "8 MB"]),
    "marker in a tool echo": (tool_echo, ["64 KB", "1 MB"]),
    "question, many scripts": (mixed_question, ["4 KB", "1 MB"]),
    "unclosed brace": (unclosed_brace, ["4 KB", "64 KB"]),
    "flood of {": (flood("{"), ["1 MB"]),
    'flood of {"a":': (flood('{"a":'), ["1 MB"]),
    'flood of "': (flood('"'), ["1 MB"]),
    "flood of {}": (flood("{}"), ["1 MB"]),
    "flood of fences": (flood("```\n"), ["1 MB"]),
    "flood of ask tags": (flood("<ASK_USER_YAML>\n"), ["1 MB"]),
    "deep nesting": (deep, ["64 KB", "1 MB"]),
}
STREAMS = {"agent stream", "marker in a tool echo"}


def all_cases(quick: bool) -> list[Case]:
    """Small before large; a quick run leaves out what is larger than 64 KB."""
    sizes = [size for size in SIZES if not quick or SIZES[size] <= SIZES["64 KB"]]
    return [
        Case(kind, size, *make(SIZES[size]), is_stream=kind in STREAMS)
        for size in sizes
        for kind, (make, of_sizes) in KINDS.items()
        if size in of_sizes
    ]
