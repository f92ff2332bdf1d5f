"""py-tr: transitions, orjson and fastjsonschema. One machine for all runs, which is the cheapest way to use it."""

import fastjsonschema
from transitions import Machine

from conversation import Conversation
from peer import Peer
from skill import SCHEMA

validate = fastjsonschema.compile(SCHEMA)


class ModelRun(Conversation):
    @classmethod
    def create(cls):
        run = cls()
        machine.add_model(run)
        # The machine keeps every model otherwise, and what it keeps is looked through for each new one.
        machine.models.clear()
        return run

    @property
    def status(self):
        return self.state

    @staticmethod
    def is_valid(output):
        try:
            validate(output)
        except fastjsonschema.JsonSchemaValueException:
            return False
        return True


machine = Machine(
    model=None,
    states=["queued", "running", "waiting_user", "succeeded", "failed"],
    initial="queued",
    auto_transitions=False,
    transitions=[
        {"trigger": "grant", "source": "queued", "dest": "running", "before": "on_grant"},
        {"trigger": "complete", "source": "running", "dest": "succeeded", "before": "on_complete"},
        {"trigger": "fail", "source": "running", "dest": "failed"},
        {"trigger": "ask", "source": "running", "dest": "waiting_user", "before": "on_ask"},
        {"trigger": "answer", "source": "waiting_user", "dest": "queued", "before": "on_answer"},
    ],
)

peer = Peer(ModelRun)
prepare, memory_of = peer.prepare, peer.memory_of
