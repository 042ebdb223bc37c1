"""The frequencies that the elements of a transform stand for, and shifts of their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.devices import DeviceLike
from ..foundations.dtypes import dtype as torch_dtype, letter, unimplemented
from ..foundations.errors import noted
from ..tensors.arguments.dims import as_int
from ..tensors.arguments.options import element_type, made
from ..tensors.functions.shapes.rearranging import roll
from ..tensors.recording.out_rules import CONSTANT, COUNT_NOTICE, rule
from ..tensors.recording.public import public
from ..tensors.tensor import Tensor
from .points import dim_of


def _frequencies(name: str, size: Callable[[int], int]) -> Callable[..., Any]:
    """fftfreq or rfftfreq."""

    @public(f"fft_{name}(int n, float d=1., *, dtype dtype=None, layout layout=None, device device=None, bool "
            "pin_memory=None, bool requires_grad=False, Tensor out=None)", name=name, strict=True,
            out=rule(gradient=CONSTANT, typed=True, any_shape=True, notice=COUNT_NOTICE, blame=f"fft_{name}"),
            doc=f"The frequencies of the elements of {'an rfft' if name[0] == 'r' else 'an fft'}, in the same "
                "order.\n\n    "
                "The transform has `n` points at a distance of `d`. The result has "
                f"{'n // 2 + 1' if name[0] == 'r' else 'n'} elements. Raises RuntimeError unless "
                "`dtype` is a float dtype.")
    def function(n: int, d: float = 1.0, *, dtype: torch_dtype | None = None, layout: Any = None,
                 device: DeviceLike | None = None, requires_grad: bool = False) -> Any:
        n = as_int(f"fft_{name}", n, "n", 1)
        target = element_type(name, dtype)
        if letter(target) not in "fc":
            raise RuntimeError(f"{name} requires a floating point or complex dtype")
        if size(n) < 0:
            raise RuntimeError(f"Trying to create tensor with negative dimension {size(n)}: [{size(n)}]")
        if target.kind == "c":
            raise unimplemented("arange_cpu", target)
        with np.errstate(all="ignore"):
            step = np.asarray(1.0) / np.asarray(n * d, np.float64)
            return made((_counts(size(n), n).astype(target) * step).astype(target), device, requires_grad)

    return function


def _counts(size: int, n: int) -> Any:
    """0, 1, 2 …, followed by the negative numbers from the middle of `n` on."""
    counts = np.arange(size)
    counts[(n + 1) // 2 if size == n else size:] -= n
    return counts


fftfreq, rfftfreq = _frequencies("fftfreq", int), _frequencies("rfftfreq", lambda n: int(n / 2) + 1)


def _shift(name: str, offset: Callable[[int], int]) -> Callable[..., Any]:
    """fftshift or ifftshift."""

    @public(f"fft_{name}(Tensor input, ints[1] dim=None)", name=name, doc=(
        "A copy with the frequency 0 moved from the front to the middle, along `dim` or all dims." if name[0] == "f"
        else "A copy with the frequency 0 moved from the middle to the front: the inverse of `fftshift`."))
    def function(input: Tensor, dim: int | Sequence[int] | None = None) -> Any:
        shape = input._array.shape
        dims = range(len(shape)) if dim is None else dim if isinstance(dim, (tuple, list)) else (dim,)
        axes = [dim_of(as_int(f"fft_{name}", d, "dim"), len(shape)) for d in dims]
        if not axes:
            raise noted(RuntimeError("`shifts` required"), because="there is no dim to shift along")
        return roll(input, tuple([offset(shape[axis]) for axis in axes]), tuple(axes))

    return function


fftshift, ifftshift = _shift("fftshift", lambda n: n // 2), _shift("ifftshift", lambda n: (n + 1) // 2)
