#!/usr/bin/env python3
"""Fails if a page links to a file that is not there, or the code map in ARCHITECTURE.md misses a folder of the core."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    tracked = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True)
    problems = []
    for name in tracked.stdout.split():
        page = ROOT / name
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            if not (page.parent / target).exists():
                problems.append(f"{name}: {target} is not there")
    code_map = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for folder in sorted(path for path in (ROOT / "core/src").iterdir() if path.is_dir()):
        if f"  {folder.name}/ " not in code_map:
            problems.append(f"ARCHITECTURE.md: the code map misses core/src/{folder.name}/")
    print("\n".join(problems) or "docs: every link leads somewhere, every folder of the core is on the map")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
