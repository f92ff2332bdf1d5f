"""What agents' command lines print, decoded by the core: as a whole, or while it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from . import _core, types


def decode_stream(stream: types.TurnStream | Mapping[str, Any]) -> types.Decoded:
    """What a whole stream says, or :class:`turnlatch.EventRejectedError`."""
    return cast("types.Decoded", _core.decode_stream(stream))


class StreamDecoder:
    """Reads a process's stream while it is written, and says what to write to the process.

    Without ``text_limit`` the assistant's text is kept however long it is; a host gives it the plan's
    ``turn_text_bytes``. A ``sticky`` process lives on after a turn: its format says when a turn is over, or the line
    ``end_of_turn`` does, and ``work_folder`` is given to those that ask. What cannot be raises
    :class:`turnlatch.EventRejectedError`.
    """

    __slots__ = ("_core",)

    def __init__(
        self,
        format: types.StreamFormat | str,
        text_limit: int | None = None,
        *,
        sticky: bool = False,
        end_of_turn: str | None = None,
        work_folder: str = "",
    ) -> None:
        lives_on = sticky or end_of_turn is not None
        self._core = _core.StreamDecoder(format, text_limit, lives_on, end_of_turn, work_folder)

    def feed(self, data: bytes | bytearray) -> types.Progress:
        """Takes the next bytes of stdout, cut anywhere, and says what they brought. When ``turn_over``, call
        :meth:`finish`, and then feed again, also nothing: the bytes may have held more than that turn."""
        return cast("types.Progress", self._core.feed(data))

    def prompt(self, text: str) -> str:
        """What to write to the process to give it a prompt, or a reply."""
        return self._core.prompt(text)

    def finish(self, stderr: str = "", exit_code: int | None = None) -> types.Decoded:
        """What the turn says, now that it is over; without ``exit_code`` the process lives on, or was ended by its
        host. The decoder of a sticky process is then ready for the next turn."""
        return cast("types.Decoded", self._core.finish(stderr, exit_code))
