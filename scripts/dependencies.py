"""What users get with each package, or need for its extras, from the lock files and from what is installed."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import pathlib
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from packaging.requirements import Requirement

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.findall(r'^version = "(.+)"$', (ROOT / "Cargo.toml").read_text(encoding="utf-8"), re.MULTILINE)[0]
# The crate that is published or compiled into each package, and what it is built for; anything, if nothing is said.
CRATES = {
    "crate": ("turnlatch", None),
    "wheel": ("turnlatch-python", None),
    "npm": ("turnlatch-wasm", "wasm32-unknown-unknown"),
}
NPM = ROOT / "bindings-wasm"


@dataclass(frozen=True, order=True)
class Dependency:
    """``kind`` is that of a package URL; ``optional`` is what only an extra or an optional peer needs."""

    kind: str
    name: str
    version: str
    licence: str
    checksum: str = ""
    optional: bool = False

    @property
    def url(self) -> str:
        return f"pkg:{self.kind}/{self.name.replace('@', '%40')}@{self.version}"


def of_package(package: str) -> list[Dependency]:
    """Everything that users get with it; Python's and JavaScript's as they are installed or locked here."""
    crate, platform = CRATES[package]
    more = {"crate": (), "wheel": python_packages(), "npm": npm_packages()}[package]
    return sorted({*crates(crate, platform), *more})


def crates(root: str, platform: str | None) -> Iterable[Dependency]:
    metadata = cargo_metadata(platform)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    seen, todo = set(), [id_ for id_, package in packages.items() if package["name"] == root]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo += [
                dependency["pkg"]
                for dependency in nodes[current]["deps"]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
    for id_ in seen:
        package = packages[id_]
        # Our own have no source.
        if package["source"] is not None:
            name, version = package["name"], package["version"]
            yield Dependency("cargo", name, version, package["license"] or "", locked_crates()[name, version][1])


@functools.cache
def cargo_metadata(platform: str | None) -> dict[str, Any]:
    """Fails if the lock file is not up to date."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += [] if platform is None else ["--filter-platform", platform]
    told = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return json.loads(told)


@functools.cache
def locked_crates() -> dict[tuple[str, str], tuple[str, str]]:
    """The source and checksum of every crate of the lock file, by name and version."""
    found = {}
    for block in (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]:
        told = dict(re.findall(r'^(\w+) = "(.*)"$', block, re.MULTILINE))
        found[told["name"], told["version"]] = (told.get("source", ""), told.get("checksum", ""))
    return found


def npm_packages() -> Iterable[Dependency]:
    """What the package's dependencies and optional peers need; nothing of it is inside of the package."""
    manifest = json.loads((NPM / "package.json").read_text(encoding="utf-8"))
    locked = json.loads((NPM / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    optional = {name for name, told in manifest.get("peerDependenciesMeta", {}).items() if told.get("optional")}
    wanted = {**manifest.get("dependencies", {}), **manifest.get("peerDependencies", {})}
    seen: set[str] = set()
    for name in wanted:
        todo = [("", name)]
        while todo:
            path = resolved(locked, *todo.pop())
            if path is None or path in seen:
                continue
            seen.add(path)
            told = locked[path]
            url_name = path.rpartition("node_modules/")[2]
            licence, integrity = told.get("license", ""), told["integrity"]
            yield Dependency("npm", url_name, told["version"], licence, integrity, optional=name in optional)
            todo += [(path, needed) for needed in told.get("dependencies", {})]


def resolved(locked: dict[str, Any], needed_by: str, name: str) -> str | None:
    """Where Node would find it: in the nearest folder of modules above."""
    while True:
        path = f"{needed_by}/node_modules/{name}".removeprefix("/")
        if path in locked or not needed_by:
            return path if path in locked else None
        needed_by = needed_by.rpartition("node_modules/")[0].removesuffix("/")


def python_packages() -> Iterable[Dependency]:
    """What the installed package and its extras require, at the versions that are installed here."""
    seen: set[str] = set()
    todo = [
        (Requirement(text), {"", *extras("turnlatch")}, False)
        for text in importlib.metadata.requires("turnlatch") or []
    ]
    while todo:
        requirement, asked, is_needed = todo.pop()
        if requirement.marker and not any(requirement.marker.evaluate({"extra": extra}) for extra in asked):
            continue
        name = requirement.name
        optional = is_needed or "extra ==" in str(requirement.marker or "")
        told = importlib.metadata.metadata(name)
        for text in importlib.metadata.requires(name) or []:
            key = f"{name} {sorted(requirement.extras)} {text}"
            if key not in seen:
                seen.add(key)
                todo.append((Requirement(text), {"", *requirement.extras}, optional))
        yield Dependency("pypi", told["Name"].lower(), told["Version"], licence_of(told), optional=optional)


def extras(distribution: str) -> list[str]:
    return importlib.metadata.metadata(distribution).get_all("Provides-Extra") or []


def licence_of(told: Any) -> str:
    """The expression, or what older metadata says in its place."""
    classified = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    said = told["License-Expression"] or (classified[0] if classified else told["License"] or "")
    return {
        "MIT License": "MIT",
        "BSD License": "BSD-3-Clause",
        "Apache Software License": "Apache-2.0",
        "Python Software Foundation License": "PSF-2.0",
    }.get(said, said)
