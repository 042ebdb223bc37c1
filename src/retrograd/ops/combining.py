"""Blocks on a diagonal. The derivative takes the blocks out again."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.linalg.matrix import block_diag as _block_diag, blocks
from .framework import Op, linear
from .indexing.indexing import slice_


def _blocks(g: Any, xs_shape: Any) -> list[Any]:
    """The block of the cotangent for each operand."""
    return [np.reshape(slice_(slice_(g, 0, top, bottom, 1), 1, left, right, 1), shape)
            for shape, (top, bottom, left, right) in zip(xs_shape, blocks(xs_shape))]


block_diag: Op = linear("block_diag", _block_diag, variadic=True, domain="promote", xs=_blocks)
