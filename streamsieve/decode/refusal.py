"""Why a record is refused. Raised inside this room only: `Decoder` turns it into a `Reject`."""

from streamsieve.batch import Reason

LONGEST = 200  # characters of a detail: it travels in a Kafka header and in logs


class Refusal(Exception):  # noqa: N818 - bad input is a value outside this room, not an error
    """A record or a line of it can't be used; `detail` is one line of plain ASCII."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = clipped(detail)


def clipped(detail: str) -> str:
    """At most LONGEST characters, the end marked where something is missing."""
    return detail if len(detail) <= LONGEST else detail[: LONGEST - 3] + "..."


def shown(text: str, most: int = 40) -> str:
    r"""A stranger's text, safe to print: quoted, escaped, cut.

    >>> shown("caf\u00e9\n")
    "'caf\\xe9\\n'"
    >>> shown("abcdef", most=3)
    "'abc'..."
    """
    return ascii(text) if len(text) <= most else ascii(text[:most]) + "..."
