"""Entity tags: RFC 9110, sections 8.8.3 and 13.1.2."""

import re
from collections.abc import Sequence

TAG = r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")'
LIST = re.compile(rf"[ \t,]*{TAG}(?:[ \t]*,[ \t,]*{TAG})*[ \t,]*")
ONE = re.compile(TAG)


def none_match(if_none_match: Sequence[str], tag: str) -> bool:
    """Should the whole answer be sent? False: the caller has it (304).

    Tags compare weakly, as the RFC asks for this header. Several lines of it are one list; one that is
    not well formed counts as if it weren't there.

    >>> none_match([], '"a"'), none_match(['"b"'], '"a"'), none_match(["a"], '"a"')
    (True, True, True)
    >>> none_match(['"a"'], '"a"'), none_match(['"b", W/"a"'], '"a"'), none_match(["*"], '"a"')
    (False, False, False)
    """
    joined = ", ".join(if_none_match)
    if joined.strip() == "*":
        return False
    if not LIST.fullmatch(joined):
        return True
    return tag not in ONE.findall(joined)
