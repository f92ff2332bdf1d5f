"""Every vector of the contract holds, through Python's face."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import gates
from vectors_runner import VECTORS, Members, broken_vectors, difference, execute, read_vectors, vector_files

HELD: dict[Path, list[Members]] = {}


@pytest.mark.parametrize("path", vector_files(), ids=lambda path: path.relative_to(VECTORS).as_posix())
def test_every_vector_of_the_file_holds(path: Path) -> None:
    vectors = read_vectors(path)
    broken = broken_vectors(vectors)
    if broken:
        pytest.fail(f"{len(broken)} vectors do not hold:\n" + "\n".join(broken), pytrace=False)
    HELD[path] = vectors


def test_every_file_has_held() -> None:
    assert list(HELD) == vector_files()
    vectors = [vector for of_file in HELD.values() for vector in of_file]
    gates.report("vectors", vectors=len(vectors), steps=sum(len(vector.get("steps", [])) for vector in vectors))


def test_there_are_vectors_and_their_names_are_unique() -> None:
    names = Counter(vector["name"] for path in vector_files() for vector in read_vectors(path))
    assert len(names) > 500
    assert [name for name, times in names.items() if times > 1] == []


def test_the_runner_notices_small_differences() -> None:
    vector = next(vector for path in vector_files() for vector in read_vectors(path) if vector.get("steps"))
    found = execute(vector)
    assert difference(vector, found) is None
    for value in (1, 1.0, True, "1", None):
        changed = {**found, "admission": {"warnings": [value]}}
        for other in (1, 1.0, True, "1", None):
            same = difference(changed, {**changed, "admission": {"warnings": [other]}}) is None
            assert same == (value is other or (type(value) is type(other) and value == other))
