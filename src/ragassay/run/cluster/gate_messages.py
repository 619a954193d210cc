"""What workers tell the one limiter of a cluster, and what it grants them, as bytes. Pure."""

from __future__ import annotations

import msgspec

from ragassay.run.board_file import Limits
from ragassay.run.budget import Amount, Need
from ragassay.run.cluster.messages import Fault
from ragassay.run.limiter import LimiterReport, Ticket


class Message(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something that a worker says of one endpoint."""

    endpoint: str


class Known(Message, frozen=True, kw_only=True):
    """The endpoint and its limits; the first word about it. `counted`: its calls draw on the budget."""

    limits: Limits
    counted: bool


class Want(Message, frozen=True, kw_only=True):
    """A call waits to start."""

    id: int
    need: Need | None


class Drop(Message, frozen=True, kw_only=True):
    """That call waits no longer; where it was granted meanwhile, it has not been made."""

    id: int
    need: Need | None


class Served(Message, frozen=True, kw_only=True):
    """A call was served."""

    ticket: Ticket


class Refused(Message, frozen=True, kw_only=True):
    """A call was refused for its rate."""

    ticket: Ticket
    fault: Fault


class Cool(Message, frozen=True, kw_only=True):
    """A call failed; the server may have named a time before which none is to start."""

    fault: Fault


class Correct(Message, frozen=True, kw_only=True):
    """What a call took in tokens, in place of what was expected."""

    need: Need
    tokens: int


class Release(Message, frozen=True, kw_only=True):
    """A call has ended in whatever way."""

    need: Need | None


class Spend(Message, frozen=True, kw_only=True):
    """What a call took of the budget; `endpoint` is empty."""

    amount: Amount
    estimated: bool


Said = Known | Want | Drop | Served | Refused | Cool | Correct | Release | Spend


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """A call may start under a ticket, or is refused."""

    id: int
    ticket: Ticket | None = None
    fault: Fault | None = None


class Figures(msgspec.Struct, kw_only=True):
    """The budget as it stands, and what each endpoint's limiter did."""

    spent: Amount = Amount(0, 0)
    estimated: Amount = Amount(0, 0)
    estimated_calls: int = 0
    max_microusd: int | None = None
    max_tokens: int | None = None
    limiters: dict[str, LimiterReport] = msgspec.field(default_factory=dict)


encode = msgspec.msgpack.Encoder().encode
read_said = msgspec.msgpack.Decoder(list[Said]).decode
read_grants = msgspec.msgpack.Decoder(list[Grant]).decode
read_figures = msgspec.msgpack.Decoder(Figures).decode
