"""Errors, named by what the reader must do.

SieveError
├── BadSpec          the selector's description is wrong: mend the named field
├── BadFile          the input file can't be used: the message says why
├── CorruptState     stored bytes fail their checksum or don't fit: restore a snapshot or reset the selector
├── StoreDown        Redis does not answer: wait, then try again
├── BrokerDown       Kafka does not answer: wait, then try again
├── Fenced           another worker owns this shard now: stop writing, keep nothing
├── RolledBack       the store went back behind what we built on: reload, seek back, replay
├── CannotListen     the address is taken or not ours: choose another host or port
├── AlreadyExists    a selector of that name is there: delete it first or choose another name
└── UnknownSelector  no selector of that name is there
"""


class SieveError(Exception):
    """Root of every error that this project raises on purpose."""


class BadSpec(SieveError):  # noqa: N818 - named by what the reader must do
    """A field of a selector's description is wrong.

    >>> str(BadSpec("budget", "must be at least 1"))
    'budget: must be at least 1'
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class BadFile(SieveError):  # noqa: N818
    """An input file can't be used."""


class CorruptState(SieveError):  # noqa: N818
    """Stored bytes fail their checksum or don't fit the learner."""


class StoreDown(SieveError):  # noqa: N818
    """Redis does not answer, or not in time."""


class BrokerDown(SieveError):  # noqa: N818
    """Kafka does not answer, or not in time."""


class Fenced(SieveError):  # noqa: N818
    """Another worker owns this shard now; stop writing, keep nothing."""


class RolledBack(SieveError):  # noqa: N818
    """The store is not at the version that this commit builds on; reload and replay."""


class CannotListen(SieveError):  # noqa: N818
    """An address to listen on is taken or not ours."""


class AlreadyExists(SieveError):  # noqa: N818
    """A selector of that name exists."""


class UnknownSelector(SieveError):  # noqa: N818
    """No selector of that name exists."""
