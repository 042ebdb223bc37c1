"""Conversions to matrices of blocks: what is refused, and in which words."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch

import retrograd

SHAPES = [(4, 6), (0, 6), (2, 4, 6), (1, 4, 6), (0, 4, 6), (2, 0, 6), (4, 6, 2), (2, 3, 4, 6), (6,)]
BLOCKS: list[Any] = [(2, 3), (2, 2), (1, 1), (4, 6), (3, 2), (0, 1), (2,), 2, None]
LAYOUTS = ["dense", "coo", "csr", "csc", "bsr", "bsc"]
# What has no place here: a stack of matrices of blocks, which PyTorch makes.
STACK = "stacks of matrices are not converted"


def seen(t: Any, shape: tuple[int, ...], layout: str, way: str, block: Any, dense: int | None) -> Any:
    x = (t.arange(float(math.prod(shape))) % 3).reshape(shape)
    if layout.startswith("b") and len(shape) > 2:
        return None                                         # there is no stack of matrices of blocks to convert
    try:
        if layout != "dense":
            x = x.to_sparse() if layout == "coo" else getattr(x, f"to_sparse_{layout}")(
                *[(2, 3)] if layout.startswith("b") else [])
    except (RuntimeError, IndexError):
        return None
    options = {} if dense is None else {"dense_dim": dense}
    try:
        out = getattr(x, way)(block, **options) if way.startswith("to_") else x.to_sparse(
            layout=getattr(t, way), blocksize=block, **options)
    except (RuntimeError, IndexError, TypeError) as error:
        return type(error), str(error).split("\n")[0]
    return str(out.layout), tuple(out.shape), out.values().tolist(), out.to_dense().tolist()


@pytest.mark.parametrize("way", ["to_sparse_bsr", "to_sparse_bsc", "sparse_bsr", "sparse_bsc"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.filterwarnings("ignore:Sparse ")
def test_blocks_of(shape: tuple[int, ...], layout: str, way: str) -> None:
    for block, dense in itertools.product(BLOCKS, (None, 0, 1)):
        given = shape, layout, way, block, dense
        found, expected = seen(retrograd, *given), seen(torch, *given)
        if found != expected:
            assert len(shape) > 2, given
            assert STACK in found[1], given
            assert isinstance(expected[0], str), given
