"""A small agent of the Agent Client Protocol: asks leave for everything, and answers with what it was told.

It ends a run when it is told `done`, and fails a turn when it is told `fail`.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        if request["method"] == "initialize":
            write({**answer, "result": {"protocolVersion": request["params"]["protocolVersion"]}})
        elif request["method"] == "session/new":
            folder = request["params"]["cwd"]
            write({**answer, "result": {"sessionId": "protocol-1"}})
        elif request["method"] == "session/prompt":
            [prompt] = request["params"]["prompt"]
            write({**answer, **take_turn(folder, prompt["text"])})


def take_turn(folder: str, words: str) -> dict[str, Any]:
    if words == "fail":
        return {"error": {"code": -32000, "message": "log in first"}}
    options = [{"optionId": "no", "kind": "reject_once"}, {"optionId": "yes", "kind": "allow_once"}]
    write({"jsonrpc": "2.0", "id": "leave", "method": "session/request_permission", "params": {"options": options}})
    leave = json.loads(sys.stdin.readline())["result"]["outcome"]["optionId"]
    if words == "done":
        say(json.dumps({"file": folder, "__SKILL_DONE__": True}))
    else:
        for piece in (f"Leave: {leave}. ", f"Told: {words[-40:]}. ", "What next?"):
            say(piece)
    return {"result": {"stopReason": "end_turn"}}


def say(text: str) -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    params = {"sessionId": "protocol-1", "update": update}
    write({"jsonrpc": "2.0", "method": "session/update", "params": params})


def write(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
