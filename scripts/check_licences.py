#!/usr/bin/env python3
"""Fails if a crate that users get with turnlatch has a licence we did not agree to."""

import json
import re
import subprocess
import sys

ALLOWED = {
    "MIT",
    "Apache-2.0",
    "Unlicense",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Zlib",
    "Unicode-3.0",
    "ISC",
    "0BSD",
    "MIT-0",
}


def main() -> int:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "wasm32-unknown-unknown"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    shipped = {"turnlatch", "turnlatch-python", "turnlatch-wasm"}
    seen, todo = set(), [id_ for id_, package in packages.items() if package["name"] in shipped]
    while todo:
        current = todo.pop()
        if current in seen:
            continue
        seen.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                todo.append(dependency["pkg"])
    refused = [packages[id_] for id_ in sorted(seen) if not is_allowed(packages[id_]["license"] or "")]
    for package in refused:
        print(f"{package['name']} {package['version']}: licence {package['license']!r} is not on the list")
    print(f"licences: {len(seen)} crates, {len(refused)} refused")
    return 1 if refused else 0


def is_allowed(expression: str) -> bool:
    """One of the alternatives must consist of agreed licences only."""
    alternatives = re.split(r"\s+OR\s+|/", expression.replace("(", " ").replace(")", " "))
    return any(all(part.strip() in ALLOWED for part in re.split(r"\s+AND\s+", one)) for one in alternatives)


if __name__ == "__main__":
    sys.exit(main())
