"""The data that goes in and comes out, as it stands on the wire. Everything is a plain dict: ``match`` on ``type``.

Generated from the core's types by ``make types``; changes here are lost.
"""

# Annotations are evaluated, because `__required_keys__`, FastAPI and pydantic need them; so what is used stands first.

import sys
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

# pydantic takes no other below 3.12.
if sys.version_info >= (3, 12):
    from typing import NotRequired, TypedDict
else:
    from typing_extensions import NotRequired, TypedDict

if TYPE_CHECKING:
    Absent: TypeAlias = NoReturn
else:
    Absent = None
"""The type of a member that only other forms of the same data have. Checkers know that there is nothing to read: before
the form is known, `view["error"]` is a `RunError` for them, and `view.get("error")` is one or `None`. pydantic takes no
`NoReturn`; for it the member is `None`.
"""

Json: TypeAlias = Any
"""JSON data. It is `Any`, because a union would have to be taken apart at every step into it."""
