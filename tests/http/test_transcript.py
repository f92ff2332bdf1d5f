"""The same session gives the same bytes: twice with one service, and with every kind of service."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import chosen_kinds
from transcript import record_session


def test_services_do_not_differ_in_a_byte(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    kinds = chosen_kinds(pytestconfig)
    sessions = {
        f"{kind} {turn}": record_session(kind, tmp_path / f"{kind}-{turn}") for kind in kinds for turn in (1, 2)
    }
    for name, text in sessions.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    expected = sessions[f"{kinds[0]} 1"]
    for name, text in sessions.items():
        assert text == expected, f"{name} differs; the transcripts are in {tmp_path}"
