#!/usr/bin/env python3
"""Checks where dependencies come from, under which licences, and that packages contain the files of their lists.

usage: check_supply_chain.py WHEEL     with the Python that has the wheel, its extras and maturin
       UPDATE_PACKAGES=1 writes the lists in tests/packages
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable

from dependencies import CRATES, NPM, ROOT, VERSION, Dependency, locked_crates, of_package

import gates

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
    "PSF-2.0",
}
# Not in our packages: what the extra for DBOS installs beside it, unchanged, and what users may agree to or not.
AGREED_BY_NAME = {"psycopg": "LGPL-3.0-only", "psycopg-binary": "LGPL-3.0-only"}
CRATES_FROM = "registry+https://github.com/rust-lang/crates.io-index"
NPM_FROM = "https://registry.npmjs.org/"
LISTS = ROOT / "tests" / "packages"
WORK = ROOT / "target" / "packages"


def main() -> int:
    wrong = [*check_cargo_lock(), *check_npm_locks(), *check_pins()]
    dependencies = {dependency for package in CRATES for dependency in of_package(package)}
    wrong += check_licences(dependencies)
    contents = {"crate": crate(), "wheel": wheel(sys.argv[1]), "sdist": sdist(), "npm": npm()}
    for package, files in contents.items():
        wrong += check_files(package, sorted(files))
    if wrong:
        print("\n".join(wrong))
        return 1
    licences = {part for dependency in dependencies for part in re.findall(r"[\w.-]+", dependency.licence)} - {
        "OR",
        "AND",
    }
    count = sum(map(len, contents.values()))
    locked = len(locked_crates()) + sum(len(read_lock(path)) - 1 for path in npm_locks())
    counts = {"dependencies": len(dependencies), "locked": locked, "licences": len(licences), "files": count}
    gates.leave("supply-chain", counts)
    print(f"supply chain: {len(dependencies)} dependencies of packages, {locked} locked, {count} files, all as agreed")
    return 0


def check_cargo_lock() -> Iterable[str]:
    for (name, version), (source, checksum) in locked_crates().items():
        if source and (source != CRATES_FROM or not re.fullmatch("[0-9a-f]{64}", checksum)):
            yield f"Cargo.lock: {name} {version} comes from {source!r} with checksum {checksum!r}"
        if not source and not any(name == told for told in own_crates()):
            yield f"Cargo.lock: {name} {version} has no source"


def own_crates() -> list[str]:
    manifests = [path for pattern in ("*", "tests/*", "bench/*") for path in ROOT.glob(f"{pattern}/Cargo.toml")]
    return [re.findall(r'^name = "(.+)"$', path.read_text(encoding="utf-8"), re.MULTILINE)[0] for path in manifests]


def npm_locks() -> list[pathlib.Path]:
    tracked = subprocess.run(
        ["git", "ls-files", "--", "package-lock.json", "*/package-lock.json"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / path for path in tracked.splitlines()]


def read_lock(path: pathlib.Path) -> dict[str, dict[str, object]]:
    packages: dict[str, dict[str, object]] = json.loads(path.read_text(encoding="utf-8"))["packages"]
    return packages


def check_npm_locks() -> Iterable[str]:
    """`npm ci` checks what it installs against the same; what is never installed here is looked at as well."""
    for path in npm_locks():
        place, locked = path.relative_to(ROOT), read_lock(path)
        manifest = json.loads(path.with_name("package.json").read_text(encoding="utf-8"))
        for kind in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
            if manifest.get(kind, {}) != locked[""].get(kind, {}):
                yield f"{place}: {kind} are not those of package.json"
        ours = {str((path.parent / name).resolve()) for name in locked if name.startswith("..")}
        for name, told in locked.items():
            source = str(told.get("resolved", NPM_FROM))
            if not name or str((path.parent / name).resolve()) in ours:
                continue
            if told.get("link") and str((path.parent / source).resolve()) in ours and ours <= {str(NPM)}:
                continue
            if not source.startswith(NPM_FROM) or not str(told.get("integrity", "")).startswith("sha512-"):
                yield f"{place}: {name} comes from {source} with integrity {told.get('integrity')!r}"


def check_pins() -> Iterable[str]:
    """What pip installs for checks and tests is of one version, from the registry."""
    paths = [*ROOT.glob("*/requirements*.txt"), *ROOT.glob("*/*/requirements*.txt"), *ROOT.glob("tests/suites/*.txt")]
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if (
                line
                and not line.startswith("#")
                and not re.fullmatch(r"[\w.\[\],-]+==[\w.]+( --hash=sha256:[0-9a-f]{64})?", line)
            ):
                yield f"{path.relative_to(ROOT)}: {line!r} is not pinned"


def check_licences(dependencies: Iterable[Dependency]) -> Iterable[str]:
    for dependency in sorted(dependencies):
        agreed = dependency.optional and AGREED_BY_NAME.get(dependency.name) == dependency.licence
        if not agreed and not is_allowed(dependency.licence):
            yield f"{dependency.url}: licence {dependency.licence!r} is not on the list"


def is_allowed(expression: str) -> bool:
    """One of the alternatives must consist of agreed licences only."""
    alternatives = re.split(r"\s+OR\s+|/", expression.replace("(", " ").replace(")", " "))
    return any(all(part.strip() in ALLOWED for part in re.split(r"\s+AND\s+", one)) for one in alternatives)


def check_files(package: str, files: list[str]) -> Iterable[str]:
    path = LISTS / f"{package}.txt"
    if os.environ.get("UPDATE_PACKAGES"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{file}\n" for file in files), encoding="utf-8")
    listed = Counter(path.read_text(encoding="utf-8").splitlines())
    place = path.relative_to(ROOT)
    yield from (f"{package}: {file} is not on the list {place}" for file in (Counter(files) - listed).elements())
    yield from (f"{package}: {file} of the list {place} is missing" for file in (listed - Counter(files)).elements())


def crate() -> list[str]:
    # That the working copy has changes is no matter here, and what git has no say in is left out.
    listed = run(["cargo", "package", "--list", "--allow-dirty", "--locked", "--package", "turnlatch"])
    return [file for file in listed.splitlines() if file != ".cargo_vcs_info.json"]


def wheel(path: str) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        return [file.replace(VERSION, "VERSION") for file in archive.namelist()]


def sdist() -> list[str]:
    shutil.rmtree(WORK, ignore_errors=True)
    run([sys.executable, "-m", "maturin", "sdist", "--out", str(WORK)], cwd=ROOT / "bindings-python")
    (path,) = WORK.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return [file.replace(VERSION, "VERSION") for file in archive.getnames()]


def npm() -> list[str]:
    (packed,) = json.loads(run(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], cwd=NPM))
    # What entries share is named after its content.
    return [re.sub(r"shared-[A-Z0-9]{8}\b", "shared-DIGEST", file["path"]) for file in packed["files"]]


def run(command: list[str], cwd: pathlib.Path = ROOT) -> str:
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, "PATH": path}, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
