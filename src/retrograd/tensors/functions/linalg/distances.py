"""Cross products, and distances between all pairs of rows."""

from __future__ import annotations

import math
from typing import Any

from ....foundations.dtypes import legacy, letter, unimplemented
from ....foundations.errors import noted, warn_once
from ....kernels.shape import common_shape
from ....ops import shape as shape_ops
from ....ops.linalg import norms as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, axis_of
from ...recording.out_rules import APART, EXACT, rule
from ...recording.public import public

_NO_DIM = ("Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
           "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in "
           "a future release.")


@public("cross(Tensor input, Tensor other, int dim=None, out)", method=True)
def cross(input: TensorBase, other: TensorBase, dim: int | None = None, *, out: TensorBase | None = None) -> Any:
    """The cross products of vectors of length 3 along `dim`; without `dim`, along the first dim of size 3.

    Raises RuntimeError if there is no dim of size 3, and if the operands differ in dtype or in the number of dims.
    """
    if dim is None:
        shape = input._array.shape
        warn_once(_NO_DIM)
        if 3 not in shape:
            raise RuntimeError("no dimension of size 3 in input")
        dim = shape.index(3)
    return linalg_cross(input, other, dim=dim, out=out)  # type: ignore[call-arg]


@public("linalg_cross(Tensor input, Tensor other, *, int dim=-1, Tensor out=None)",
        out=rule(exact=EXACT, overlap=APART, blame="linalg_cross"), name="cross")
def linalg_cross(input: TensorBase, other: TensorBase, *, dim: int = -1) -> Any:
    """The cross products of vectors of length 3 along `dim`; the other dims broadcast.

    Raises RuntimeError if the operands differ in dtype or in the number of dims, or `dim` does not have size 3.

    >>> import retrograd as torch
    >>> torch.linalg.cross(torch.tensor([1, 0, 0]), torch.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    a, b = input._array, other._array
    if a.ndim != b.ndim:
        raise noted(
            RuntimeError("linalg.cross: inputs must have the same number of dimensions."),
            instead="unsqueeze the other")
    axis = axis_of("linalg_cross", dim, a.ndim)
    sizes = (a.shape[axis], b.shape[axis]) if a.ndim else (1, 1)
    if sizes != (3, 3):
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    common_shape(a.shape, b.shape)
    if a.dtype is not b.dtype:
        raise noted(
            RuntimeError(f"expected scalar type {legacy(a)} but found {legacy(b)}"),
            instead="convert one with .to(dtype)")
    if a.dtype.kind == "b":
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    return ops.cross(input, other, dim)


# With more rows than this, the distances come from a product of matrices, unless the caller says otherwise.
_MANY = 25
_MODES = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": True,
          "donot_use_mm_for_euclid_dist": False}


@public()
def cdist(x1: TensorBase, x2: TensorBase, p: float = 2.0,
          compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Any:
    """The p-norm of the difference of each row of `x1` and each row of `x2`: (…, n, m) and (…, k, m) give (…, n, k).

    For p = 2 and more than 25 rows, or if `compute_mode` asks for it, the distances come from a product of matrices,
    which is faster and less accurate near 0. The gradient at distance 0 is 0. Raises RuntimeError for ints, for a
    negative p, and if the rows differ in length; ValueError for an unknown mode.

    >>> import retrograd as torch
    >>> torch.cdist(torch.tensor([[0., 0.], [3., 0.]]), torch.tensor([[3., 4.]]))
    tensor([[5.],
            [4.]])
    """
    if (compute_mode is not None and not isinstance(compute_mode, str)) or compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    a, b = array_of("cdist", x1, "x1"), array_of("cdist", x2, "x2", 2)
    for argument, array in (("X1", a), ("X2", b)):
        if array.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {argument} got: {array.ndim}D")
    if a.shape[-1] != b.shape[-1]:
        raise RuntimeError("X1 and X2 must have the same number of columns. X1: "
                           f"{a.shape[-1]} X2: {b.shape[-1]}")
    for argument, array in (("X1", a), ("X2", b)):
        if letter(array.dtype) != "f":
            raise RuntimeError(f"cdist only supports floating-point dtypes, {argument} got: {legacy(array)}")
    if not p >= 0:
        raise RuntimeError("cdist only supports non-negative p values")
    stack = common_shape(a.shape[:-2], b.shape[:-2])
    if a.dtype is not b.dtype:
        raise noted(
            RuntimeError(f"expected scalar type {legacy(a)} but found {legacy(b)}"),
            instead="convert one with .to(dtype)")
    by_product = _MODES[compute_mode]
    if by_product is None:
        by_product = max(a.shape[-2], b.shape[-2]) > _MANY
    if p == 2 and by_product and a.size and b.size:
        if (count := math.prod(stack)) > 1:
            x1, x2 = (x.expand(*stack, *x.shape[-2:]).contiguous().view(count, *x.shape[-2:]) for x in (x1, x2))
        return shape_ops.view(ops.euclidean_dist(x1, x2), (*stack, a.shape[-2], b.shape[-2]))
    if a.dtype.itemsize == 2 and a.size and b.size:
        raise unimplemented("cdist", a.dtype, "convert with .float() first")
    return ops.cdist(x1, x2, float(p))


@public("pdist(Tensor input, float p=2.)")
def pdist(input: TensorBase, p: float = 2) -> Any:
    """The p-norm of the difference of each row of a matrix and each later row: (n, m) gives (n * (n - 1) / 2,).

    Raises RuntimeError if the input is not a matrix of floating-point numbers, and for a negative p.
    """
    array = input._array
    if array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {array.ndim}D")
    if letter(array.dtype) != "f":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if array.dtype.itemsize == 2 and array.shape[0] > 1 and array.size:
        raise unimplemented("pdist", array.dtype, "convert with .float() first")
    return ops.pdist(input, float(p))
