"""What a turn shows, as good Python finds it: string methods, and regular expressions where they do not do."""

from __future__ import annotations

import re
from typing import Any

import orjson

from skill import MARKER

WORDS = '"agent_message"'
BARE_MARKER = re.compile(f"^{MARKER}$", re.MULTILINE)
# A string is one token, so that brackets inside it do not count.
TOKEN = re.compile(r'[{}]|"[^"\\]*(?:\\.[^"\\]*)*"')


def look_at(text: str, is_stream: bool) -> tuple[bool, dict[str, Any] | None]:
    """Whether the agent says it is done, and its last object."""
    marker, output = False, None
    for message in assistant_texts(text) if is_stream else (text,):
        found = object_of(message)
        if found is not None:
            marker = found.pop(MARKER, None) is True or marker
            output = found
        marker = marker or (MARKER in message and BARE_MARKER.search(message) is not None)
    return marker, output


def assistant_texts(stdout: str) -> list[str]:
    """The assistant's words in what `codex exec --json` printed; rows that cannot have any are not parsed."""
    texts, at = [], stdout.find(WORDS)
    while at >= 0:
        start, end = stdout.rfind("\n", 0, at) + 1, stdout.find("\n", at)
        row = orjson.loads(stdout[start:] if end < 0 else stdout[start:end])
        if row["item"]["type"] == "agent_message":
            texts.append(row["item"]["text"])
        at = stdout.find(WORDS, end) if end >= 0 else -1
    return texts


def object_of(text: str) -> dict[str, Any] | None:
    """The whole text, else the last fenced object, else the last one in prose."""
    first, last = text.find("{"), text.rfind("}")
    if "```" in text and (found := last_fenced(text)) is not None:
        return found
    if first < 0 or last < 0:
        return None
    # Most turns have one object, and what stands between the outer braces is it.
    return parse(text[first : last + 1]) or last_balanced(text, first)


def last_fenced(text: str) -> dict[str, Any] | None:
    blocks = text.split("```")[1::2]
    objects = (parse(block[block.find("{") :]) for block in reversed(blocks) if "{" in block)
    return next((found for found in objects if found is not None), None)


def last_balanced(text: str, first: int) -> dict[str, Any] | None:
    depth, start, found = 0, 0, None
    for token in TOKEN.finditer(text, first):
        letter = text[token.start()]
        if letter == "{":
            if depth == 0:
                start = token.start()
            depth += 1
        elif letter == "}" and depth > 0:
            depth -= 1
            if depth == 0 and token.end() - start > 2:
                found = parse(text[start : token.end()]) or found
    return found


def parse(text: str) -> dict[str, Any] | None:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
