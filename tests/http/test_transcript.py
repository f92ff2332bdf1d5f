"""The same session gives the same bytes: twice with one service, and with every kind of service."""

from __future__ import annotations

from pathlib import Path

from transcript import record_session


def test_services_do_not_differ_in_a_byte(tmp_path: Path, every_kind: list[str]) -> None:
    first = every_kind[0]
    kinds = {**{kind: kind for kind in every_kind}, f"{first}-again": first}
    sessions = {name: record_session(kind, tmp_path / name) for name, kind in kinds.items()}
    for name, text in sessions.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    for name, text in sessions.items():
        assert text == sessions[first], f"{name} differs; the transcripts are in {tmp_path}"
