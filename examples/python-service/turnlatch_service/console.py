"""The console's files. No path leads out of its folder."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from fastapi import Response
from fastapi.responses import FileResponse

from .errors import NotServed

_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'none'"
)
_NOT_BUILT = "The console is not built. The API is at /v1; its description is at /v1/openapi.json.\n"
# Not left to the machine's own table: a wasm file of another type would not be compiled while it loads.
_TYPES = {".wasm": "application/wasm", ".js": "text/javascript", ".map": "application/json"}


def console_file(folder: Path, path: str) -> Response:
    """A file of the console, or ``PATH_UNKNOWN``."""
    headers = {"Content-Security-Policy": _POLICY}
    if path == "" and not (folder / "index.html").is_file():
        return Response(_NOT_BUILT, headers=headers, media_type="text/plain")
    # A zero byte is the one character that no path can have.
    found = None if "\0" in path else (folder / (path or "index.html")).resolve()
    if found is None or not found.is_relative_to(folder.resolve()) or not found.is_file():
        raise NotServed("PATH_UNKNOWN", "there is nothing at this path")
    kind = _TYPES.get(found.suffix) or mimetypes.guess_type(found.name)[0] or "application/octet-stream"
    return FileResponse(found, headers=headers, media_type=kind)
