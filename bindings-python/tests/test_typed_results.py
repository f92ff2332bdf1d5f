"""A pydantic model in place of an output schema."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timezone
from enum import Enum
from typing import Any, cast

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from turnlatch import AdmissionError, Run, Skill, admit, types

REQUEST: types.RunRequest = {"run_id": "r1", "engine": "codex"}


class Colour(Enum):
    RED = "red"


class Part(BaseModel):
    name: str
    size: int = Field(ge=0, le=2**64 - 1)


class Report(BaseModel):
    model_config = ConfigDict(extra="forbid")

    at: datetime
    colour: Colour
    parts: list[Part]
    note: str | None = None


class Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def is_even(cls, n: int) -> int:
        if n % 2:
            raise ValueError("not even")
        return n


def run_of(skill: Skill[Any], output: Any) -> Run:
    """An auto run of this skill whose agent wrote this."""
    run, _ = Run.create(admit(skill, REQUEST, engines=["codex"]), 0)
    run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
    text = f"Done. {output if isinstance(output, str) else json.dumps(output)}"
    run.apply({"type": "turn_finished", "attempt_number": 1, "text": text}, 2)
    return run


def test_a_result_is_an_instance_of_the_model() -> None:
    skill = Skill({}, output=Report)
    size = 2**64 - 1
    run = run_of(skill, {"at": "2026-11-19T06:00:00Z", "colour": "red", "parts": [{"name": "ü", "size": size}]})
    report = skill.parse(run.status_view())
    assert report == Report(
        at=datetime(2026, 11, 19, 6, tzinfo=timezone.utc), colour=Colour.RED, parts=[Part(name="ü", size=size)]
    )


@pytest.mark.parametrize("output", [{"n": "two"}, {}, {"n": 1.5}, "no output"])
def test_the_schema_of_the_model_decides_about_the_turn(output: Any) -> None:
    run = run_of(Skill({}, output=Even), output)
    assert run.status == "failed"
    with pytest.raises(ValueError, match="run r1 is failed"):
        Skill({}, output=Even).parse(run.status_view())


def test_members_that_the_model_forbids_fail_the_turn() -> None:
    output = {"at": "2026-11-19T06:00:00Z", "colour": "red", "parts": [], "more": 1}
    assert run_of(Skill({}, output=Report), output).status == "failed"


def test_a_validator_of_the_model_does_not_change_the_run() -> None:
    skill = Skill({}, output=Even)
    run = run_of(skill, {"n": 3})
    before = run.to_json()
    assert run.status == "succeeded"
    with pytest.raises(ValidationError, match="not even"):
        skill.parse(run.status_view())
    assert run.to_json() == before
    assert run_of(Skill({}, Even.model_json_schema()), {"n": 3}).to_json() == before


def test_a_result_is_read_from_its_text() -> None:
    class Exact(BaseModel):
        n: int

    skill = Skill({}, output=Exact)
    run = run_of(skill, '{"n": 9007199254740993}')
    assert skill.parse(run.status_view()).n == 2**53 + 1


def test_what_a_schema_cannot_hold_is_refused_with_its_path() -> None:
    class Big(BaseModel):
        n: int = Field(le=10**30)

    with pytest.raises(AdmissionError, match="64 bits") as caught:
        admit(Skill({}, output=Big), REQUEST, engines=["codex"])
    assert caught.value.path == "output_schema/properties/n/maximum"


def test_a_skill_has_a_schema_or_a_model() -> None:
    with pytest.raises(TypeError, match="not both"):
        Skill({}, {"type": "object"}, output=Even)
    for wrong in (Even(n=2), {"type": "object"}, int, "Even"):
        with pytest.raises(TypeError, match="pydantic model class"):
            Skill({}, output=cast("Any", wrong))
    view = run_of(Skill({}, {"type": "object"}), {"n": 2}).status_view()
    with pytest.raises(TypeError, match="no `output` model"):
        Skill({}, {"type": "object"}).parse(view)


def test_a_skill_with_a_model_is_copied_pickled_and_compared() -> None:
    skill = Skill({}, output=Even)
    plan = admit(skill, REQUEST, engines=["codex"])
    for again in (
        copy.deepcopy(skill),
        pickle.loads(pickle.dumps(skill)),
        replace(skill),
        Skill[Even]({}, output=Even),
    ):
        assert again == skill
        assert admit(again, REQUEST, engines=["codex"]) == plan


def test_a_waiting_run_has_no_result() -> None:
    skill = Skill({"execution_modes": ["interactive"]}, output=Even)
    run, _ = Run.create(admit(skill, {**REQUEST, "execution_mode": "interactive"}, engines=["codex"]), 0)
    view: types.StatusView = run.status_view()
    with pytest.raises(ValueError, match="run r1 is queued: there is no result"):
        skill.parse(view)


def test_the_package_does_not_import_pydantic() -> None:
    code = "import sys, turnlatch; turnlatch.Skill({}, {}); print('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
