"""What a process prints, as the text of turns: decoded as it comes, and cut at the lines that end a turn."""

from __future__ import annotations

import codecs


class TurnOutput:
    """Takes the output of one process in chunks. Where they are cut makes no difference to what comes of them.

    A turn with more than ``limit`` bytes is cut after the first character above it (``too_large``); what is not UTF-8
    ends the text in front of it (``not_utf8``). After either, nothing more is taken. With ``end_of_turn`` a line that
    is equal to it ends a turn and belongs to none.
    """

    def __init__(self, limit: int, end_of_turn: str | None = None) -> None:
        self.too_large = False
        self.not_utf8 = False
        self._limit = limit
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._end_of_turn = end_of_turn
        # A turn is kept with the line break before it (for the first one there is none, but it is put there), so that
        # its first line is found like all others. `_tail` may be the beginning of the line that ends the turn: a line
        # break and what follows. It is neither counted nor searched again before that is known.
        self._tail = "" if end_of_turn is None else "\n"
        self._parts: list[str] = []
        self._bytes = 0 if end_of_turn is None else -1

    @property
    def stopped(self) -> bool:
        """Whether nothing more is taken."""
        return self.too_large or self.not_utf8

    @property
    def text(self) -> str:
        """The text of the turn that has not ended."""
        text = "".join(self._parts) + self._tail
        return text if self._end_of_turn is None else text[1:]

    def feed(self, data: bytes, final: bool = False) -> list[str]:
        """Takes the next chunk, the last one if ``final``. Returns the texts of the turns that ended with it."""
        if self.stopped:
            return []
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            # What is in front of the fault still counts: a turn may have ended there.
            turns = self._take(error.object[: error.start].decode())
            self.not_utf8 = not self.too_large
            return turns
        return self._take(text)

    def _take(self, text: str) -> list[str]:
        if self._end_of_turn is None:
            self._keep(text)
            return []
        turns: list[str] = []
        text, self._tail = self._tail + text, ""
        line_break = "\n" + self._end_of_turn
        start = look = 0
        while (found := text.find(line_break, look)) >= 0:
            after = found + len(line_break)
            end = after + 1 if text.startswith("\r\n", after) else after
            if not text.startswith("\n", end):
                look = found + 1  # a longer line, or one that goes on in the next chunk
                continue
            self._keep(text[start : found + 1])
            if self.too_large:
                return turns
            turns.append("".join(self._parts)[1:])
            self._parts.clear()
            self._bytes = -1
            start = look = end
        tail = text.rfind("\n", start)
        if tail >= 0 and (self._end_of_turn + "\r").startswith(text[tail + 1 :]):
            self._tail = text[tail:]
            text = text[:tail]
        self._keep(text[start:])
        if self.too_large:
            self._tail = ""
        return turns

    def _keep(self, text: str) -> None:
        data = text.encode()
        room = self._limit - self._bytes
        if len(data) > room:
            self.too_large = True
            end = room + 1
            while end < len(data) and data[end] & 0xC0 == 0x80:  # the rest of a character
                end += 1
            text = data[:end].decode()
        self._bytes += len(data)
        self._parts.append(text)
