"""What a run remembers, and what is done on the way, for peers whose transitions are made by a library."""

from __future__ import annotations

from typing import Any

from evidence import look_at


class Conversation:
    """A library calls ``on_grant`` and the others as part of the transition that is named so."""

    def __init__(self) -> None:
        self.attempt, self.pending, self.history, self.output = 0, None, [], None
        super().__init__()

    @classmethod
    def create(cls) -> Conversation:
        return cls()

    def slot_granted(self) -> None:
        self.grant()

    def turn_finished(self, text: str, is_stream: bool) -> None:
        marker, output = look_at(text, is_stream)
        if output is not None and self.is_valid(output):
            self.complete(output=output)
        elif marker:
            self.fail()
        else:
            self.ask(text=text)

    def reply(self, response: str) -> None:
        self.answer(response=response)

    def on_grant(self) -> None:
        self.attempt += 1

    def on_complete(self, output: dict[str, Any]) -> None:
        self.output = output

    def on_ask(self, text: str) -> None:
        self.pending = {"interaction_id": self.attempt, "prompt": text[-16_384:]}

    def on_answer(self, response: str) -> None:
        self.history.append({**self.pending, "response": response})
        self.pending = None
