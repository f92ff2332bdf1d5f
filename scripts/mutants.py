#!/usr/bin/env python3
"""Puts faults into the core, one at a time, looks whether a test notices, and sums up.

usage: mutants.py [k/n]      tries all faults, or part k of n (0/40 is the first of forty)

The faults are those that cargo-mutants lists. All of them are built at once, into a copy of the core in which a number
in the environment switches one on (tests/mutants); so trying one takes as long as the tests that reach it. Vectors are
asked first, because they are quick and notice most; what they miss is given to the other tests. Faults that cannot be
switched are counted, and left to cargo-mutants, which builds each by itself.

What came of each is in target/mutants/results.json, and is not tried again as long as the core and what noticed it stay
the same: the script can be interrupted. Faults that nothing can notice are listed, with the reason, in
tests/mutants/survivors.md; one of these that has survived all tests is not given to each new one. The gate `mutants`
holds if all were tried, 95 of 100 are noticed and every other one is on that list.
"""

import collections
import concurrent.futures
import dataclasses
import filecmp
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

import gates

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "mutants"
TREE = FOLDER / "tree"
BUILT = FOLDER / "built.json"
RESULTS = FOLDER / "results.json"
KNOWN = ROOT / "tests" / "mutants" / "survivors.md"
ENOUGH = 95
# Another version of cargo-mutants lists other faults.
LISTED_BY = "27.1.0"
# The unit tests of the core, and the tests that look at more than vectors do; asked in this order, the quickest first.
UNIT_TESTS = "turnlatch"
FURTHER_TESTS = (
    "coverage", "rust_host", "shared_settings", UNIT_TESTS, "streams", "corpus", "linear_work", "exhaustive",
    "validation_cost", "conformance",
)  # fmt: skip
PACKAGES = ("turnlatch", "turnlatch-tests", "turnlatch-model")
VECTOR_FOLDERS = ("tests/vectors", "tests/adversarial")
# A loop without end is noticed too, and so is memory without end. It is the processor's time that counts: on a busy
# machine much more may pass.
LEAST_SECONDS = 2
TIMES_SLOWER = 2
MOST_SECONDS_PASSED = 1800
MOST_KILOBYTES = 4_000_000
# So much of a program is asked before the rest of it: most faults are noticed by then.
QUICK_SECONDS = 0.5
SECONDS_BETWEEN = 20
# The same random cases each time, and the first that fails is enough.
STEADY = {"PROPTEST_RNG_SEED": "1", "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", "PROPTEST_MAX_SHRINK_ITERS": "0"}

KILLED, SURVIVED, UNBUILT, LEFT = "killed", "survived", "does not build", "left to cargo-mutants"
# Not noticed by the vectors, and not tried with other tests yet.
PASSED_VECTORS = "passed the vectors"


@dataclasses.dataclass
class Check:
    """A file of vectors or a test, which may notice faults."""

    kind: str
    name: str
    program: str
    argument: str
    options: tuple[str, ...] = ()
    seconds: float = 0.0
    reached: frozenset[int] = frozenset()


def main() -> int:
    part, parts = map(int, (sys.argv[1] if len(sys.argv) > 1 else "0/1").split("/"))
    faults = list_faults()
    results = Results()
    copy_tree()
    unswitched, programs = build(faults)
    for number, (became, reason) in unswitched.items():
        results.put(faults[number], {"became": became, "reason": reason})
    numbers = [number for number in faults if number % parts == part and number not in unswitched]
    phases = ((vectors(programs), PASSED_VECTORS), (tests(programs), SURVIVED))
    ask_again([check for checks, _ in phases for check in checks], numbers, faults, results)
    for checks, became in phases:
        numbers = [number for number in numbers if not results.is_known(faults[number], KILLED, SURVIVED)]
        left = [number for number in numbers if not results.is_known(faults[number], became)]
        if left:
            print(f"{len(checks)} {checks[0].kind}, first without a fault", flush=True)
            in_parallel(look_what_it_reaches, checks, lambda _check, _nothing: None)
            # What nothing can notice is asked everything, so it comes last: news comes first.
            left.sort(key=lambda number: without_place(faults[number]["name"]) in results.explained)
            trying = functools.partial(try_fault, checks=checks)
            in_parallel(trying, left, Progress(results, faults, len(left), became).tell)
            results.save()
    return sum_up(faults, results)


def ask_again(checks: list[Check], numbers: list[int], faults: dict[int, dict[str, Any]], results: "Results") -> None:
    """Asks of each fault what noticed it before, which it nearly always does again."""
    by_name = {check.name: check for check in checks}
    hints = {
        number: by_name[hint]
        for number in numbers
        if not results.is_known(faults[number], KILLED, SURVIVED)
        and (hint := results.noticed_by(faults[number])) in by_name
    }
    if hints:
        print(f"{len(hints)} faults of which something is known", flush=True)
        in_parallel(look_what_it_reaches, {check.name: check for check in hints.values()}.values(), lambda *_: None)
        progress = Progress(results, faults, len(hints), None)
        in_parallel(lambda number: try_fault(number, [hints[number]]), hints, progress.tell)
        results.save()


def vectors(programs: dict[str, str]) -> list[Check]:
    return [Check("files of vectors", name, programs["vectors_hold"], str(TREE / name)) for name in vector_files()]


def tests(programs: dict[str, str]) -> list[Check]:
    alone = ("--exact", "--test-threads=1")
    return [
        Check("other tests", f"{test}: {name}", programs[test], name, alone)
        for test in FURTHER_TESTS
        for name in test_names(programs[test])
    ]


def list_faults() -> dict[int, dict[str, Any]]:
    """The faults of cargo-mutants with their numbers; 0 is the core without one."""
    if subprocess.run(["cargo", "mutants", "--version"], capture_output=True, check=False).returncode:
        subprocess.run(["cargo", "install", f"cargo-mutants@{LISTED_BY}", "--locked"], check=True, cwd=ROOT)
    command = ["cargo", "mutants", "--list", "--json", "--package=turnlatch"]
    listed = json.loads(subprocess.run(command, check=True, cwd=ROOT, capture_output=True, text=True).stdout)
    return dict(enumerate(listed, start=1))


def copy_tree() -> None:
    """The tree as it is now, in a place of its own that stays the same, so that little is built again."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in names:
        original, copy = ROOT / name, TREE / name
        if name.startswith("core/src/") or not original.is_file():
            continue
        if not (copy.is_file() and filecmp.cmp(original, copy, shallow=False)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(original, copy)
    for folder in ("core/src", *VECTOR_FOLDERS):
        for copy in (TREE / folder).rglob("*.*"):
            name = copy.relative_to(TREE)
            if not (ROOT / name).exists() and name.name != "switch.rs":
                copy.unlink()


# ---- building


def build(faults: dict[int, dict[str, Any]]) -> tuple[dict[int, tuple[str, str]], dict[str, str]]:
    """Builds the tests with all faults that can be switched, and says which ones cannot, and where the programs are.

    The compiler says which faults do not build: they are taken out until it is content.
    """
    tool = ["cargo", "run", "--quiet", "--locked", "--profile=xtask", "--package=turnlatch-mutants", "--", ROOT, TREE]
    core = digest_of_core()
    kept = json.loads(BUILT.read_text(encoding="utf-8")) if BUILT.exists() else {}
    known = kept.get(core, {})
    unswitched = {number: known[fault["name"]] for number, fault in faults.items() if fault["name"] in known}
    while True:
        chosen = [fault | {"id": number} for number, fault in faults.items() if number not in unswitched]
        done = subprocess.run(tool, cwd=ROOT, input=json.dumps(chosen), stdout=subprocess.PIPE, text=True, check=True)
        written = json.loads(done.stdout)
        for fault in written["left"]:
            became = UNBUILT if fault["reason"].startswith(UNBUILT) else LEFT
            unswitched[fault["id"]] = (became, fault["reason"])
        programs, errors = compile_tests()
        if not errors:
            told = {faults[number]["name"]: became for number, became in unswitched.items()}
            BUILT.write_text(json.dumps({core: told}, indent=1), encoding="utf-8")
            return unswitched, programs
        print(f"{len(errors)} errors of the compiler, by faults that do not build", flush=True)
        for error in errors:
            unswitched |= blamed(error, written["placed"])


def compile_tests() -> tuple[dict[str, str], list[dict[str, Any]]]:
    command = ["cargo", "test", "--no-run", "--locked", "--message-format=json", "--lib"]
    command += [
        *(f"--package={package}" for package in PACKAGES),
        *(f"--test={test}" for test in FURTHER_TESTS if test != UNIT_TESTS),
    ]
    environment = os.environ | {"CARGO_TARGET_DIR": str(FOLDER / "build")}
    done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    programs = {told["target"]["name"]: told["executable"] for told in messages if told.get("executable")}
    told = [message["message"] for message in messages if message["reason"] == "compiler-message"]
    errors = [message for message in told if message["level"] == "error" and message["spans"]]
    if done.returncode and not errors:
        sys.exit(done.stderr)
    return programs, errors


def blamed(error: dict[str, Any], placed: list[dict[str, Any]]) -> dict[int, tuple[str, str]]:
    """The faults that an error of the compiler is about: in whose text it is, or who stand around it."""
    spans = sorted(error["spans"], key=lambda span: not span["is_primary"])
    for span in spans:
        found = [place["id"] for place in placed if is_inside(span, place, "text")]
        if found:
            return {number: (UNBUILT, error["message"]) for number in found}
    around = [place for span in spans for place in placed if is_inside(span, place, "whole")]
    if not around:
        sys.exit(f"an error of the compiler that is no fault's:\n{error['rendered']}")
    smallest = min(around, key=lambda place: place["whole"][1] - place["whole"][0])
    return {place["id"]: (LEFT, error["message"]) for place in around if place["whole"] == smallest["whole"]}


def is_inside(span: dict[str, Any], place: dict[str, Any], which: str) -> bool:
    start, end = place[which]
    return place["file"] == span["file_name"] and start <= span["byte_start"] and span["byte_end"] <= end


# ---- trying


def vector_files() -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for folder in VECTOR_FOLDERS for path in (ROOT / folder).rglob("*.json"))


def test_names(program: str) -> list[str]:
    listed = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    return re.findall(r"^(.+): test$", listed, flags=re.M)


def look_what_it_reaches(check: Check) -> None:
    """Without a fault everything holds; and what does not come to a fault's place cannot notice it."""
    if check.seconds:
        return
    with tempfile.TemporaryDirectory() as folder:
        reached = pathlib.Path(folder) / "reached"
        code, output, check.seconds = run([check], {"TURNLATCH_REACHED": str(reached)}, MOST_SECONDS_PASSED)
        if code:
            raise RuntimeError(f"{check.name}: not without a fault either\n{output}")
        check.reached = frozenset(map(int, reached.read_text().split())) if reached.exists() else frozenset()


def try_fault(number: int, checks: list[Check]) -> str | None:
    """Which check notices a fault: the programs are asked in order, cheap checks first."""
    reaching = sorted((check for check in checks if number in check.reached), key=lambda check: check.seconds)
    batches: list[list[Check]] = []
    for program in dict.fromkeys(check.program for check in checks):
        batches += quick_and_others([check for check in reaching if check.program == program])
    for asked in filter(None, batches):
        most_seconds = LEAST_SECONDS + TIMES_SLOWER * sum(check.seconds for check in asked)
        code, output, _ = run(asked, {"TURNLATCH_MUTANT": str(number)}, most_seconds)
        if code:
            # What is named last is what was looked at when it ended, or what a list of failures ends with.
            return max(asked, key=lambda check: output.rfind(check.argument)).name
    return None


def quick_and_others(checks: list[Check]) -> list[list[Check]]:
    """What takes long is asked by itself: tests go on behind a failure, and a loop without end takes all its time."""
    until = sum(1 for seconds in itertools.accumulate(check.seconds for check in checks) if seconds <= QUICK_SECONDS)
    return [checks[:until], checks[until:]]


def run(checks: list[Check], environment: dict[str, str], most_seconds: float) -> tuple[int, str, float]:
    """Runs checks of one program: the exit code, what was said, and how many seconds it took the processor."""
    limited = f"ulimit -c 0 && ulimit -v {MOST_KILOBYTES} && ulimit -t {math.ceil(most_seconds)}"
    command = ["sh", "-c", f'{limited} && exec timeout {MOST_SECONDS_PASSED} "$@"', "sh", checks[0].program]
    command += [*(check.argument for check in checks), *checks[0].options]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            command, cwd=TREE, env=os.environ | STEADY | environment, stdout=said, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read(), usage.ru_utime + usage.ru_stime


def in_parallel(what: Callable[[Any], Any], each: Iterable[Any], then: Callable[[Any, Any], None]) -> None:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = {pool.submit(what, one): one for one in each}
        try:
            for done in concurrent.futures.as_completed(begun):
                then(begun[done], done.result())
        finally:
            pool.shutdown(cancel_futures=True)


class Progress:
    """Tells how far it is, and keeps what came of it."""

    def __init__(
        self, results: "Results", faults: dict[int, dict[str, Any]], total: int, otherwise: str | None
    ) -> None:
        self.results, self.faults, self.total, self.otherwise = results, faults, total, otherwise
        self.killed = self.missed = 0
        self.began = self.told = time.monotonic()

    def tell(self, number: int, noticed_by: str | None) -> None:
        if noticed_by is None:
            self.missed += 1
            if self.otherwise is not None:
                self.results.put(self.faults[number], {"became": self.otherwise})
        else:
            self.killed += 1
            self.results.put(self.faults[number], {"became": KILLED, "by": noticed_by})
        now, done = time.monotonic(), self.killed + self.missed
        if now - self.told < SECONDS_BETWEEN and done < self.total:
            return
        self.told = now
        self.results.save()
        minutes = (now - self.began) / done * (self.total - done) / 60
        told = f"{done} of {self.total}: {self.killed} killed, {self.missed} {self.otherwise or 'not'}"
        print(f"{told}; about {minutes:.0f} minutes left", flush=True)


# ---- what came of it


class Results:
    """What came of each fault, by its name, and of which core and which tests that is true."""

    def __init__(self) -> None:
        self.core = digest_of_core()
        self.tests = digest(*((ROOT / folder).rglob("*.rs") for folder in ("core/src", "tests/rust", "tests/model")))
        self.vectors = digest(ROOT / name for name in vector_files())
        kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
        before: dict[str, dict[str, Any]] = kept.get("results", {})
        self.of = before if kept.get("core") == self.core else {}
        self.explained = known_reasons()
        # In another core the same fault is likely noticed by the same: asking that first saves asking all.
        noticed: dict[str, str] = {
            without_place(name): result["by"] for name, result in before.items() if "by" in result
        }
        self.hints = kept.get("hints", {}) | noticed

    def is_known(self, fault: dict[str, Any], *became: str) -> bool:
        """Whether it became one of these, and would again, because what was asked is the same."""
        result = self.of.get(fault["name"], {})
        has_reason = result.get("became") == SURVIVED and self.is_explained(fault)
        return result.get("became") in became and (has_reason or result["tests"] == self.asked(result))

    def is_explained(self, fault: dict[str, Any]) -> bool:
        """Whether each fault that survives under this name has its reason."""
        name = without_place(fault["name"])
        survivors = [of for of, result in self.of.items() if result["became"] == SURVIVED and without_place(of) == name]
        return len(survivors) <= self.explained[name]

    def noticed_by(self, fault: dict[str, Any]) -> str | None:
        return self.of.get(fault["name"], {}).get("by", self.hints.get(without_place(fault["name"])))

    def put(self, fault: dict[str, Any], result: dict[str, Any]) -> None:
        self.of[fault["name"]] = result | {"tests": self.asked(result)}

    def asked(self, result: dict[str, Any]) -> str:
        """Of what noticed it, this alone; of what nothing noticed, all that was asked."""
        noticed = ROOT / result.get("by", "")
        if noticed.is_file():
            return digest([noticed])
        if result["became"] == PASSED_VECTORS:
            return self.vectors
        return self.tests if "by" in result else self.tests + self.vectors

    def save(self) -> None:
        part = RESULTS.with_suffix(".part")
        kept = {"core": self.core, "results": self.of, "hints": self.hints}
        part.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        part.replace(RESULTS)


def digest_of_core() -> str:
    """Also of what puts the faults into it; not of unit tests, which stand last in a file or in one of their own."""
    sources = [path for path in (ROOT / "core/src").rglob("*.rs") if not {"tests", "tests.rs"} & set(path.parts)]
    return digest(sources, (ROOT / "tests/mutants/src").rglob("*.rs"), until=b"\n#[cfg(test)]\nmod tests {")


def digest(*paths: Iterable[pathlib.Path], until: bytes | None = None) -> str:
    found = hashlib.sha256()
    for path in sorted(path for some in paths for path in some):
        content = path.read_bytes()
        content = content.partition(until)[0] if until else content
        found.update(f"{path.relative_to(ROOT)} {len(content)} ".encode() + content)
    return found.hexdigest()


def sum_up(faults: dict[int, dict[str, Any]], results: Results) -> int:
    came_of = {fault["name"]: results.of.get(fault["name"], {}).get("became", "not tried") for fault in faults.values()}
    count = collections.Counter(came_of.values())
    untried = count["not tried"] + count[PASSED_VECTORS]
    tried = count[KILLED] + count[SURVIVED]
    percent = 100 * count[KILLED] / max(tried, 1)
    reasons = known_reasons()
    survivors = sorted(name for name, became in came_of.items() if became == SURVIVED)
    # Faults of the same kind in one function have the same name, and as many lines as survive.
    of_name = collections.Counter(map(without_place, survivors))
    unexplained = [name for name in survivors if of_name[without_place(name)] > reasons[without_place(name)]]
    for file, which in (("survivors.txt", SURVIVED), ("left.txt", LEFT)):
        listed = sorted(name for name, became in came_of.items() if became == which)
        (FOLDER / file).write_text("".join(f"{name}\n" for name in listed), encoding="utf-8")
    for name in unexplained:
        print(f"survived: {name}", file=sys.stderr)
    if not untried:
        for name in sorted(reasons - of_name):
            print(f"explained, but it does not survive: {name}", file=sys.stderr)
    print(f"{tried} mutants: {count[KILLED]} killed, {count[SURVIVED]} survived ({percent:.1f} % killed)")
    print(f"{len(survivors) - len(unexplained)} of the survivors are explained")
    print(f"{count[UNBUILT]} more do not build, {count[LEFT]} cannot be switched, {untried} were not tried with all")
    if unexplained or percent < ENOUGH or untried:
        return 1
    gates.leave("mutants", {KILLED: count[KILLED], SURVIVED: count[SURVIVED], "percent": int(percent)})
    return 0


def known_reasons() -> collections.Counter[str]:
    """How many lines explain the faults of each name."""
    text = KNOWN.read_text(encoding="utf-8")
    return collections.Counter(re.findall(r"^- `(core/src/.+?)`: ", text, flags=re.M))


def without_place(name: str) -> str:
    """A fault's name without line and column, which change whenever somebody writes a line above it."""
    return re.sub(r"\.rs:\d+:\d+:", ".rs:", name)


if __name__ == "__main__":
    sys.exit(main())
