"""What every contender is asked: the schema, the marker, and the words of a short conversation."""

import json
import pathlib

SKILL = json.loads(pathlib.Path(__file__).parents[2].joinpath("skill.json").read_text(encoding="utf-8"))
SCHEMA = SKILL["output_schema"]
MARKER = "__SKILL_DONE__"
QUESTION = "There are three notes. Which one shall I summarise?"
DONE = '{"summary":"s","items":[],"__SKILL_DONE__":true}'


def decision(status: str, output: object) -> dict:
    """What is compared with the decision that is right."""
    return {"status": status, "items": len(output["items"])} if status == "succeeded" else {"status": status}
