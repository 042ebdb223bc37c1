"""Joining, splitting, repeating and rearranging, and blocks on a diagonal. All are linear.

The derivative of a join is a split, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..foundations.dtypes import Shape
from ..kernels import joining, shape as kernels
from ..kernels.linalg.matrix import block_diag as _block_diag, blocks
from .framework import Op, linear
from .indexing.indexing import slice_

if TYPE_CHECKING:
    from .values import Value


def _parts(g: Value, xs_shape: Sequence[Shape], dim: int) -> list[Any]:
    """The part of the cotangent for each operand. An operand of shape [0], which `cat` skips, gets an empty part."""
    if (0,) not in xs_shape:
        return split(g, tuple([shape[dim] for shape in xs_shape]), dim)  # type: ignore[no-any-return]
    sizes = [0 if shape == (0,) and g.ndim != 1 else shape[dim] for shape in xs_shape]
    parts = split(g, tuple(sizes), dim)
    return [np.reshape(part, (0,)) if shape == (0,) else part for part, shape in zip(parts, xs_shape)]


cat: Op = linear("cat", joining.concatenate, variadic=True, domain="promote", layout="kept", xs=_parts)
stack: Op = linear("stack", joining.stack, variadic=True, domain="promote", layout="kept",
                   xs=lambda g, dim: unbind(g, dim))

unbind: Op = linear("unbind", kernels.unbind, view=True, outputs="*", x=lambda g, dim: stack(g, dim))
split: Op = linear("split", kernels.split, view=True, outputs="*", x=lambda g, dim: cat(g, dim))
split_with_sizes: Op = linear("split_with_sizes", kernels.split, view=True, outputs="*", x=lambda g, dim: cat(g, dim))

repeat: Op = linear("repeat", joining.repeat, x=lambda g, x_shape, repeats: sum_of_parts(g, x_shape, repeats))
sum_of_parts: Op = linear("sum_of_parts", joining.sum_of_parts, g=lambda g, repeats: repeat(g, repeats))

flip: Op = linear("flip", kernels.flip, layout="kept", x=lambda g, dims: flip(g, dims))
roll: Op = linear("roll", kernels.roll, x=lambda g, shifts, dims: roll(g, tuple([-n for n in shifts]), dims))
rot90: Op = linear("rot90", kernels.rot90, layout="kept", x=lambda g, k, dims: rot90(g, -k, dims))
tril: Op = linear("tril", kernels.tril, x=lambda g, diagonal: tril(g, diagonal))
triu: Op = linear("triu", kernels.triu, x=lambda g, diagonal: triu(g, diagonal))


def _blocks(g: Value, xs_shape: Sequence[Shape]) -> list[Any]:
    """The block of the cotangent for each operand. The engine makes that of a vector of its row, as in PyTorch."""
    parts = [slice_(slice_(g, 0, top, bottom, 1), 1, left, right, 1) for top, bottom, left, right in blocks(xs_shape)]
    return [part if shape else np.reshape(part, ()) for part, shape in zip(parts, xs_shape)]


block_diag: Op = linear("block_diag", _block_diag, variadic=True, domain="promote", xs=_blocks)
