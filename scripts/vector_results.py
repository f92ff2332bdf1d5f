#!/usr/bin/env python3
"""Prints what every vector gave in Python, for ``scripts/compare.py``."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bindings-python" / "tests"))

from vectors_runner import VECTORS, execute, read_vectors, vector_files

for path in vector_files():
    for vector in read_vectors(path):
        filled = execute(vector)
        told = {
            "name": filled["name"],
            "admission": filled["admission"],
            "then": [step["then"] for step in filled["steps"]],
        }
        text = json.dumps(told, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        sys.stdout.buffer.write(f"{path.relative_to(VECTORS).as_posix()}\t{text}\n".encode())
