"""The processes of contenders, and what is asked of them: a line of JSON each way."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from collections.abc import Mapping
from typing import Any

from contenders import Contender

Answer = dict[str, Any]
# Who measures prepares and lets go of much memory; without this the allocator of C would give it back to the system,
# and ask for it again inside the clock.
KEEPS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": "4000000000", "MALLOC_MMAP_THRESHOLD_": "33554432"}


class Worker:
    """A contender's process. One that is too late is ended, and begun again when it is asked the next time."""

    def __init__(self, contender: Contender, variables: Mapping[str, str] = KEEPS_MEMORY) -> None:
        self.contender = contender
        self._environment = {**contender.environment, **variables}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return self.contender.name

    def ask(self, request: Answer, patience: float) -> Answer | None:
        """The answer, or None if there is none after so many seconds."""
        process = self._started()
        assert process.stdin is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        line = self._line(process, time.monotonic() + patience)
        if line is None:
            process.kill()
            self.close()
            return None
        answer: Answer = json.loads(line)
        return answer

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._process = subprocess.Popen(self.contender.command, env=self._environment, **pipes)
        return self._process

    def _line(self, process: subprocess.Popen[bytes], until: float) -> bytes | None:
        assert process.stdout is not None
        line = b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while not line.endswith(b"\n"):
                if not selector.select(max(0.0, until - time.monotonic())):
                    return None
                piece = os.read(process.stdout.fileno(), 65_536)
                if not piece:
                    raise RuntimeError(f"{self.name} has ended")
                line += piece
        return line


def cold_start(contender: Contender, case: str) -> tuple[float, float]:
    """The nanoseconds from the program's first line to its first decision, and those of the whole process."""
    began = time.perf_counter_ns()
    command = [*contender.command, "--cold", case]
    ended = subprocess.run(command, env=contender.environment, check=True, capture_output=True)
    whole = time.perf_counter_ns() - began
    return json.loads(ended.stdout)["nanoseconds"], whole
