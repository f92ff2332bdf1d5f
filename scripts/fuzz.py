#!/usr/bin/env python3
"""Runs the fuzzers in fuzz/, two at a time, and leaves what they counted as the gate `fuzz`.

usage: fuzz.py [seconds]     for each target; if not said, so many runs of each that they take half a minute at most,
                             the same ones on every machine. TARGETS names some of them; SANITIZER=address follows the
                             edges of the dependencies too, and looks into their memory.

The toolchain of the project builds the fuzzers; only sanitizers need cargo-fuzz and a nightly compiler. Each target
begins with fuzz/corpus, which is kept in the repository, with what target/debug/seeds makes of the vectors, and with
what earlier runs here have found. The input of a failure is in target/fuzz/failures; `cargo test --test corpus` repeats
those in fuzz/corpus.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys

import gates

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ = ROOT / "target" / "fuzz"
ALL = ("turns", "streams", "skills", "events", "snapshots", "journals")
AT_ONCE = 2
# The short form: a machine that is quick today does not look further than another, and a slow one is not kept for ever.
SHORT_FORM = {"runs": 20_000, "max_total_time": 30}
# An input that takes longer, in seconds, or more memory, in MiB, is a failure.
MOST_SECONDS = 10
MOST_MEMORY = 2048


@dataclasses.dataclass
class Fuzzed:
    target: str
    failed: bool
    runs: int
    edges: int
    kept: int
    log: pathlib.Path


def main() -> int:
    limits = {"max_total_time": int(sys.argv[1])} if len(sys.argv) > 1 else SHORT_FORM
    targets = os.environ.get("TARGETS", " ".join(ALL)).split()
    programs = build()
    subprocess.run([ROOT / "target/debug/seeds", FUZZ / "seeds"], check=True, stdout=subprocess.DEVNULL)
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        fuzzed = list(pool.map(lambda target: fuzz(programs / target, target, limits), targets))
    for result in fuzzed:
        print(f"{result.target:<10} {result.runs:>10,} runs {result.edges:>7,} edges {result.kept:>6,} inputs kept")
    failed = [result for result in fuzzed if result.failed]
    for result in failed:
        print(f"\n{result.target} failed:\n{tail(result.log)}", file=sys.stderr)
    if failed or len(targets) < len(ALL):
        return 1 if failed else 0
    gates.leave("fuzz", counts(fuzzed))
    return 0


def build() -> pathlib.Path:
    """Builds all targets; returns the folder of their programs."""
    sanitizer = os.environ.get("SANITIZER")
    return build_with_sanitizer(sanitizer) if sanitizer else build_instrumented()


def build_instrumented() -> pathlib.Path:
    environment = os.environ | {"RUSTC_WORKSPACE_WRAPPER": str(ROOT / "fuzz/instrument")}
    # With the features of all that is tested, so that dependencies are those that are built already.
    command = ["cargo", "build", "--workspace", "--exclude=turnlatch-wasm", "--exclude=xtask", "--locked"]
    command += [f"--bin={name}" for name in ALL]
    subprocess.run(command, check=True, cwd=ROOT, env=environment)
    return ROOT / "target" / "debug"


def build_with_sanitizer(sanitizer: str) -> pathlib.Path:
    if subprocess.run(["cargo", "fuzz", "--version"], capture_output=True, check=False).returncode:
        subprocess.run(["cargo", "install", "cargo-fuzz", "--locked"], check=True, cwd=ROOT)
    folder = FUZZ / sanitizer
    command = ["cargo", "+nightly", "fuzz", "build", "--sanitizer", sanitizer, "--target-dir", folder]
    subprocess.run(command, check=True, cwd=ROOT)
    host = subprocess.run(["rustc", "+nightly", "-vV"], check=True, capture_output=True, text=True).stdout
    return folder / re.search(r"host: (\S+)", host)[1] / "release"


def fuzz(program: pathlib.Path, target: str, limits: dict[str, int]) -> Fuzzed:
    corpus, failures, log = FUZZ / "corpus" / target, FUZZ / "failures", FUZZ / f"{target}.log"
    corpus.mkdir(parents=True, exist_ok=True)
    failures.mkdir(parents=True, exist_ok=True)
    options = {
        **limits,
        # The same beginning each time, so that a change is judged and not the luck of the day; 0 draws one.
        "seed": os.environ.get("TURNLATCH_SEED", "1"),
        "timeout": MOST_SECONDS,
        "rss_limit_mb": MOST_MEMORY,
        "dict": FUZZ / "seeds/words",
        "artifact_prefix": f"{failures}/{target}-",
        "print_final_stats": 1,
    }
    folders = [corpus, ROOT / "fuzz/corpus" / target, FUZZ / "seeds" / target]
    command = [program, *(f"-{name}={value}" for name, value in options.items()), *folders]
    with log.open("w", encoding="utf-8") as out:
        code = subprocess.run(command, stdout=out, stderr=out, check=False).returncode
    text = log.read_text(encoding="utf-8", errors="replace")
    runs = last_number(r"stat::number_of_executed_units: (\d+)", text)
    edges = last_number(r"\bcov: (\d+)", text)
    return Fuzzed(target, code != 0 or runs == 0, runs, edges, len(list(corpus.iterdir())), log)


def counts(fuzzed: list[Fuzzed]) -> dict[str, int]:
    runs, edges = sum(result.runs for result in fuzzed), sum(result.edges for result in fuzzed)
    return {"targets": len(fuzzed), "runs": runs, "edges": edges}


def last_number(pattern: str, text: str) -> int:
    return int(next(reversed(re.findall(pattern, text)), 0))


def tail(log: pathlib.Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-60:])


if __name__ == "__main__":
    sys.exit(main())
