"""A program's text run with one torch or another, and all that it says: the transcripts of two can be compared.

A program has `torch`, `print`, and `attempt(f)`, which prints what `f()` returns or the error that it raises. Of an
error or a warning the type and the first sentence are kept, since retrograd's go on where PyTorch's end. Addresses
and the name of the package do not count.
"""

import re
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

_SENTENCE = re.compile(r"(.*?)(?:[.:;]?\s*(?:\n|$)|\.\s)", re.DOTALL)


def first_sentence(message: str) -> str:
    """The text up to its first full stop or line break."""
    found = _SENTENCE.match(message)
    return found.group(1) if found else message


def transcript(torch: Any, source: str) -> list[str]:
    """What the program prints, line by line, warnings among it."""
    lines: list[str] = []

    def say(*values: Any) -> None:
        lines.extend(_masked(" ".join(str(value) for value in values)).split("\n"))

    def attempt(function: Callable[[], Any]) -> None:
        try:
            say(function())
        except Exception as error:
            say(f"{type(error).__name__}: {first_sentence(str(error))}")

    def warned(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        say(f"{category.__name__}: {first_sentence(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # What newer Pythons say of PyTorch's own source is no behavior of PyTorch.
        warnings.filterwarnings("ignore", r"the \(type, exc, tb\) signature of throw\(\) is deprecated")
        warnings.showwarning = warned
        exec(compile(textwrap.dedent(source), "<program>", "exec"), {"torch": torch, "print": say, "attempt": attempt})
    return lines


def _masked(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x...", text.replace("retrograd", "torch"))
