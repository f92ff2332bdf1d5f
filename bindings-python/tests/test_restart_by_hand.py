"""The host of the README's section "Restarting by hand", killed in the middle of a turn, begins no turn twice."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from hosting import until
from test_readme import PACKAGE, blocks
from turnlatch import Skill, admit, types

# Notes its start, and which of those before it are alive (a zombie has no command line), and waits until it may go.
AGENT = """
for pid in $(cat starts 2>/dev/null); do
    test -n "$(tr -d '\\0' 2>/dev/null < /proc/$pid/cmdline)" && echo "$pid $$" >> together
done
echo $$ >> starts
while ! test -e go; do sleep 0.01; done
echo '{"answer": 42}'
"""


def host_of_the_readme() -> Any:
    (code,) = [code for _, code in blocks(PACKAGE) if "class Host" in code]
    space: dict[str, Any] = {"__name__": "readme"}
    exec(compile(code, str(PACKAGE), "exec"), space)
    return space["Host"]


async def main(folder: Path, policy: types.InterruptedTurn) -> None:
    """Starts the run, or goes on with it."""
    request: types.RunRequest = {"run_id": "r1", "engine": "test", "interrupted_turn": policy}
    known = (folder / "runs.db").exists()
    host = host_of_the_readme()(folder, ["sh", "-c", f"cd '{folder}'; {AGENT}"])
    plan = admit(Skill({}), request, engines=["test"])
    run = await (host.restart("r1") if known else host.start(plan))
    print(json.dumps(run.status_view()))


@contextmanager
def hosted(folder: Path, policy: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, __file__, str(folder), policy]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as host:
        try:
            yield host
        finally:
            host.send_signal(signal.SIGKILL)


@pytest.mark.parametrize(("policy", "starts"), [("fail", 1), ("retry", 2)])
def test_a_turn_that_was_interrupted_is_begun_as_often_as_the_policy_says(
    tmp_path: Path, policy: str, starts: int
) -> None:
    def started() -> int:
        file = tmp_path / "starts"
        return len(file.read_text().split()) if file.exists() else 0

    with hosted(tmp_path, policy):
        asyncio.run(until(lambda: started() == 1, 30))
    with hosted(tmp_path, policy) as second:
        if policy == "retry":
            asyncio.run(until(lambda: started() == 2, 30))
            (tmp_path / "go").touch()
        view = json.loads(second.communicate(timeout=30)[0])
    assert (started(), (tmp_path / "together").exists()) == (starts, False)
    if policy == "fail":
        assert (view["status"], view["error"]["code"]) == ("failed", "ORCHESTRATOR_RESTART_INTERRUPTED")
    else:
        assert (view["status"], view["data"]) == ("succeeded", {"answer": 42})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), "retry" if sys.argv[2] == "retry" else "fail"))
