"""What a case returns in PyTorch and in retrograd, compared as text; or the errors, by their whole messages."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

import retrograd

LIBRARIES = (torch, retrograd)


def told(case: Callable[[Any], Any]) -> list[str]:
    """What a case returns in both libraries, as text; or the error."""
    found = []
    for library in LIBRARIES:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                text = str(case(library))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
        found.append(re.sub(r" at 0x\w+", "", text).replace("retrograd", "torch"))
    return found


def same(case: Callable[[Any], Any]) -> None:
    """Raises AssertionError unless both libraries say the same."""
    theirs, ours = told(case)
    assert ours == theirs
