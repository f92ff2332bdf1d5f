#!/usr/bin/env python3
"""Checks the Python package as users get it: what is in it, and that the source distribution builds and works.

usage: check_package.py WHEEL     with the Python that has maturin; builds into target/
"""

import email.message
import email.parser
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "python-package"
LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")
SMOKE = """
import pathlib, sys, turnlatch
assert pathlib.Path(sys.prefix).resolve() in pathlib.Path(turnlatch.__file__).resolve().parents, turnlatch.__file__
skill = turnlatch.Skill({"execution_modes": ["auto"]}, {"type": "object", "required": ["a"]})
plan = turnlatch.admit(skill, {"run_id": "r1", "engine": "codex", "execution_mode": "auto"}, engines=["codex"])
run, _ = turnlatch.Run.create(plan, 0)
run.apply({"type": "slot_granted", "slot_id": "r1/s1"}, 1)
run.apply({"type": "turn_finished", "attempt_number": 1, "text": '{"a": 1}'}, 2)
assert run.status_view()["data"] == {"a": 1}, run.explain()
"""


def main() -> None:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    check_wheel(pathlib.Path(sys.argv[1]))
    sdist = build_sdist()
    built = build_wheel(sdist)
    check_wheel(built)
    smoke_test(built)
    # What was built here would be taken for the tree's own, because both have the same target folder. With these
    # sources gone, the tree is built anew.
    shutil.rmtree(WORK)
    print("package: the wheel, the source distribution and the wheel that is built from it are in order")


def check_wheel(path: pathlib.Path) -> None:
    with zipfile.ZipFile(path) as wheel:
        names = wheel.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        folder = metadata.rpartition("/")[0]
        check_metadata(wheel.read(metadata).decode(), path)
        for name in LICENCES:
            assert wheel.read(f"{folder}/licenses/{name}") == (ROOT / name).read_bytes(), f"{path}: {name}"
    sources = ROOT / "bindings-python" / "python"
    wanted = {file.relative_to(sources).as_posix() for file in sources.rglob("*.py*") if file.suffix != ".pyc"}
    assert wanted | {"turnlatch/py.typed"} <= set(names), f"{path} lacks {wanted - set(names)}"
    extra = [name for name in names if not name.startswith(("turnlatch/", f"{folder}/"))]
    assert not extra, f"{path}: {extra}"


def check_metadata(text: str, path: pathlib.Path) -> None:
    told: email.message.Message = email.parser.Parser().parsestr(text)
    readme = (ROOT / "bindings-python" / "README.md").read_text(encoding="utf-8")
    assert told["Name"] == "turnlatch" and told["Summary"] and told["Requires-Python"] == ">=3.10", path
    assert told["License-Expression"] == "MIT OR Apache-2.0", path
    assert sorted(told.get_all("License-File", [])) == sorted(LICENCES), path
    assert told["Description-Content-Type"].startswith("text/markdown"), path
    assert told.get_payload().strip() == readme.strip(), f"{path}: the description is not the README"
    assert "Typing :: Typed" in told.get_all("Classifier", []), path
    assert not any(kind.startswith("License ::") for kind in told.get_all("Classifier", [])), f"{path}: see PEP 639"
    assert not told.get_all("Project-URL"), f"{path}: the project has no address of its own yet"


def build_sdist() -> pathlib.Path:
    run("-m", "maturin", "sdist", "--out", str(WORK), cwd=ROOT / "bindings-python")
    (archive,) = WORK.glob("*.tar.gz")
    folder = WORK / archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(WORK)
    # The archive's times are all the same old one, by which cargo would take what it built before for new.
    for file in folder.rglob("*"):
        os.utime(file)
    check_metadata((folder / "PKG-INFO").read_text(encoding="utf-8"), archive)
    for name in LICENCES:
        assert (folder / name).read_bytes() == (ROOT / name).read_bytes(), f"{archive}: {name}"
    return folder


def build_wheel(sdist: pathlib.Path) -> pathlib.Path:
    """As pip does it for a user, but with what is compiled already: the build tools, and the crates from elsewhere."""
    wheels = WORK / "wheels"
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels)]
    shared = {"CARGO_TARGET_DIR": str(ROOT / "target"), "MATURIN_PEP517_ARGS": "--profile dev"}
    run("-m", "pip", "wheel", *options, str(sdist), cwd=WORK, **shared)
    (wheel,) = wheels.glob("*.whl")
    return wheel


def smoke_test(wheel: pathlib.Path) -> None:
    environment = WORK / "venv"
    venv.create(environment, with_pip=True)
    python = str(environment / "bin" / "python")
    run("-m", "pip", "install", "--quiet", str(wheel), cwd=WORK, python=python)
    run("-c", SMOKE, cwd=environment, python=python)
    (environment / "turn.txt").write_text("Which file?", encoding="utf-8")
    told = run("-m", "turnlatch", "explain", "--mode", "interactive", "turn.txt", cwd=environment, python=python)
    assert "waiting_user" in told, told


def run(*arguments: str, cwd: pathlib.Path, python: str = sys.executable, **variables: str) -> str:
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, **variables}
    done = subprocess.run([python, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)[:200]}\n{done.stdout}\n{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
