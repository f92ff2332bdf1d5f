"""Every attack of ``tests/adversarial`` has the outcome that its file says, through Python's face."""

from __future__ import annotations

import pytest

from gates import report
from vectors_runner import attack_files, broken_vectors, read_vectors


def test_every_attack_has_its_outcome() -> None:
    attacks = [attack for path in attack_files() for attack in read_vectors(path)]
    broken = broken_vectors(attacks)
    if broken:
        pytest.fail(f"{len(broken)} attacks come out otherwise:\n" + "\n".join(broken), pytrace=False)
    assert len(attacks) >= 300
    report("adversarial", attacks=len(attacks), steps=sum(len(attack.get("steps", [])) for attack in attacks))
