"""Starts the Python job service with the demo skill, makes an interactive run and tells what happens to it.

usage: demo.py [--exit] [--agent NAME] [--engine dbos]

With --exit the question is answered by itself and everything ends with the run. --agent names an engine of
engines.json, such as codex or claude, whose program and key are yours; without it a script stands in for the agent.
--engine is handed on to the service, which finds the database for it in TURNLATCH_DATABASE_URL, or uses a file.

The answer comes from this terminal or from the console in a browser, whichever is first. Ctrl-C ends the service.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from turnlatch import display_text

OWN_ANSWER = "moving-house.md"
COLOURS = {"user": "36", "agent": "35", "tool": "2", "host": "2", "timer": "33", "result": "32"}


class Terminal:
    """Prints the timeline, in colour if somebody is watching."""

    def __init__(self) -> None:
        self._colour = sys.stdout.isatty()
        self._begin = time.monotonic()

    def tell(self, who: str, text: str) -> None:
        """One thing that happened; further lines are set below it."""
        first, *more = display_text(text).splitlines() or [""]
        name = f"\x1b[{COLOURS.get(who, '0')}m{who:<7}\x1b[0m" if self._colour else f"{who:<7}"
        print(f"{time.monotonic() - self._begin:6.1f} s  {name} {first}")
        for line in more:
            print(" " * 18 + line)
        sys.stdout.flush()


class Client:
    """The few requests of the API that a terminal needs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> Any:
        """GET, as data."""
        with urllib.request.urlopen(self.url + path) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """POST; an error is data too."""
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def events(self, run_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """What happens to the run and what its agent says, as it happens, to the run's end."""
        kind = ""
        with urllib.request.urlopen(f"{self.url}/v1/jobs/{run_id}/events") as stream:
            for line in stream:
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value)


def main() -> int:
    options = argparse.ArgumentParser(usage="demo.py [--exit] [--agent NAME] [--engine dbos]")
    options.add_argument("--exit", action="store_true")
    options.add_argument("--agent", default="scripted")
    options.add_argument("--engine", default="embedded")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="turnlatch-demo-") as data:
        service = start_service(data, given.engine)
        try:
            return run_demo(service, given.agent, given.exit)
        except KeyboardInterrupt:
            print("\nThe service is stopped.")
            return 0
        finally:
            service.terminate()
            service.wait()


def start_service(data: str, engine: str) -> subprocess.Popen[str]:
    """Any free port will do: the demo may run beside a service, or beside another demo."""
    command = [sys.executable, "-m", "turnlatch_service", "--data", data, "--port", "0", "--engine", engine]
    # A session of its own: Ctrl-C is for the demo, which then ends the service.
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )


def run_demo(service: subprocess.Popen[str], agent: str, answers_itself: bool) -> int:
    assert service.stdout is not None, "it is a pipe"
    listening = service.stdout.readline().strip()
    if not listening:
        print("the service did not start; `python -m turnlatch_service` says why", file=sys.stderr)
        return 1
    client, terminal = Client(listening.removeprefix("listening on ")), Terminal()
    print(f"The console: {client.url}/\n")
    # The agent works in a folder beside its copy of the skill.
    notes = {"folder": "../skill/notes"}
    made = client.post(
        "/v1/jobs", {"skill": "choose-file", "engine": agent, "execution_mode": "interactive", "input": notes}
    )
    if "error" in made:
        print(made["error"]["message"], file=sys.stderr)
        return 1
    run_id = made["run_id"]
    if not answers_itself:
        threading.Thread(target=take_answers, args=(client, terminal, run_id), daemon=True).start()
    for kind, step in client.events(run_id):
        if kind == "said":
            say(step["pieces"], terminal)
        if kind != "step":
            continue
        show(step, terminal)
        if step["status"] == "waiting_user":
            ask(client, terminal, run_id)
            if answers_itself:
                reply(client, terminal, run_id, OWN_ANSWER)
    view = client.get(f"/v1/jobs/{run_id}")
    tell_end(client, terminal, view)
    if answers_itself:
        return 0 if view["status"] == "succeeded" else 1
    print(f"\nThe run and its timeline are in the console: {client.url}/\nCtrl-C ends the service.")
    service.wait()
    return 0


def say(pieces: list[dict[str, Any]], terminal: Terminal) -> None:
    """The agent's words as they come, and what its tools print."""
    for piece in pieces:
        if piece["text"].strip():
            terminal.tell(piece["role"] if piece["role"] == "tool" else "agent", f"says: {piece['text'].strip()}")


def show(step: dict[str, Any], terminal: Terminal) -> None:
    terminal.tell(step["by"], f"{step['event'].replace('_', ' ')} -> {step['status']}: {step['reason']}")
    if "response" in step:
        terminal.tell(step["by"], f"answers: {step['response']}")


def ask(client: Client, terminal: Terminal, run_id: str) -> None:
    question = client.get(f"/v1/jobs/{run_id}/interaction/pending")["pending"]
    if question is not None:
        options = "".join(f"\n  - {option['label']}" for option in question["options"])
        terminal.tell("agent", f"asks: {question['prompt']}{options}\n(answer here and press Enter, or in the console)")


def take_answers(client: Client, terminal: Terminal, run_id: str) -> None:
    """Every line that is typed answers the question that is pending then."""
    for line in sys.stdin:
        # The service may be gone by the time somebody types.
        with suppress(OSError):
            reply(client, terminal, run_id, line.strip())


def reply(client: Client, terminal: Terminal, run_id: str, answer: str) -> None:
    question = client.get(f"/v1/jobs/{run_id}/interaction/pending")["pending"]
    if question is None:
        terminal.tell("host", "nobody is asking just now")
        return
    body = {"interaction_id": question["interaction_id"], "response": answer}
    told = client.post(f"/v1/jobs/{run_id}/interaction/reply", body)
    if "error" in told:
        terminal.tell("host", f"{told['error']['code']}: {told['error']['message']}")


def tell_end(client: Client, terminal: Terminal, view: dict[str, Any]) -> None:
    why = client.get(f"/v1/jobs/{view['run_id']}/explanation")["reason"]
    lines = [f"{view['status']}: {why}"]
    for name, value in view.get("data", {}).items():
        lines.append(f"  {name}: {value if isinstance(value, str) else ', '.join(value)}")
    if view["status"] == "succeeded":
        lines.append('(The note had {"__SKILL_DONE__": true} in it. What a tool prints never ends a run.)')
    terminal.tell("result", "\n".join(lines))


if __name__ == "__main__":
    sys.exit(main())
