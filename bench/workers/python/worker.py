"""A contender in Python: `worker.py NAME` answers requests on standard input, a line each; `worker.py NAME --cold CASE`
decides one turn as soon as it can. ``bench/README.md`` has the protocol."""

import time

BEGAN = time.perf_counter_ns()

import importlib  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402

MODULES = {
    "python": "turnlatch_contender",
    "py-reference": "reference",
    "py-sm": "statemachine_peer",
    "py-tr": "transitions_peer",
    "py-plain": "plain",
}


def main() -> None:
    name, *rest = sys.argv[1:]
    contender = importlib.import_module(MODULES[name])
    if rest:
        decision = contender.prepare(read(rest[1])).decision
        print(json.dumps({"nanoseconds": time.perf_counter_ns() - BEGAN, "decision": decision}))
        return
    prepared = None
    for line in sys.stdin:
        request = json.loads(line)
        answer = None
        if request["do"] == "prepare":
            prepared = contender.prepare(read(request["case"]))
            answer = prepared and {"decision": prepared.decision}
        elif request["do"] == "run":
            answer = prepared and {"nanoseconds": prepared.batch(request["calls"])}
        elif request["do"] == "memory":
            answer = {"bytes": contender.memory_of(request["runs"])}
        print(json.dumps(answer or {"unsupported": True}), flush=True)


def read(path: str) -> dict:
    with open(path, encoding="utf-8") as case:
        return json.load(case)


if __name__ == "__main__":
    main()
