"""The whole loop with real agent programs: the service's own engine table, a scripted model, nothing else made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from agents import ENGINES, TESTED, Agent, Model, environment, model
from running import RunningService, processes, processes_of, until

ASK = "There are a.txt and b.txt. Which file shall I take?"
FINAL = 'I have taken it.\n```json\n{"file": "b.txt", "__SKILL_DONE__": true}\n```'
ECHO = '{"__SKILL_DONE__": true, "file": "x"}'

Start = Callable[..., tuple[RunningService, Model]]


@pytest.fixture(params=TESTED, ids=lambda agent: agent.name)
def agent(request: pytest.FixtureRequest) -> Agent:
    """Each of the programs: one that tells messages as a whole, and one that tells them in pieces."""
    found: Agent = request.param
    return found


@pytest.fixture
def start(start_service: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Starts a model with its script and a service whose agents use it."""
    with ExitStack() as stack:

        def started(agent: Agent, *steps: dict[str, Any], down: bool = False) -> tuple[RunningService, Model]:
            made = stack.enter_context(model(tmp_path, list(steps)))
            # Nobody listens on port 9 of a machine of this century.
            url = "http://127.0.0.1:9" if down else made.url
            for name, value in environment(agent, tmp_path / "home", url).items():
                monkeypatch.setenv(name, value)
            service: RunningService = start_service("--engines", str(ENGINES))
            return service, made

        yield started


def create(service: RunningService, agent: Agent, **members: Any) -> str:
    return service.create("real-agent", **{"engine": agent.name, "execution_mode": "interactive", **members})


def error_of(view: dict[str, Any]) -> Any:
    return view["error"]["code"]


def test_a_turn_with_the_marker_finishes_the_run(start: Start, agent: Agent) -> None:
    service, _ = start(agent, {"text": FINAL, "chunk": 7})
    view = service.wait(create(service, agent))
    assert (view["status"], view.get("data")) == ("succeeded", {"file": "b.txt"})
    assert "INTERACTIVE_COMPLETED_WITHOUT_DONE_MARKER" not in str(view["warnings"])


def test_a_question_in_prose_waits_and_the_same_session_goes_on_with_the_reply(start: Start, agent: Agent) -> None:
    """A thought of the marker does not count."""
    thinking = {"reasoning": f"I could say {ECHO} now.", "text": ASK}
    service, asked = start(agent, thinking, {"text": FINAL})
    run_id = create(service, agent)
    waiting = service.wait(run_id, "waiting_user")
    assert waiting["status"] == "waiting_user"
    pending = service.get(f"/v1/jobs/{run_id}/interaction/pending").json()
    assert pending["pending"]["prompt"] == ASK
    assert service.held_slots() == []
    # A reply that a command line would take for an option.
    assert service.reply(run_id, 1, "--help me: the second one").status_code == 200
    view = service.wait(run_id, after=waiting["revision"])
    assert (view["status"], view.get("data")) == ("succeeded", {"file": "b.txt"})
    first, second = asked.asked()
    assert "Take one of the files" in first["last_user_text"]
    # It is a conversation that goes on, not a new one that is told of the old: the reply alone is what the user says.
    assert second["last_user_text"].strip() == "--help me: the second one"


def test_a_marker_that_a_tool_prints_does_not_count(start: Start, agent: Agent) -> None:
    """Though the words are told while the turn is under way."""
    service, _ = start(agent, {"text": "I look.", "tool": {"command": f"echo '{ECHO}'"}}, {"text": ASK})
    run_id = create(service, agent)
    said: list[dict[str, Any]] = []
    with service.events(f"/v1/jobs/{run_id}/events") as events:
        for event in events:
            if event.event == "said":
                said += event.data["pieces"]
            elif event.event == "end" or event.data["status"] == "waiting_user":
                break
    assert service.view(run_id)["status"] == "waiting_user"
    words = {role: "".join(piece["text"] for piece in said if piece["role"] == role) for role in ("assistant", "tool")}
    assert "I look." in words["assistant"]
    assert "echo" in words["tool"] and "__SKILL_DONE__" in words["tool"]
    record = service.get(f"/v1/jobs/{run_id}/record").text
    assert record.count("__SKILL_DONE__") >= 2, "the tool did print it"


@pytest.mark.parametrize(
    ("status", "code"), [(401, "AUTH_REQUIRED"), (429, "RATE_LIMITED"), (500, "MODEL_ERROR")], ids=str
)
def test_an_error_of_the_model_fails_the_run_with_its_code(start: Start, agent: Agent, status: int, code: str) -> None:
    service, _ = start(agent, *([{"status": status}] * 20))
    view = service.wait(create(service, agent))
    assert (view["status"], error_of(view)) == ("failed", code)
    assert "AGENT_SAID" in str(view["diagnostics"]), "the program's own words are kept"


def test_a_model_that_is_down_fails_the_run(start: Start, agent: Agent) -> None:
    service, _ = start(agent, down=True)
    view = service.wait(create(service, agent))
    assert (view["status"], error_of(view)) == ("failed", "MODEL_ERROR")


def test_a_cancel_in_the_middle_leaves_no_process(start: Start, agent: Agent, tmp_path: Path) -> None:
    # The length of this sleep is like no other's on the machine.
    sleep = f"sleep 31{abs(hash(str(tmp_path))) % 10**6:06}"
    service, asked = start(agent, {"tool": {"command": sleep}}, {"text": FINAL})
    run_id = create(service, agent)

    def sleeping() -> list[str]:
        return processes(lambda command, _: command.startswith(sleep))

    until(sleeping)
    assert service.post(f"/v1/jobs/{run_id}/cancel", {}).status_code == 200
    assert service.wait(run_id)["status"] == "canceled"
    until(lambda: service.held_slots() == [])
    assert sleeping() == []
    assert processes_of(service) == []
    assert len(asked.asked()) == 1


@pytest.mark.parametrize("agent", [agent for agent in TESTED if agent.lives_on], ids=lambda agent: agent.name)
def test_a_sticky_agent_takes_the_reply_in_the_process_that_asked(start: Start, agent: Agent) -> None:
    service, asked = start(agent, {"text": ASK, "chunk": 5}, {"text": FINAL, "chunk": 5})
    run_id = create(service, agent, interactive_profile={"kind": "sticky_process"})
    waiting = service.wait(run_id, "waiting_user")
    assert waiting["status"] == "waiting_user"
    assert processes_of(service), "it waits for the answer"
    assert len(service.held_slots()) == 1
    assert service.reply(run_id, 1, "the second one").status_code == 200
    view = service.wait(run_id, after=waiting["revision"])
    assert (view["status"], view.get("data")) == ("succeeded", {"file": "b.txt"})
    assert asked.asked()[1]["last_user_text"].strip() == "the second one"
