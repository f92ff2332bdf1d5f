"""Who may ask, how much may be sent, and that no path leads out."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from conftest import StartService
from running import SKILLS, RunningService, refused_start, until
from test_bad_input import JSON, refused

MIB = 1024 * 1024


@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/jobs/nothing/cancel"])
def test_a_large_body_is_refused(service: RunningService, path: str) -> None:
    path = path.replace("nothing", service.create("ask-once", execution_mode="interactive"))
    body = b" " * (2 * MIB) + b"{}"
    refused(service.http.post(path, content=body, headers=JSON), 413, "BODY_TOO_LARGE")
    pieces = (b" " * 65536 for _ in range(64))
    refused(service.http.post(path, content=pieces, headers=JSON), 413, "BODY_TOO_LARGE")


def test_the_limit_itself_is_not_too_large(service: RunningService) -> None:
    body = b'{"skill": "soft", "engine": "scripted", "execution_mode": "interactive"}'
    full = body + b" " * (2 * MIB - len(body))
    assert service.http.post("/v1/jobs", content=full, headers=JSON).status_code == 201


@pytest.mark.parametrize(
    "kind_of_body", ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin-1", None]
)
def test_bodies_are_json(service: RunningService, kind_of_body: str | None) -> None:
    headers = {} if kind_of_body is None else {"Content-Type": kind_of_body}
    refused(service.http.post("/v1/jobs", content=b"{}", headers=headers), 415, "MEDIA_TYPE_UNSUPPORTED")


def test_json_with_its_charset(service: RunningService) -> None:
    headers = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    refused(service.http.post("/v1/jobs", content=b"{}", headers=headers), 400, "OPTION_INVALID")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "file://"])
def test_other_origins_are_turned_away(service: RunningService, origin: str) -> None:
    for path in ("/", "/v1/jobs", "/v1/health"):
        refused(service.get(path, headers={"Origin": origin}), 403, "ORIGIN_FORBIDDEN")
    refused(service.post("/v1/jobs", {}, headers={"Origin": origin}), 403, "ORIGIN_FORBIDDEN")


def test_the_own_origin_is_welcome(service: RunningService) -> None:
    assert service.get("/v1/jobs", headers={"Origin": service.url}).status_code == 200
    port = service.url.rpartition(":")[2]
    headers = {"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}
    assert service.get("/v1/jobs", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.nip.example", ""]
)
def test_a_strangers_name_for_this_machine(service: RunningService, host: str) -> None:
    """A page of a name that was made to resolve to loopback could read everything otherwise."""
    refused(service.get("/v1/jobs", headers={"Host": host}), 403, "ORIGIN_FORBIDDEN")


def test_every_answer_is_marked(service: RunningService) -> None:
    for path in ("/", "/v1/health", "/v1/nothing", "/nothing"):
        headers = service.get(path).headers
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


def test_unknown_paths_and_methods(service: RunningService) -> None:
    for path in (
        "/v1/",
        "/v1/nothing",
        "/v1/jobs/",
        "/v1/jobs/a/b",
        "/V1/jobs",
        "/nothing",
        "/v1",
        "/docs",
        "/openapi.json",
    ):
        refused(service.get(path), 404, "PATH_UNKNOWN")
    refused(service.post("/v1/nothing", {}), 404, "PATH_UNKNOWN")
    for method, path, allow in [
        ("DELETE", "/v1/jobs", "GET, POST"),
        ("POST", "/v1/health", "GET"),
        ("GET", "/v1/jobs/x/cancel", "POST"),
        ("OPTIONS", "/v1/jobs/x", "GET"),
        ("QUERY", "/v1/jobs/x/interaction/reply", "POST"),
        ("POST", "/", "GET"),
    ]:
        answer = service.http.request(method, path)
        refused(answer, 405, "METHOD_NOT_ALLOWED")
        assert answer.headers["allow"] == allow, path


def test_a_token(start_service: StartService) -> None:
    service = start_service(token="s3cret-é")
    assert service.get("/v1/jobs").status_code == 200
    assert service.get("/v1/jobs", headers={b"Authorization": "bearer s3cret-é".encode()}).status_code == 200
    for header in ("Bearer s3cret", "Bearer s3cret-é.", "Basic s3cret-é", "Bearer", "", "s3cret-é"):
        answer = service.http.get("/v1/jobs", headers={b"Authorization": header.encode()})
        refused(answer, 401, "UNAUTHORIZED")
        assert answer.headers["www-authenticate"] == "Bearer"
    assert service.get("/metrics").status_code == 200
    refused(service.get("/metrics", headers={"Authorization": "Bearer wrong"}), 401, "UNAUTHORIZED")
    refused(service.get("/%6Detrics", headers={"Authorization": ""}), 401, "UNAUTHORIZED")
    plain = service.client()
    assert plain.get("/v1/health").status_code == 200
    for path in ("/v1/skills", "/v1/nothing", "/v1/events", "/v1/openapi.json"):
        refused(plain.get(path), 401, "UNAUTHORIZED")
    refused(plain.post("/v1/jobs", json={}), 401, "UNAUTHORIZED")
    assert plain.get("/").status_code == 200, "the console asks for the token itself"


@pytest.mark.parametrize("form", ["text", "json"])
def test_it_says_at_the_start_what_agents_can_do(start_service: StartService, form: str) -> None:
    service = start_service("--log", form)
    [line] = [line for line in service.said().splitlines() if "answer in place of people" in line]
    assert "agents run as the user of this service: they can read its token" in line
    assert ('"level":"warning"' if form == "json" else " WARNING ") in line


@pytest.mark.parametrize(
    "options",
    [
        ["--host", "0.0.0.0"],
        ["--host", "::"],
        ["--port", "x"],
        ["--slots", "0"],
        ["--engines", "/nothing"],
        ["--skills", "/nothing"],
    ],
)
def test_it_does_not_start_like_this(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    monkeypatch.delenv("TURNLATCH_TOKEN", raising=False)
    refused_start(kind, tmp_path, *options)


def test_two_services_do_not_share_a_folder(service: RunningService) -> None:
    assert "another service uses" in refused_start(service.kind, service.data)
    assert service.get("/v1/health").json()["status"] == "ok"


def test_console_paths(service: RunningService) -> None:
    folder = service.data.parent
    page = service.get("/")
    assert (page.status_code, "console" in page.text) == (200, True)
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith(
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval';"
    )
    assert service.get("/assets/app.wasm").headers["content-type"] == "application/wasm"
    for path in ("/assets", "/assets/", "/leads-out.txt", "/assets/%00", "/%2e%2e/secret.txt", "/nothing"):
        refused(service.get(path), 404, "PATH_UNKNOWN")
    # A client would tidy these up before it sends them.
    for target in (
        "/../secret.txt",
        "/assets/../../secret.txt",
        "//etc/passwd",
        f"/{folder}/secret.txt",
        "/..%2fsecret.txt",
    ):
        assert b"404 " in raw(service, f"GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")


def test_folders_that_lead_out_or_are_not_there(start_service: StartService, tmp_path: Path) -> None:
    """The skills folder is gone in the end: a fault of the service, which shows nothing of its insides."""
    skills = tmp_path / "skills"
    skills.mkdir()
    (skills / "link").symlink_to(SKILLS / "soft")
    (skills / "file").write_text("not a folder")
    (skills / "half").mkdir()
    (skills / "half/SKILL.md").write_text("no manifest")
    (skills / "outside").mkdir()
    (skills / "outside/SKILL.md").symlink_to(SKILLS / "soft/SKILL.md")
    (skills / "outside/runner.json").write_text("{}")
    (skills / "large").mkdir()
    (skills / "large/SKILL.md").write_text("x" * (4 * MIB + 1))
    (skills / "large/runner.json").write_text("{}")
    service = start_service("--skills", str(skills), "--console", str(tmp_path / "nothing"))
    hint = service.get("/")
    assert (hint.status_code, hint.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert service.get("/v1/skills").json()["skills"] == []
    for name in ("link", "file", "half", "outside", "large"):
        refused(service.post("/v1/jobs", {"skill": name, "engine": "words"}), 404, "SKILL_UNKNOWN")

    assert " ERROR " not in service.said()
    service.may_break = True
    skills.rename(tmp_path / "elsewhere")
    answer = service.get("/v1/skills")
    assert refused(answer, 500, "SERVICE_FAILED") is None
    assert str(tmp_path) not in answer.text
    until(lambda: " ERROR " in service.said())
    [line] = [line for line in service.said().splitlines() if " ERROR " in line]
    assert "/v1/skills" in line and str(skills) in line, "the log has the whole story, on one line"
    assert service.get("/v1/health").json()["status"] == "ok"


def raw(service: RunningService, request: str) -> bytes:
    """Sends bytes as they are; all that is answered."""
    with socket.create_connection(("127.0.0.1", int(service.url.rpartition(":")[2])), timeout=30) as connection:
        connection.sendall(request.encode())
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
        return answer
