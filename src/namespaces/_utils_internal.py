"""What PyTorch's own build and tests ask of the library, under the names that `torch` lists.

Programs meet these names in packages that look at the build. The module is imported when a program first names one.
"""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

from .backends import mkl, openmp
from .foundations.errors import PACKAGE
from .tensors.functions.creation.creation import tensor
from .tensors.recording.public import public
from .tensors.state.base import TensorBase

# Facts about the build
has_lapack = has_spectral = True
has_mkl, has_openmp = mkl.is_available(), openmp.is_available()
# How PyTorch loads its libraries. Nothing is loaded here.
USE_GLOBAL_DEPS, USE_RTLD_GLOBAL_WITH_LIBTORCH = True, False
# Operators that PyTorch keeps out of `torch`.
PRIVATE_OPS = ("unique_dim",)


class AggregationType(Enum):
    """How a counter of PyTorch's compiler of scripts joins its values. Nothing counts here."""

    SUM = 0
    AVG = 1

    def __int__(self) -> int:
        return int(self.value)

    def __str__(self) -> str:
        return f"AggregationType.{self.name}"


SUM, AVG = AggregationType.SUM, AggregationType.AVG


class FatalError(Exception):
    """The error of a broken invariant in PyTorch's core. retrograd does not raise it."""

    __module__ = "torch"


def get_file_path(*path_components: str) -> str:
    """A path below the folder that the package was installed in."""
    return os.path.join(os.path.dirname(os.path.dirname(PACKAGE)), *path_components)


def init_num_threads() -> None:
    """Prepare the threads of the calling thread. There is nothing to prepare."""


def prepare_multiprocessing_environment(path: str) -> None:
    """Prepare processes that PyTorch's build starts. There is nothing to prepare."""


def profiler_allow_cudagraph_cupti_lazy_reinit_cuda12() -> bool:
    """Whether a profiler of NVIDIA's GPUs may start again: yes, as PyTorch answers without such a GPU."""
    return True


# Ranges of numbers that a compiler does not know. Here the numbers are known, so the range is checked.

def _check(size: int, least: int, largest: int | None) -> None:
    largest = 2**63 - 1 if largest is None else largest
    if least > largest:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={least} max={largest}")
    if not least <= size <= largest:
        raise RuntimeError(f"Invalid value range for {size} between [{least}, {largest}].")


@public("sym_constrain_range(Number size, *, int? min=None, int? max=None) -> None", strict=True)
def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a number, cut to an int, lies from `min` to `max`."""
    _check(_number(size), -2**63 if min is None else min, max)


@public("sym_constrain_range_for_size(Number size, *, int? min=None, int? max=None) -> None", strict=True)
def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """Raise RuntimeError unless a number, cut to an int, lies from `min`, or 0, to `max`. `max` is more than 2."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    _check(_number(size), 0 if min is None else min, max)


def _number(size: Any) -> int:
    return int(size.item() if isinstance(size, TensorBase) else size)


def sym_fresh_size(expr: Any) -> Any:
    """The number itself. A compiler would give it a symbol."""
    return tensor(expr).item()
