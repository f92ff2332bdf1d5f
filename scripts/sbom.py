#!/usr/bin/env python3
"""Writes what each package is made of to target/sbom, as CycloneDX JSON, the same on every machine.

usage: sbom.py     with the Python that has the wheel and its extras
"""

import base64
import json
import re
from typing import Any

from dependencies import CRATES, ROOT, VERSION, Dependency, of_package

OUT = ROOT / "target" / "sbom"
URLS = {"crate": "pkg:cargo/turnlatch", "wheel": "pkg:pypi/turnlatch", "npm": "pkg:npm/turnlatch"}


def main() -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    for package in CRATES:
        path = OUT / f"turnlatch-{VERSION}-{package}.cdx.json"
        dependencies = of_package(package)
        path.write_text(json.dumps(bill(package, dependencies), indent=2) + "\n", encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {len(dependencies)} components")


def bill(package: str, dependencies: list[Dependency]) -> dict[str, Any]:
    url = f"{URLS[package]}@{VERSION}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": url,
                "name": "turnlatch",
                "version": VERSION,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": url,
            }
        },
        "components": [component(dependency) for dependency in dependencies],
    }


def component(dependency: Dependency) -> dict[str, Any]:
    # Older crates write a slash for "or".
    licence = re.sub(r"\s*/\s*", " OR ", dependency.licence)
    told: dict[str, Any] = {
        "type": "library",
        "bom-ref": dependency.url,
        "name": dependency.name,
        "version": dependency.version,
        "scope": "optional" if dependency.optional else "required",
        "licenses": [{"expression": licence}],
        "purl": dependency.url,
    }
    if dependency.checksum:
        told["hashes"] = [digest(dependency.checksum)]
    return told


def digest(checksum: str) -> dict[str, str]:
    if checksum.startswith("sha512-"):
        return {"alg": "SHA-512", "content": base64.b64decode(checksum.removeprefix("sha512-")).hex()}
    return {"alg": "SHA-256", "content": checksum}


if __name__ == "__main__":
    main()
