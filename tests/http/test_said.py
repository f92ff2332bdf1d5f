"""What an agent says while its turn is under way: seen by those who look on, and kept nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conftest import StartService
from running import RunningService, ServerSentEvent

KEPT_BYTES = 64 * 1024
LOOKING, TOOL, SIZE = "Looking.\n\nevent: step\ndata: {}\n\n\u2028", "\x1b[31mtwo files", "Größe 😀"
PROFILES = ["resumable", "sticky_process"]


class Listener:
    """A client that keeps what is said as the API describes it."""

    def __init__(self, events: Iterator[ServerSentEvent]) -> None:
        self._events = events
        self.seen: list[ServerSentEvent] = []
        self.words: dict[tuple[int, int, str], str] = {}

    def next(self) -> ServerSentEvent:
        """Takes the next event."""
        event = next(self._events)
        self.seen.append(event)
        if event.event == "said":
            assert event.id == "", "a stream is resumed after a step, not after words"
            assert set(event.data) == {"attempt_number", "from_start", "pieces"}
            assert event.data["pieces"]
            self._take(event.data["attempt_number"], event.data["from_start"], event.data["pieces"])
        return event

    def _take(self, attempt: int, from_start: bool, pieces: list[dict[str, Any]]) -> None:
        if from_start:
            self.words = {key: text for key, text in self.words.items() if key[0] != attempt}
        for piece in pieces:
            key = (attempt, piece["message"], piece["role"])
            self.words[key] = self.words.get(key, "") + piece["text"]

    def until_said(self, text: str) -> None:
        """Listens until these words end a message."""
        while not any(said.endswith(text) for said in self.words.values()):
            assert self.next().event != "end", self.seen

    def until_status(self, status: str) -> None:
        """Listens until the run gets there."""
        while self.next().data.get("status") != status:
            pass

    def said(self) -> list[ServerSentEvent]:
        """The events with words, so far."""
        return [event for event in self.seen if event.event == "said"]


def events_of(run_id: str) -> str:
    return f"/v1/jobs/{run_id}/events"


def let_go(service: RunningService, run_id: str, name: str) -> None:
    (service.data / "runs" / run_id / "work" / name).touch()


def talking(service: RunningService, profile: str = "resumable") -> str:
    options = {"interactive_profile": {"kind": profile}}
    return service.create("talkative", execution_mode="interactive", runtime_options=options)


@pytest.mark.parametrize("profile", PROFILES)
def test_words_come_while_the_agent_works(service: RunningService, profile: str) -> None:
    run_id = talking(service, profile)
    with service.events(events_of(run_id)) as events:
        listener = Listener(events)
        listener.until_said(TOOL)
        assert listener.words == {(1, 0, "assistant"): LOOKING, (1, 1, "tool"): TOOL}
        assert [event.data["status"] for event in listener.seen if event.event == "step"] == ["queued", "running"]
        let_go(service, run_id, "go")
        listener.until_said(SIZE)
        assert listener.words[1, 2, "assistant"] == SIZE
        let_go(service, run_id, "go-on")
        listener.until_status("waiting_user")
        service.reply(run_id, 1, "b.txt")
        listener.until_said("Fine.")
        assert listener.words[2, 0, "assistant"] == "Fine."
        let_go(service, run_id, "end")
        listener.until_status("succeeded")
        assert listener.next() == ServerSentEvent("", "end", {})
    attempts = [event.data["attempt_number"] for event in listener.seen if event.event != "end"]
    assert attempts == sorted(attempts), "words stand between the steps of their turn"


@pytest.mark.parametrize("profile", PROFILES)
def test_who_comes_in_the_middle_is_told_what_was_said(service: RunningService, profile: str) -> None:
    run_id = talking(service, profile)
    with service.events(events_of(run_id)) as from_the_beginning:
        first = Listener(from_the_beginning)
        first.until_said(TOOL)
        with service.events(events_of(run_id)) as events, service.events(events_of(run_id), 2) as resumed:
            for later in (Listener(events), Listener(resumed)):
                later.until_said(TOOL)
                [said] = later.said()
                assert said.data["from_start"] is True
                assert later.words == first.words
            let_go(service, run_id, "go")
            later.until_said(SIZE)
            assert [event.data["from_start"] for event in later.said()[1:]] == [False] * (len(later.said()) - 1)
            first.until_said(SIZE)
            assert later.words == first.words
    service.post(f"/v1/jobs/{run_id}/cancel")


def test_words_are_forgotten_with_their_turn(service: RunningService) -> None:
    run_id = talking(service)
    for name in ("go", "go-on"):
        let_go(service, run_id, name)
    service.wait(run_id, "waiting_user")
    with service.events(events_of(run_id)) as events:
        listener = Listener(events)
        listener.until_status("waiting_user")
        service.reply(run_id, 1, "b.txt")
        listener.until_said("Fine.")
        assert {event.data["attempt_number"] for event in listener.said()} == {2}
        let_go(service, run_id, "end")
        listener.until_status("succeeded")
    with service.events(events_of(run_id)) as events:
        assert {event.event for event in events} == {"step", "end"}


def test_a_turn_that_is_run_again_is_told_again(start_service: StartService) -> None:
    service = start_service()
    options = {"interrupted_turn": "retry"}
    run_id = service.create("talkative", execution_mode="interactive", runtime_options=options)
    with service.events(events_of(run_id)) as events:
        Listener(events).until_said(TOOL)
    service.kill()
    service.start()
    with service.events(events_of(run_id)) as events:
        listener = Listener(events)
        listener.until_said(TOOL)
        assert sorted(listener.words.values()) == sorted([LOOKING, TOOL]), "and only once"


def test_only_the_end_of_a_long_message_is_kept(service: RunningService) -> None:
    run_id = service.create("direct", engine="long-message")
    whole = "a" + "é" * 100_000 + "END"
    with service.events(events_of(run_id)) as early, service.events(events_of(run_id)) as late:
        one = Listener(early)
        one.until_said("END")
        other = Listener(late)
        other.until_said("END")
        for listener in (one, other):
            assert whole.endswith(listener.words[1, 0, "assistant"])
        with service.events(events_of(run_id)) as latest:
            listener = Listener(latest)
            listener.until_said("END")
        [said] = listener.said()
        [piece] = said.data["pieces"]
        assert said.data["from_start"] is True and whole.endswith(piece["text"])
        assert KEPT_BYTES - 4 < len(piece["text"].encode()) <= KEPT_BYTES
        let_go(service, run_id, "go")
        assert service.wait(run_id)["status"] == "succeeded", "the words that were dropped count all the same"


def test_the_oldest_messages_are_dropped_first(service: RunningService) -> None:
    run_id = service.create("direct", engine="many-messages")
    with service.events(events_of(run_id)) as events:
        Listener(events).until_said("4" * 30_000)
    with service.events(events_of(run_id)) as events:
        listener = Listener(events)
        listener.until_said("4" * 30_000)
        assert listener.words == {(1, n, "assistant"): str(n) * 30_000 for n in (3, 4)}
    let_go(service, run_id, "go")
    assert service.wait(run_id)["status"] == "succeeded"


def test_a_client_that_does_not_read_holds_nobody_up(service: RunningService) -> None:
    run_id = service.create("direct", engine="flood")
    let_go(service, run_id, "go")
    with service.events(events_of(run_id)) as events:
        assert service.wait(run_id)["status"] == "succeeded"
        listener = Listener(events)
        listener.until_status("succeeded")
        assert listener.next().event == "end"
    assert [event.id for event in listener.seen if event.event == "step"] == ["1", "2", "3"]
