"""One interactive run against a real process: it asks, is answered, and finishes.

usage: interactive.py [--sticky]     with --sticky the agent's process stays alive while it waits for the answer
"""

import asyncio
import sys
import time
from pathlib import Path

from turnlatch import (
    AsyncioTimers,
    Command,
    Driver,
    LocalSlots,
    MemoryStore,
    Run,
    Skill,
    SubprocessRunner,
    admit,
    types,
)
from turnlatch.types import Effect, StartTurn

AGENT = [sys.executable, str(Path(__file__).with_name("agent.py"))]
STICKY = "--sticky" in sys.argv
BEGIN = time.monotonic()
SCHEMA = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string"}}}


def say(what: str) -> None:
    print(f"{(time.monotonic() - BEGIN) * 1000:5.0f} ms  {what}")


def command(run: Run, effect: StartTurn) -> Command:
    if STICKY:
        return Command([*AGENT, "--sticky"], end_of_turn="---")
    return Command(AGENT + ([effect["resume"]["response"]] if "resume" in effect else []), timeout_sec=60)


def on_notify(run_id: str, effect: Effect) -> None:
    if effect["type"] == "notify":
        say(f"{run_id} is {effect['status']}")


async def main() -> None:
    skill = Skill({"execution_modes": ["interactive"]}, output_schema=SCHEMA)
    request: types.RunRequest = {
        "run_id": "r1",
        "engine": "demo",
        "execution_mode": "interactive",
        "interactive_profile": {"kind": "sticky_process" if STICKY else "resumable"},
    }
    processes = SubprocessRunner(command)
    async with Driver(
        slots=LocalSlots(1), timers=AsyncioTimers(), processes=processes, store=MemoryStore(), on_notify=on_notify
    ) as driver:
        run_id = await driver.start(admit(skill, request, engines=["demo"]))
        await driver.wait(run_id, "waiting_user")
        await driver.settled(run_id)  # what was notified is printed, the slot is given back
        question = driver.run(run_id).pending_view()["pending"]
        assert question is not None, "a run that waits has a question"
        say(f"agent asks: {question['display_prompt']} {[option['label'] for option in question['options']]}")
        say("user answers: b.txt")
        receipt = await driver.reply(run_id, question["interaction_id"], "b.txt")
        say(f"receipt: {receipt['kind']}")
        view = await driver.wait(run_id)
        await driver.settled(run_id)
        say(f"result: {view.get('data')}  because {driver.run(run_id).explain()['reason']}")


asyncio.run(main())
