"""py-sm: python-statemachine, orjson and jsonschema-rs."""

from statemachine import State, StateMachine

import plain
from conversation import Conversation
from peer import Peer


class MachineRun(Conversation, StateMachine):
    queued = State(initial=True)
    running = State()
    waiting_user = State()
    succeeded = State(final=True)
    failed = State(final=True)

    grant = queued.to(running)
    complete = running.to(succeeded)
    fail = running.to(failed)
    ask = running.to(waiting_user)
    answer = waiting_user.to(queued)

    is_valid = staticmethod(plain.is_valid)

    @property
    def status(self):
        return next(iter(self.configuration)).id


peer = Peer(MachineRun)
prepare, memory_of = peer.prepare, peer.memory_of
