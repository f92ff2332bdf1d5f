"""How the service says no: the core's codes with the core's HTTP statuses, in one form."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Response

from turnlatch import AdmissionError, TurnlatchError, codes
from turnlatch.types import Receipt

_HTTP: dict[str, int] = {info["code"]: info["http"] for info in codes()}


class NotServed(TurnlatchError):
    """The service itself says no, before or beside the core."""

    def __init__(self, code: str, message: str, details: Any = None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code, message, details)
        self.headers = headers or {}


def check_taken(receipt: Receipt) -> None:
    """Raises the error of a request that was refused."""
    if "code" in receipt:
        raise NotServed(receipt["code"], receipt.get("message", ""), receipt)


def compact(data: Any) -> str:
    """Data as JSON text without spaces."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def json_response(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A text that is JSON already."""
    return Response(text.encode(), status, headers, "application/json")


def error_response(error: TurnlatchError) -> Response:
    """The error as clients see it."""
    details = {"problems": error.details} if isinstance(error, AdmissionError) else error.details
    body = compact({"error": {"code": error.code, "message": error.message, "details": details}})
    headers = error.headers if isinstance(error, NotServed) else None
    return json_response(body, _HTTP[error.code], headers)
