"""A scripted agent: asks which file to use, takes the answer and finishes.

usage: agent.py [ANSWER]     one turn: asks without an answer, finishes with one
       agent.py --sticky     stays and reads its answers, one line each; a line "---" ends each turn
"""

import json
import sys

QUESTION = 'Two fit.\n{"ask_user": {"prompt": "Which file?", "kind": "choose_one", "options": ["a.txt", "b.txt"]}}'


def finish(answer: str) -> None:
    print("Done.", json.dumps({"file": answer, "__SKILL_DONE__": True}), flush=True)


if sys.argv[1:] == ["--sticky"]:
    print(QUESTION, "---", sep="\n", flush=True)
    for line in sys.stdin:
        finish(line.strip())
        print("---", flush=True)
elif sys.argv[1:]:
    finish(sys.argv[1])
else:
    print(QUESTION)
