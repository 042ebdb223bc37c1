"""torch.backends.native: kernels of eager programs as machine code, if the package llvmlite is there.

Only retrograd has this module. A call on large arrays then computes in one pass over memory what NumPy computes in
several. Machine code is made when a kernel is first called on large arrays, and is kept on disk. For all other calls
NumPy computes. The results differ by roundings.

>>> import retrograd as torch
>>> x = torch.randn(256, 1024)
>>> with torch.backends.native.flags(enabled=False):
...     by_numpy = torch.softmax(x, 1)
>>> torch.allclose(torch.softmax(x, 1), by_numpy)
True
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING

from ..extras import installed
from ..foundations.modes import Waiting, replaced
from ..foundations.names import reached
from ..kernels.native.door import why_off
from ..kernels.native.served import Served

__all__ = ["enabled", "flags", "is_available", "reasons", "wait"]

if TYPE_CHECKING:
    enabled: bool


class _Module(ModuleType):
    """The module, whose `enabled` is the switch that kernels look at."""

    @property
    def enabled(self) -> bool:
        """Whether machine code may compute."""
        return Served.on

    @enabled.setter
    def enabled(self, value: bool) -> None:
        Served.on = bool(value) and not why_off


sys.modules[__name__].__class__ = _Module


def is_available() -> bool:
    """Whether kernels can be machine code: llvmlite is installed, and ``RETROGRAD_NATIVE=0`` is not set."""
    return not why_off and installed("compile")


@contextmanager
def flags(enabled: bool = True, wait: bool | None = None) -> Iterator[None]:
    """A block in which machine code may compute, or may not.

    A call waits until its machine code is made, so the same calls give the same numbers in every run. With
    ``wait=False``, NumPy computes meanwhile.
    """
    with replaced(Served, "on", enabled and not why_off), replaced(
            Waiting, "on", Waiting.on if wait is None else wait):
        yield


def wait() -> None:
    """Wait until all machine code is made that calls have asked for."""
    if is_available():
        reached("compilation.eager.serving").wait()


def reasons() -> dict[str, str]:
    """Why kernels that this program has called on large arrays have no machine code. NumPy computes them."""
    return reached("compilation.eager.serving").reasons() if is_available() else {}
