"""What agents say while their turns are under way: in memory, for people who look on, and kept nowhere else."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from turnlatch.types import Piece, Said

from .store import Changes

_KEPT_BYTES = 64 * 1024


class Words:
    """The words of every turn that is under way."""

    def __init__(self) -> None:
        self.changes = Changes()
        self._turns: dict[str, _Turn] = {}

    def take(self, said: Said) -> None:
        """Keeps what an agent said just now."""
        run_id, attempt = said["run_id"], said["attempt_number"]
        turn = self._turns.get(run_id)
        if turn is None or turn.attempt_number != attempt:
            turn = self._turns[run_id] = _Turn(attempt)
        turn.add(said["pieces"])
        self.changes.tell(run_id)

    def forget(self, run_id: str) -> None:
        """The run's turn is over."""
        self._turns.pop(run_id, None)

    def listener(self, run_id: str) -> Listener:
        """Somebody who begins to listen to a run."""
        return Listener(self._turns, run_id)


class Listener:
    """A place in what is said in a run. Nothing is kept for somebody who listens slowly but this place."""

    def __init__(self, turns: dict[str, _Turn], run_id: str) -> None:
        self._turns = turns
        self._run_id = run_id
        self._turn: _Turn | None = None
        self._place = 0

    def news(self, attempt_number: int) -> dict[str, Any] | None:
        """What was said in this turn since the last call, as an event's data. ``from_start`` says that it is all that
        is kept of the turn: the listener is new to it, or has missed words that are gone by now."""
        turn = self._turns.get(self._run_id)
        if turn is None or turn.attempt_number != attempt_number:
            return None
        from_start = turn is not self._turn or self._place < turn.begin
        pieces = turn.after(turn.begin if from_start else self._place)
        self._turn, self._place = turn, turn.end
        return {"attempt_number": attempt_number, "from_start": from_start, "pieces": pieces} if pieces else None


@dataclass
class _Message:
    number: int
    role: str
    begin: int
    text: str = ""

    @property
    def end(self) -> int:
        return self.begin + len(self.text)


class _Turn:
    """The last words of one turn. A place among them is the number of characters that were said before it."""

    def __init__(self, attempt_number: int) -> None:
        self.attempt_number = attempt_number
        self._messages: deque[_Message] = deque()
        self._bytes = 0

    @property
    def begin(self) -> int:
        """Where what is kept begins."""
        return self._messages[0].begin

    @property
    def end(self) -> int:
        """Where the next word will stand."""
        return self._messages[-1].end if self._messages else 0

    def add(self, pieces: list[Piece]) -> None:
        """Joins pieces to their messages, and drops the oldest if that is too much."""
        for piece in pieces:
            last = self._messages[-1] if self._messages else None
            if last is None or (last.number, last.role) != (piece["message"], piece["role"]):
                last = _Message(piece["message"], piece["role"], self.end)
                self._messages.append(last)
            last.text += piece["text"]
            self._bytes += len(piece["text"].encode())
        while self._bytes > _KEPT_BYTES and len(self._messages) > 1:
            self._bytes -= len(self._messages.popleft().text.encode())
        if self._bytes > _KEPT_BYTES:
            [message] = self._messages
            end = message.end
            # The first character may have been cut in two; then it goes too.
            message.text = message.text.encode()[-_KEPT_BYTES:].decode(errors="ignore")
            message.begin = end - len(message.text)
            self._bytes = len(message.text.encode())

    def after(self, place: int) -> list[Piece]:
        """What stands behind a place, one piece for each message."""
        return [
            {"message": message.number, "role": message.role, "text": message.text[max(0, place - message.begin) :]}
            for message in self._messages
            if message.end > place
        ]
