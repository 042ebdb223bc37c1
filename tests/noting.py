"""What a traceback shows of an error below its frames: the message, and the notes."""

from __future__ import annotations


def whole(error: BaseException | None) -> str:
    """The message of an error and its notes, line by line."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])
