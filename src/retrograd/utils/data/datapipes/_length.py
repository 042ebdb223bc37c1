"""The error of pipes that do not know how many samples there are."""

from typing import Any


def no_length(pipe: Any) -> TypeError:
    """The error, to be raised."""
    return TypeError(f"{type(pipe).__name__} instance doesn't have valid length")
