"""The call of a composed operator on tensors: by its composition, or by its kernel where a compiler traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import is_narrow
from ...foundations.modes import local
from ...kernels.kinds import OtherArray
from ...ops.framework import Op
from ..state.base import TensorBase, plain


def _is_narrow(arg: Any) -> bool:
    return isinstance(arg, TensorBase) and is_narrow(arg._array.dtype)


def composing(op: Op, composition: Callable[..., Any]) -> Callable[..., Any]:
    """The call of a composed op: its composition, unless nothing is recorded and a compiler asks for the kernel.

    Of floats of 16 bits, each step is rounded, as in a plain pass.
    """
    def call(*args: Any) -> Any:
        tape: Any = getattr(local.thread.transform, "__self__", None)
        if local.thread.grad or not hasattr(tape, "keeps") or not tape.keeps(op) or any(map(_is_narrow, args)):
            return composition(*args)
        absent: list[bool] = []

        def kernel(*arrays: Any) -> Any:
            found = local.thread.run(op.kernel, *arrays)
            if not isinstance(found, (tuple, list)):
                return found if isinstance(found, OtherArray) else np.asarray(found)
            absent[:] = [part is None for part in found]
            return tuple([np.asarray(part) for part in found if part is not None])

        found = local.thread.transform(op, kernel, tuple([  # type: ignore[misc]
            arg._array if isinstance(arg, TensorBase) else arg for arg in args]), False)
        parts = iter(found if type(found) is tuple else ())
        return [None if none else plain(next(parts)) for none in absent] if absent else plain(found)

    return call
