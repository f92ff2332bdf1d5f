"""Python takes every transition of the model (``tests/model``), and answers as Rust does."""

from __future__ import annotations

import json

import pytest

import gates
from vectors_runner import ROOT, broken_vectors, read_vectors

# `make conformance` has Rust leave the vectors here, and for every transition the vector and the step that take it.
FOLDER = ROOT / "target" / "model-vectors"


def test_python_takes_every_transition_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    transitions = vectors = steps = 0
    for path, places in json.loads((FOLDER / "transitions.json").read_text(encoding="utf-8")).items():
        cases = read_vectors(FOLDER / path)
        broken = broken_vectors(cases, forms="dict")
        if broken:
            pytest.fail(f"{path}: {len(broken)} vectors do not hold:\n" + "\n".join(broken[:3]), pytrace=False)
        taken = {(case, step) for case, vector in enumerate(cases) for step in range(len(vector["steps"]))}
        never = [place for place in map(tuple, places) if place not in taken]
        assert never == [], f"{path}: {len(never)} transitions were never taken"
        transitions += len(places)
        vectors += len(cases)
        steps += len(taken)
    assert transitions > 100_000
    gates.report("conformance", transitions=transitions, steps=steps, vectors=vectors)
    with capsys.disabled():
        print(f"\nthe model in Python: {transitions} transitions, by {steps} steps of {vectors} vectors", end="")
