#!/usr/bin/env python3
"""Puts faults into the core, one at a time, looks whether a test notices, and sums up over all shards that were run.

usage: mutants.py [k/n]      runs shard k of n (0/40 is the first of forty), or sums up what is there if none is named

The vectors are asked first, because they are quick and notice most; what they miss is given to the other tests. What
came of a shard is in target/mutants. Faults that nothing can notice are listed, with the reason, in
tests/mutants/survivors.md. The gate `mutants` holds if 95 of 100 are noticed and every other one is on that list.
"""

import collections
import filecmp
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

import gates

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "mutants"
TREE = FOLDER / "tree"
KNOWN = ROOT / "tests" / "mutants" / "survivors.md"
ENOUGH = 95
# What the vectors miss: the unit tests of the core, and the tests that look at more runs than vectors do.
FURTHER_TESTS = (
    "--lib",
    *(f"--test={test}" for test in ("exhaustive", "linear_work", "streams", "corpus", "conformance")),
)
FURTHER_PACKAGES = ("turnlatch", "turnlatch-tests", "turnlatch-model")
# A loop without end is noticed too. It is the processor's time that counts: on a busy machine much more may pass.
MOST_SECONDS = 120
MOST_SECONDS_PASSED = 3600


def main() -> int:
    if len(sys.argv) > 1:
        run_shard(sys.argv[1])
    return sum_up()


def run_shard(shard: str) -> None:
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True, check=False).returncode:
        subprocess.run(["cargo", "install", "cargo-mutants", "--locked"], check=True, cwd=ROOT)
    copy_tree()
    came_of = run(shard, ("turnlatch-tests",), ("--test=vectors",))
    if "survived" in came_of.values():
        came_of |= run(shard, FURTHER_PACKAGES, FURTHER_TESTS, "--iterate")
    (FOLDER / f"{shard.replace('/', '-of-')}.json").write_text(json.dumps(came_of, indent=1), encoding="utf-8")


def copy_tree() -> None:
    """The tree as it is now, in a place of its own that stays the same, so that little is built again."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0"):
        original, copy = ROOT / name, TREE / name
        if original.is_file() and not (copy.is_file() and filecmp.cmp(original, copy, shallow=False)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, copy)


def run(shard: str, packages: tuple[str, ...], tests: tuple[str, ...], *arguments: str) -> dict[str, str]:
    """What came of each mutant, by its name."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(FOLDER / "build")}
    # cargo-mutants would look at the tests of the core alone before it begins.
    chosen = ["--locked", "--profile=mutants", *(f"--package={package}" for package in packages), *tests]
    subprocess.run(["cargo", "test", "--quiet", *chosen], cwd=TREE, env=environment, check=True)
    command = ["cargo", "mutants", "--in-place", "--baseline=skip", "--colors=never"]
    command += [f"--timeout={MOST_SECONDS_PASSED}", f"--build-timeout={MOST_SECONDS_PASSED}"]
    command += [f"--shard={shard}", f"--output={FOLDER}", *(f"--test-package={package}" for package in packages)]
    command += [*(f"--cargo-arg={argument}" for argument in ("--locked", *tests)), *arguments]
    code = subprocess.run(command, cwd=TREE, env=environment, check=False, preexec_fn=limit_time).returncode
    # Mutants that survive and tests that time out have codes of their own; every other one is a failure.
    if code not in (0, 2, 3):
        sys.exit(f"cargo mutants failed with {code}: see {FOLDER}/mutants.out/log")
    outcomes = json.loads((FOLDER / "mutants.out/outcomes.json").read_text(encoding="utf-8"))["outcomes"]
    return {
        outcome["scenario"]["Mutant"]["name"]: BECAME[outcome["summary"]]
        for outcome in outcomes
        if isinstance(outcome["scenario"], dict)
    }


def limit_time() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


BECAME = {"CaughtMutant": "killed", "Timeout": "killed", "MissedMutant": "survived", "Unviable": "does not build"}


def sum_up() -> int:
    came_of: dict[str, str] = {}
    for shard in sorted(FOLDER.glob("*-of-*.json")):
        came_of |= json.loads(shard.read_text(encoding="utf-8"))
    count = collections.Counter(came_of.values())
    tried = count["killed"] + count["survived"]
    if not tried:
        print("mutants: none was tried; name a shard")
        return 1
    reasons = known()
    survivors = sorted(mutant for mutant, became in came_of.items() if became == "survived")
    unexplained = [mutant for mutant in survivors if without_place(mutant) not in reasons]
    percent = 100 * count["killed"] / tried
    print(f"{tried} mutants: {count['killed']} killed, {count['survived']} survived ({percent:.1f} % killed)")
    print(f"{count['does not build']} more do not build")
    (FOLDER / "survivors.txt").write_text("".join(f"{mutant}\n" for mutant in survivors), encoding="utf-8")
    for mutant in unexplained:
        print(f"survived: {mutant}", file=sys.stderr)
    if unexplained or percent < ENOUGH:
        return 1
    gates.leave("mutants", {"killed": count["killed"], "survived": count["survived"], "percent": int(percent)})
    return 0


def known() -> set[str]:
    text = KNOWN.read_text(encoding="utf-8")
    return set(re.findall(r"^- `(core/src/.+)`: ", text, flags=re.M))


def without_place(mutant: str) -> str:
    """A mutant's name without line and column, which change whenever somebody writes a line above it."""
    return re.sub(r"\.rs:\d+:\d+:", ".rs:", mutant)


if __name__ == "__main__":
    sys.exit(main())
