#!/usr/bin/env python3
"""Runs tests under Miri, which checks every access to memory, and leaves what it counted as the gate `miri`.

The core has no unsafe code, but what it is built on has. Miri is a hundred times slower than a processor, so these are
the tests of the core that end within minutes, without the schema engine, and a few random lives of runs. A nightly
compiler is needed; without one nothing is run and nothing left.
"""

import os
import pathlib
import re
import subprocess
import sys

import gates

ROOT = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    if subprocess.run(["rustc", "+nightly", "--version"], capture_output=True, check=False).returncode:
        print("miri: not run, there is no nightly toolchain (rustup toolchain install nightly)")
        return 0
    subprocess.run(["rustup", "component", "add", "miri", "rust-src", "--toolchain", "nightly"], check=True)
    passed = 0
    for arguments in COMMANDS:
        command = ["cargo", "+nightly", "miri", "test", "--locked", "--target-dir=target/miri", *arguments]
        environment = os.environ | {"MIRIFLAGS": "-Zmiri-disable-isolation"}
        with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as tests:
            for line in tests.stdout or ():
                print(line, end="", flush=True)
                passed += sum(int(count) for count in re.findall(r"^test result: ok\. (\d+) passed", line))
        if tests.returncode:
            return tests.returncode
    if not passed:
        sys.exit("miri: no test was run")
    gates.leave("miri", {"tests": passed})
    return 0


# Without its features the core has no schema engine. What is left out reads millions of bytes, or numbers.
COMMANDS = [
    [
        *("--package=turnlatch", "--lib", "--no-default-features", "--features=streams,observe", "--"),
        *(
            "--skip=flood",
            "--skip=never_ends",
            "--skip=beyond_the_limit",
            "--skip=float",
            "--skip=wherever",
            "--skip=full_reader",
            "--skip=among_many",
            "--skip=same_settings",
            "--skip=last_byte",
            "--skip=longer_than_a_row",
        ),
    ],
    ["--package=turnlatch-tests", "--test=properties", "--", "short_lives"],
]

if __name__ == "__main__":
    sys.exit(main())
