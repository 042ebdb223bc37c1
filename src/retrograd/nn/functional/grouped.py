"""Products of several groups of matrices at once, and the kinds of scales of products in eight bits, for imports."""

from __future__ import annotations

from enum import IntEnum

from ...foundations.dtypes import bfloat16, dtype, float16, float32, int32
from ...tensors.functions.linalg.matrix import bmm
from ...tensors.functions.shapes.joining import cat, stack
from ...tensors.tensor import Tensor

__all__ = ["ScalingType", "SwizzleType", "grouped_mm"]


class ScalingType(IntEnum):
    """What shares a scale in a product of numbers of eight bits."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(IntEnum):
    """How the scales of a product of numbers of eight bits lie in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


def _check(mat_a: Tensor, mat_b: Tensor, offs: Tensor | None) -> None:
    for name, mat in (("mat_a", mat_a), ("mat_b", mat_b)):
        if mat.dtype not in (float32, bfloat16, float16):
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {mat.dtype}")
        if mat.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if (offs is None) != (mat_a.dim() == mat_b.dim() == 3):
        raise RuntimeError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if offs is not None and (offs.dim() != 1 or offs.dtype != int32):
        raise RuntimeError("offs has to be 1D" if offs.dim() != 1 else "Offsets have to be int32")
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    stacks = [mat.size(0) for mat in (mat_a, mat_b) if mat.dim() == 3] + ([] if offs is None else [len(offs)])
    if len({*stacks}) > 1:
        raise RuntimeError("batched dimension has to match" if offs is None else "matrix batch sizes have to match")
    for mat in (mat_a, mat_b):
        lines = sorted(mat.stride()[-2:])[-1]
        if lines * mat.element_size() % 16:
            raise RuntimeError("strides should be multiple of 16 bytes")


def grouped_mm(mat_a: Tensor, mat_b: Tensor, *, offs: Tensor | None = None, bias: Tensor | None = None,
               out_dtype: dtype | None = None) -> Tensor:
    """Products of groups of matrices.

    Two stacks of matrices give a stack of products. A matrix with a stack, or two matrices, are divided into groups:
    `offs` are the ends of the groups, as int32. The rows of `mat_a` are divided if `mat_b` is a stack, the columns of
    `mat_b` if `mat_a` is a stack, and otherwise the columns of `mat_a` with the rows of `mat_b`; these give a stack.
    Raises RuntimeError for other dtypes than float32 and float16, for lines that are no multiple of 16 bytes, and for a
    `bias` or another `out_dtype`, which PyTorch does not take either.

    >>> import retrograd as torch
    >>> rows, stack = torch.ones(3, 4), torch.ones(2, 4, 4) * torch.tensor([1., 2.]).reshape(2, 1, 1)
    >>> torch.nn.functional.grouped_mm(rows, stack, offs=torch.tensor([1, 3], dtype=torch.int32))[:, 0]
    tensor([4., 8., 8.])
    """
    _check(mat_a, mat_b, offs)
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
    if offs is None:
        return bmm(mat_a, mat_b)
    ends = offs.tolist()
    parts = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    if mat_a.dim() == mat_b.dim():
        return stack([mat_a[:, part] @ mat_b[part] for part in parts])
    if mat_a.dim() == 2:                                 # rows behind the last end belong to no group, and are zeros
        rest = mat_a.new_zeros(mat_a.size(0) - ends[-1], mat_b.size(-1))
        return cat([*(mat_a[part] @ mat_b[i] for i, part in enumerate(parts)), rest])
    rest = mat_a.new_zeros(mat_a.size(1), mat_b.size(1) - ends[-1])
    return cat([*(mat_a[i] @ mat_b[:, part] for i, part in enumerate(parts)), rest], dim=1)
