"""py-reference: the approach of the system that the rules come from. Regular expressions over the raw stream, `json`,
the `jsonschema` of PyPI, and a machine of its own."""

import json
import re

import jsonschema

from peer import Peer
from plain import PlainRun
from skill import MARKER, SCHEMA

DONE_MARKER = re.compile(r'\\?"__SKILL_DONE__\\?"\s*:\s*true', re.IGNORECASE)
FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
ASK_USER = re.compile(r"<ASK_USER_YAML>\s*(.*?)\s*</ASK_USER_YAML>", re.DOTALL)


class ReferenceRun(PlainRun):
    __slots__ = ()

    @staticmethod
    def look_at(text, is_stream):
        marker = DONE_MARKER.search(text) is not None
        words = assistant_text(text) if is_stream else text
        ASK_USER.search(words)
        output = find_output(words)
        if isinstance(output, dict):
            output.pop(MARKER, None)
        return marker, output

    @staticmethod
    def is_valid(output):
        try:
            jsonschema.validate(output, SCHEMA)
        except jsonschema.ValidationError:
            return False
        return True


def assistant_text(stdout):
    rows = [json.loads(line) for line in stdout.splitlines() if line.strip()]
    items = [row["item"] for row in rows if row.get("type") == "item.completed"]
    return "\n".join(item["text"] for item in items if item["type"] == "agent_message")


def find_output(words):
    candidates = [words, *FENCE.findall(words), words[words.find("{") : words.rfind("}") + 1]]
    for candidate in candidates:
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return {"error": "no JSON object was found"}


peer = Peer(ReferenceRun)
prepare, memory_of = peer.prepare, peer.memory_of
