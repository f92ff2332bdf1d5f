"""Runs a command beside busy loops, and says how long it took: ``under_load.py COMMAND...``; LOOPS=8 is how many."""

from __future__ import annotations

import os
import subprocess
import sys
import time

LOOPS = int(os.environ.get("LOOPS") or 8)


def main() -> int:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(LOOPS)]
    begun = time.monotonic()
    try:
        code = subprocess.run(sys.argv[1:], check=False).returncode
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    seconds = time.monotonic() - begun
    print(f"beside {LOOPS} busy loops on {os.cpu_count()} processors: {seconds:.0f} s, exit code {code}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
