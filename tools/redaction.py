"""Secrets leave the process only as ***."""

import re
from collections.abc import Mapping

HIDDEN = "***"
TELLTALE = re.compile(r"password|passwd|secret|key|token|credential|jaas|oauthbearer\.config|\.pem$", re.IGNORECASE)
# Up to the last @, whatever stands between: a password with an unescaped / or # must not slip through.
PASSWORD = re.compile(r"(://[^:@]*):.*@", re.DOTALL)
QUERY_VALUE = re.compile(r"([?&])([^=&#]*)=([^&#]*)")


def redacted(value: object) -> object:
    """The value with passwords in URLs, and whatever a telltale key names, hidden.

    >>> redacted({"sasl.password": "hunter2", "acks": "all"})
    {'sasl.password': '***', 'acks': 'all'}
    """
    if isinstance(value, Mapping):
        return {name: HIDDEN if TELLTALE.search(str(name)) else redacted(each) for name, each in value.items()}
    return redacted_url(value) if isinstance(value, str) else value


def redacted_url(text: str) -> str:
    """A URL without its password; a text that is none stays as it is.

    >>> redacted_url("redis://me:hunter2@cache:6379/0?db=1&password=hunter2")
    'redis://me:***@cache:6379/0?db=1&password=***'
    """
    public = PASSWORD.sub(rf"\1:{HIDDEN}@", text)
    return QUERY_VALUE.sub(_redacted_query, public) if "://" in public else public


def _redacted_query(match: re.Match[str]) -> str:
    before, name, value = match.groups()
    return f"{before}{name}={HIDDEN if TELLTALE.search(name) else value}"
