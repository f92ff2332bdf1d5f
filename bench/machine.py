"""Where and of what it was measured."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from contenders import ROOT


def describe() -> dict[str, Any]:
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": commit(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "load": round(os.getloadavg()[0], 1),
        "versions": versions(),
    }


def commit() -> str:
    head = output("git", "rev-parse", "--short=12", "HEAD")
    return head + (" and changes" if output("git", "status", "--porcelain", "--untracked-files=no") else "")


def cpu() -> str:
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return found[1].strip() if found else platform.processor()


def versions() -> dict[str, str]:
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    pinned = (ROOT / "bench/requirements.txt").read_text(encoding="utf-8")
    peers = re.findall(r"^([a-z][\w-]*)==(\S+)", pinned, re.MULTILINE)
    wanted = {"fastjsonschema", "jsonschema", "jsonschema-rs", "orjson", "python-statemachine", "transitions"}
    packages = (ROOT / "bindings-wasm/package.json").read_text(encoding="utf-8")
    return {
        "rustc": output("rustc", "--version").split()[1],
        "Python": platform.python_version(),
        "Node": output("node", "--version").lstrip("v"),
        "Chromium": output(browser, "--version").split()[1] if browser else "none",
        **{name: version for name, version in peers if name in wanted},
        **{name: version for name, version in re.findall(r'"(xstate|ajv)": "([^"]+)"', packages)},
    }


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
