"""py-plain: orjson, jsonschema-rs and an `if` chain; the best that Python does without a library for machines."""

from __future__ import annotations

import jsonschema_rs
import orjson

from evidence import look_at
from peer import Peer
from skill import SCHEMA

is_valid = jsonschema_rs.validator_for(SCHEMA).is_valid


class PlainRun:
    __slots__ = ("attempt", "history", "output", "pending", "status")

    def __init__(self, status="queued", attempt=0, pending=None, history=None, output=None):
        self.status = status
        self.attempt = attempt
        self.pending = pending
        self.history = [] if history is None else history
        self.output = output

    @classmethod
    def create(cls):
        return cls()

    def slot_granted(self):
        if self.status == "queued":
            self.status = "running"
            self.attempt += 1

    def turn_finished(self, text, is_stream):
        if self.status != "running":
            return
        marker, output = self.look_at(text, is_stream)
        if output is not None and self.is_valid(output):
            self.status, self.output = "succeeded", output
        elif marker:
            self.status = "failed"
        else:
            self.status = "waiting_user"
            self.pending = {"interaction_id": self.attempt, "prompt": text[-16_384:]}

    def reply(self, response):
        if self.status == "waiting_user":
            self.history.append({**self.pending, "response": response})
            self.pending, self.status = None, "queued"

    look_at = staticmethod(look_at)
    is_valid = staticmethod(is_valid)

    def to_json(self):
        return orjson.dumps([self.status, self.attempt, self.pending, self.history, self.output])

    @classmethod
    def from_json(cls, text):
        return cls(*orjson.loads(text))


peer = Peer(PlainRun)
prepare, memory_of = peer.prepare, peer.memory_of
