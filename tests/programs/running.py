"""A program's text run with one torch or another, and all that it says: the transcripts of two can be compared.

A program has `torch`, `print`, and `attempt(f)`, which prints what `f()` returns or the error that it raises. Of an
error or a warning the type and the message are kept. Addresses and the name of the package do not count.
"""

import re
import textwrap
import warnings
from collections.abc import Callable
from typing import Any

from comparing.same_expression import said

# What is left out of a message, with the reason.
_LEFT_OUT = {
    "PyTorch adds to a warning where in C++ it was given": r" \(Triggered internally at [^)]*\)$",
    "the log of a checkpoint names PyTorch's operators, one by one": r"(?<=`torch.utils.checkpoint.checkpoint\(\)`.).*",
    "gradcheck shows numbers, which are of random inputs": r"(?<=numerical:).*",
}
_BESIDE = re.compile("|".join(_LEFT_OUT.values()))


def whole(message: object) -> str:
    """The whole message, in one line."""
    return _BESIDE.sub("", " ".join(said(message).split()))


def transcript(torch: Any, source: str) -> list[str]:
    """What the program prints, line by line, warnings among it."""
    lines: list[str] = []

    def say(*values: Any) -> None:
        lines.extend(_masked(" ".join(str(value) for value in values)).split("\n"))

    def attempt(function: Callable[[], Any]) -> None:
        try:
            say(function())
        except Exception as error:
            say(f"{type(error).__name__}: {whole(error)}")

    def warned(message: Warning | str, category: type[Warning], *args: Any, **kwargs: Any) -> None:
        say(f"{category.__name__}: {whole(message)}")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # What newer Pythons say of PyTorch's own source is no behavior of PyTorch.
        warnings.filterwarnings("ignore", r"the \(type, exc, tb\) signature of throw\(\) is deprecated")
        warnings.showwarning = warned
        exec(compile(textwrap.dedent(source), "<program>", "exec"), {"torch": torch, "print": say, "attempt": attempt})
    return lines


def _masked(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "0x...", text.replace("retrograd", "torch"))
