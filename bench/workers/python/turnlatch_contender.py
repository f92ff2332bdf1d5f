"""turnlatch, as a Python host calls it."""

import json

from skill import DONE, QUESTION, SKILL, decision
from timing import Prepared, at_once, fresh, repeated, timed
from timing import memory_of as memory
from turnlatch import Journal, Run, Skill, admit, replay

MANIFEST = Skill(SKILL["runner"], SKILL["output_schema"])
JOURNAL_LENGTH = 10_000


def prepare(case):
    what = case["what"]
    if what == "turn":
        return turn(case)
    plan = plan_of("r1")
    if what == "lifecycle":
        return repeated(lambda: lifecycle(plan, lambda _: None), lambda run: run.status)
    if what == "journal":
        return repeated(lambda: journal_of(plan), len)
    if what == "snapshot":
        run = waiting_run("r1")
        return repeated(run.to_json, len)
    if what == "restore":
        snapshot = waiting_run("r1").to_json()
        return repeated(lambda: Run.from_json(snapshot), lambda run: run.status)
    if what == "replay":
        text = long_journal(plan)
        return repeated(lambda: replay(plan, Journal.from_json(text)), lambda replayed: replayed[0].revision)
    return None


def memory_of(runs):
    return memory(runs, lambda number: waiting_run(f"r{number}"))


def turn(case):
    content = case["text"].encode()
    before = running_run("r1")
    finish = finish_with_stream if case["is_stream"] else finish_with_text
    run = before.copy()
    finish(run, fresh(content))
    view = run.status_view()

    def batch(calls):
        return timed(calls, at_once(len(content)), lambda: (before.copy(), fresh(content)), finish)

    return Prepared(decision(run.status, view.get("data")), batch)


def finish_with_text(run, text):
    return run.apply({"type": "turn_finished", "attempt_number": 1, "text": text}, 0)


def finish_with_stream(run, stdout):
    stream = {"format": "codex-jsonl", "stdout": stdout, "exit_code": 0}
    return run.apply({"type": "turn_finished", "attempt_number": 1, "stream": stream}, 0)


def lifecycle(plan, keep):
    run, created = Run.create(plan, 0)
    keep(created)
    keep(run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 0))
    keep(run.apply({"type": "turn_finished", "attempt_number": 1, "text": "Which one?"}, 0))
    keep(run.apply({"type": "reply", "interaction_id": 1, "response": "this one"}, 0))
    keep(run.apply({"type": "slot_granted", "slot_id": "r1/s2"}, 0))
    keep(run.apply({"type": "turn_finished", "attempt_number": 2, "text": DONE}, 0))
    return run


def journal_of(plan):
    journal = Journal(plan)
    lifecycle(plan, lambda applied: journal.push(applied.entry))
    return journal


def long_journal(plan):
    """The text of a journal in which one question follows another."""
    journal = Journal(plan)
    run, created = Run.create(plan, 0)
    journal.push(created.entry)
    number = 0
    while len(journal) < JOURNAL_LENGTH:
        number += 1
        for event in (
            {"type": "slot_granted", "slot_id": f"r1/s{number}"},
            {"type": "turn_finished", "attempt_number": number, "text": QUESTION},
            {"type": "reply", "interaction_id": number, "response": "the second"},
        ):
            if len(journal) < JOURNAL_LENGTH:
                journal.push(run.apply(event, 0).entry)
    return journal.to_json()


def running_run(run_id):
    run, _ = Run.create(plan_of(run_id), 0)
    run.apply({"type": "slot_granted", "slot_id": f"{run_id}/s1"}, 0)
    return run


def waiting_run(run_id):
    run = running_run(run_id)
    finish_with_text(run, QUESTION)
    return run


def plan_of(run_id):
    request = json.dumps({**SKILL["request"], "run_id": run_id})
    return admit(MANIFEST, request, engines=["codex"])
