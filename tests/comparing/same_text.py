"""What a case returns in PyTorch and in retrograd, compared as text; or the errors, by their first sentences."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

import retrograd

LIBRARIES = (torch, retrograd)
# The last line of many messages of retrograd: where the documentation explains the error.
_ADDRESS = re.compile(r"\n?^See errors/\S+ in the documentation\.$", re.MULTILINE)


def without_address(text: str) -> str:
    """A message, or what a program printed, without the addresses that end retrograd's messages."""
    return _ADDRESS.sub("", text)


def told(case: Callable[[Any], Any]) -> list[str]:
    """What a case returns in both libraries, as text; or the error."""
    found = []
    for library in LIBRARIES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = str(case(library))
        except Exception as error:
            text = f"{type(error).__name__}: {re.split(r'[.:](?: |$)|; ', without_address(str(error)))[0]}"
        found.append(re.sub(r" at 0x\w+", "", without_address(text)).replace("retrograd", "torch"))
    return found


def same(case: Callable[[Any], Any]) -> None:
    """Raises AssertionError unless both libraries say the same."""
    theirs, ours = told(case)
    assert ours == theirs
