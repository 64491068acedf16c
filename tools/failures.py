"""What can go wrong on the command line alone, named by what the reader must do.

SieveError
├── BadArgument  an argument is wrong: mend it
├── BadSetting   a SIEVE_* variable is wrong: mend it
└── ServiceDown  the service does not answer, or not as it should: start it, or mend the address
"""

from streamsieve.errors import SieveError


class BadArgument(SieveError):  # noqa: N818 - named by what the reader must do
    """An argument can't be used."""


class BadSetting(SieveError):  # noqa: N818
    """A variable of the environment can't be used.

    >>> str(BadSetting("SIEVE_HTTP_PORT", "must be a whole number"))
    'SIEVE_HTTP_PORT: must be a whole number'
    """

    def __init__(self, variable: str, message: str) -> None:
        super().__init__(f"{variable}: {message}")
        self.variable = variable


class ServiceDown(SieveError):  # noqa: N818
    """The service does not answer, or not as it should."""
