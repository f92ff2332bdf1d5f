"""The suites that others wrote come out in Python as in Rust, which writes down what they must be (``make suites``)."""

from __future__ import annotations

from collections import Counter

import pytest

import gates
from vectors_runner import ROOT, broken_vectors, read_vectors

CASES = ROOT / "target" / "suites" / "cases.json"


def test_every_case_of_the_suites_comes_out_as_in_rust(capsys: pytest.CaptureFixture[str]) -> None:
    cases = read_vectors(CASES)
    broken = broken_vectors(cases)
    if broken:
        pytest.fail(f"{len(broken)} cases differ:\n" + "\n".join(broken), pytrace=False)
    counted = Counter(case["name"].split(":")[0] for case in cases)
    assert set(counted) == {"JSON-Schema-Test-Suite", "JSONTestSuite"}
    gates.report("suites", **counted)
    with capsys.disabled():
        for suite, count in counted.items():
            print(f"\n{suite} in Python: {count} cases come out as in Rust", end="")
