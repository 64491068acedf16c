"""Logging to stderr, one line an event, as text or as JSON objects."""

import json
import logging
import sys
import threading

from tools.output import one_line

FACTS = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class TextLines(logging.Formatter):
    """Strangers' text may hold line breaks and terminal codes; a log line stays one line. Tracebacks keep theirs."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and a traceback below it where there is one."""
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        shown = logging.makeLogRecord({**record.__dict__, "exc_info": None, "exc_text": None})
        return one_line(super().format(shown)) + trace


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, room, message, and the traceback if there is one."""
        fields = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "thread": record.threadName,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def configure_logs(level: str, layout: str) -> None:
    """Once, at the start of a process; a crash of a thread is logged, never lost."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if layout == "json" else TextLines(FACTS))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if level != "debug":  # librdkafka repeats itself at every attempt; its errors also come once, through callbacks
        logging.getLogger("broker.librdkafka").setLevel(logging.CRITICAL)
    threading.excepthook = _log_crash


def _log_crash(crash: threading.ExceptHookArgs) -> None:
    name = crash.thread.name if crash.thread else "a thread"
    if crash.exc_value is not None:
        logging.getLogger("tools.logs").critical("%s crashed", name, exc_info=crash.exc_value)
