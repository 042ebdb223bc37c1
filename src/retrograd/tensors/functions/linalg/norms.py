"""Norms of vectors, matrices, differences and slices. Matrix norms are composed of vector norms, as in PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, category, dtype as torch_dtype, legacy, letter
from ....foundations.errors import noted
from ....kernels.shape import clash
from ....ops import basic, shape as shape_ops
from ....ops.linalg import norms as ops
from ...arguments.dims import Dims, array_of, as_int, axes_of, axis_of
from ...arguments.options import element_type, number
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, FREE, UNASKED, rule
from ...recording.overwriting import delivered
from ...recording.public import public
from ...recording.twins import Call, twins
from ...state.base import TensorBase
from ..reductions import amax, amin
from ..sums import flag, sum as total
from .factorizations import linalg_svdvals as svdvals
from .matrix_checks import check_floating

_norm = recorded(ops.norm)
_OUT = rule(exact="linalg.{name} expected out tensor dtype {result} but got: {out}", overlap=FREE, gradient=UNASKED)


def _target(name: str, dtype: Any, array: Array) -> Any:
    """The dtype to compute in, or None. Raises RuntimeError for a dtype of another kind, or a narrower one."""
    if dtype is None:
        return None
    target, have = element_type(name, dtype), array.dtype
    wanted, found = torch_dtype.of[target].legacy, torch_dtype.of[have].legacy
    if letter(target) not in "fc":
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {wanted}")
    if letter(target) != letter(have):
        kinds = "complex for complex" if have.kind == "c" else "real for real"
        raise RuntimeError(f"{name}: dtype should be {kinds} inputs, but got {wanted}")
    if category(target) == category(have) and target.itemsize < have.itemsize:
        raise RuntimeError(f"{name}: the dtype of the input ({found}) should be convertible without narrowing to the "
                           f"specified dtype ({wanted})")
    return target


def refuse_nothing(x: Array, p: float, dims: Sequence[int]) -> None:
    """Raise RuntimeError for an extreme of no elements. `dims` are those of the caller; none stand for all."""
    if x.size == 0 and (p < 0 or p == math.inf):
        said = f"linalg.vector_norm cannot compute the {p:g} norm on "
        if not dims:
            raise RuntimeError(f"{said}an empty tensor because the operation does not have an identity")
        for dim in dims:
            if x.shape[dim] == 0:
                raise RuntimeError(f"{said}the dimension {dim}because this dimension is empty and the operation does "
                                   "not have an identity")


@public(
    "linalg_vector_norm(Tensor input, Number ord=2, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor "
    "out=None)",
    out=rule(exact=EXACT, overlap=FREE, blame="linalg_vector_norm", repeated=True))
def vector_norm(x: TensorBase, ord: float = 2, dim: Dims | None = None, keepdim: bool = False, *,
                dtype: torch_dtype | None = None) -> Any:
    """The norm of the elements over `dim`, or of all elements: (sum |x|^ord)^(1/ord).

    For ord = inf and -inf it is the largest and the smallest |x|, for ord = 0 the number of elements that are not 0. If
    the norm is 0, the gradient is 0. Raises RuntimeError for ints, and for ord = inf or ord < 0 of no elements.

    >>> import retrograd as torch
    >>> torch.linalg.vector_norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    array = x._array
    p = number("linalg_vector_norm", "ord", 2, ord)
    if isinstance(p, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    check_floating("linalg.vector_norm", array)
    axes = axes_of("linalg_vector_norm", dim, array.ndim)
    refuse_nothing(array, p, () if dim is None else (dim,) if isinstance(dim, int) else dim)
    return _norm(x, p, axes, flag("linalg_vector_norm", keepdim), _target("linalg.vector_norm", dtype, array))


def _matrix_dims(A: TensorBase, ord: Any, dim: Any) -> tuple[int, int]:
    """The dims of the rows and of the columns. Raises RuntimeError if the tensor or the dims do not fit."""
    array, name = A._array, "linalg.matrix_norm"
    if array.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    check_floating(name, array, low=ord not in ("nuc", 2, -2))
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = (axis_of(name, d, array.ndim) for d in dim)
    if first == second:
        raise RuntimeError(f"{name}: dims must be different. Got ({first}, {second})")
    return first, second


@public(
    "linalg_matrix_norm(Tensor input, Number ord, ints dim=(-2, -1), bool keepdim=False, *, dtype dtype=None, Tensor "
    "out=None)",
    "linalg_matrix_norm(Tensor input, str ord='fro', ints dim=(-2, -1), bool keepdim=False, *, dtype dtype=None, "
    "Tensor out=None)")
def matrix_norm(input: TensorBase, ord: Any = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
                dtype: torch_dtype | None = None, out: TensorBase | None = None) -> Any:
    """The norm of each matrix in the two dims `dim`.

    "fro" is the norm of the elements as a vector, "nuc" the sum of the singular values. 2 and -2 are the largest and
    the smallest singular value. 1 and -1 are the largest and smallest sum of |x| of a column, inf and -inf of a row.
    Raises RuntimeError for other orders, for ints, and for a tensor of fewer than two dims.

    >>> import retrograd as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[1., -2.], [3., 4.]]), 1)
    tensor(6.)
    """
    if out is not None:
        return delivered("matrix_norm", _OUT, out, matrix_norm(input, ord, dim, keepdim, dtype=dtype))
    if isinstance(ord, np.number) or (isinstance(ord, TensorBase) and not ord._array.ndim):
        ord = ord.item()
    known = ord in ("fro", "nuc") if isinstance(ord, str) else abs(ord) in (1, 2, math.inf)
    if not known:
        raise noted(
            RuntimeError(f"linalg.matrix_norm: Order {ord} not supported."),
            instead="use 'fro', 'nuc', inf, -inf, 1, -1, 2 or -2")
    first, second = _matrix_dims(input, ord, [as_int("linalg_matrix_norm", d, "dim") for d in dim])
    target = _target("linalg.matrix_norm", dtype, input._array)
    flag("linalg_matrix_norm", keepdim)
    if ord == "nuc":
        return _spectral(input, first, second, keepdim, target, lambda values: total(values, -1, keepdim))
    if isinstance(ord, str):
        return _norm(input, 2, tuple(sorted((first, second))), keepdim, target)
    if abs(ord) == 2:
        return _spectral(input, first, second, keepdim, target, lambda values: extreme(values, -1, keepdim, ord > 0))
    if abs(ord) == math.inf:
        first, second = second, first
    sums = _norm(input, 1, (first,), keepdim, target)
    return extreme(sums, second - 1 if first < second and not keepdim else second, keepdim, ord > 0)


def _spectral(input: TensorBase, first: int, second: int, keepdim: bool, target: TensorBase | None,
              reduced: Any) -> Any:
    """The singular values of the matrices in two dims, reduced by `reduced` to a norm over these dims."""
    ndim = input._array.ndim
    order = [*(d for d in range(ndim) if d not in (first, second)), first, second]
    x = input if target is None or target is input._array.dtype else basic.cast(input, target)
    result = reduced(svdvals(shape_ops.permute(x, tuple(order))))
    if not keepdim:
        return result
    return shape_ops.permute(result.unsqueeze(ndim - 1), tuple(sorted(range(ndim), key=order.__getitem__)))


@public()
def nuclear_norm(input: TensorBase, dim: Any = (-2, -1), keepdim: bool = False, *, out: Any = None) -> Any:
    """The sum of the singular values of each matrix. See `torch.linalg.matrix_norm`."""
    if isinstance(dim, bool):                                   # nuclear_norm(x, True): the overload without dims
        dim, keepdim = (-2, -1), dim
    return matrix_norm(input, "nuc", [dim, dim] if isinstance(dim, int) else dim, keepdim, out=out)


def extreme(x: TensorBase, dim: int, keepdim: bool, largest: bool) -> Any:
    """The largest or the smallest element along `dim`. The largest of no sizes is 0."""
    if not largest:
        return amin(x, dim, keepdim)
    return amax(x, dim, keepdim) if x._array.shape[dim] else total(x, dim, keepdim)


@public(
    "linalg_norm(Tensor input, Number ord=None, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor "
    "out=None)",
    "linalg_norm(Tensor input, str ord, ints[1] dim=None, bool keepdim=False, *, dtype dtype=None, Tensor out=None)",
    name="norm")
def linalg_norm(input: TensorBase, ord: Any = None, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
                dtype: torch_dtype | None = None, out: TensorBase | None = None) -> Any:
    """The norm of vectors or of matrices: `vector_norm` over one dim, `matrix_norm` over two dims.

    Without `ord` it is the 2-norm of the elements over `dim`, or of all elements. Raises RuntimeError for another
    number of dims.
    """
    array = input._array
    if dim is not None:
        dim = [dim] if isinstance(dim, (int, np.integer)) else [*dim]
        if len(dim) not in (1, 2):
            raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {dim}")
    elif ord is not None and array.ndim not in (1, 2):
        raise RuntimeError("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
                           f"{array.ndim}D.")
    if isinstance(ord, str) or (ord is not None and (array.ndim if dim is None else len(dim)) == 2):
        result = matrix_norm(input, ord, (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    else:
        result = vector_norm(input, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    return delivered("norm", _OUT, out, result)


@public("frobenius_norm(Tensor input, ints[1] dim, bool keepdim=False, *, Tensor out=None)",
        out=rule(exact=EXACT, overlap=FREE, blame="norm", repeated=True))
def frobenius_norm(input: TensorBase, dim: Dims, keepdim: bool = False) -> Any:
    """The square root of the sum of squares over one or two dims; over all dims if `dim` is an empty tuple."""
    array = array_of("frobenius_norm", input)
    dims = [dim] if isinstance(dim, int) else [*dim]
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    if letter(array.dtype) not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{torch_dtype.of[array.dtype].legacy} instead.")
    return ops.frobenius(input, 2, axes_of("frobenius_norm", dim, array.ndim), flag("frobenius_norm", keepdim), None)


@public()
def norm(input: TensorBase, p: float | str | None = "fro", dim: Dims | None = None, keepdim: bool = False,
         out: Any = None, dtype: torch_dtype | None = None) -> Any:
    """The p-norm of the elements over `dim`, or of all elements: (sum |x|^p)^(1/p). "fro" and None stand for p = 2.

    For p = inf and -inf it is the largest and the smallest |x|, for p = 0 the number of elements that are not 0, for
    "nuc" the sum of the singular values of a matrix. If the norm is 0, the gradient is 0. Raises RuntimeError for ints,
    for other names of norms, and for p = inf or p < 0 of no elements.

    >>> import retrograd as torch
    >>> torch.norm(torch.tensor([3., 4.]))
    tensor(5.)
    """
    return _p_norm(input, p, dim, keepdim, dtype, out)


@public(method=True, name="Tensor.norm")
def norm_of(input: TensorBase, p: float | str | None = "fro", dim: Dims | None = None, keepdim: bool = False,
            dtype: torch_dtype | None = None) -> Any:
    """The p-norm of the elements. See `torch.norm`.

    >>> import retrograd as torch
    >>> torch.tensor([3., 4.]).norm()
    tensor(5.)
    """
    return _p_norm(input, p, dim, keepdim, dtype, None)


def _p_norm(input: TensorBase, p: float | str | None, dim: Dims | None, keepdim: bool, dtype: torch_dtype | None,
            out: Any) -> Any:
    array = array_of("norm", input)
    if isinstance(p, str) and not (p == "fro" and (dim is None or isinstance(dim, (int, np.integer)) or len(dim) <= 2)):
        dims = range(array.ndim) if dim is None else [dim] if isinstance(dim, (int, np.integer)) else dim
        return matrix_norm(input, p, [*dims], keepdim, dtype=dtype, out=out)
    return vector_norm(input, 2.0 if p is None or isinstance(p, str) else p, dim, keepdim, dtype=dtype, out=out)  # type: ignore[call-arg]


@public()
def norm_except_dim(v: TensorBase, pow: int = 2, dim: int = 0) -> Any:
    """The norm of each slice along `dim`. All other sizes of the result are 1. For `dim` -1, the norm of all elements.

    Weight normalization divides by this norm.

    >>> import retrograd as torch
    >>> torch.norm_except_dim(torch.tensor([[3., 4.], [6., 8.]]))
    tensor([[ 5.],
            [10.]])
    """
    array = array_of("norm_except_dim", v)
    if letter(array.dtype) not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{legacy(array)} instead.")
    if dim == -1:
        return norm(v, pow)
    if dim == 0:
        return norm(v.contiguous().view(array.shape[0], -1), pow, 1).view(-1, *(1,) * (array.ndim - 1))
    if dim == array.ndim - 1:
        return norm(v.contiguous().view(-1, array.shape[-1]), pow, 0).view(*(1,) * (array.ndim - 1), -1)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


_weight_norm_interface = recorded(ops.weight_norm)


@public()
def _weight_norm(v: TensorBase, g: TensorBase, dim: int = 0) -> Any:
    """The slices of `v` along `dim`, with the norms `g` in place of their own: `v * g / norm_except_dim(v, 2, dim)`.

    >>> import retrograd as torch
    >>> torch._weight_norm(torch.tensor([[3., 4.], [6., 8.]]), torch.tensor([[1.], [5.]]))
    tensor([[0.6000, 0.8000],
            [3.0000, 4.0000]])

    Raises RuntimeError if the slices are whole rows or columns and the two dtypes differ.
    """
    directions, norms = array_of("_weight_norm", v), array_of("_weight_norm", g, "g")
    if dim in (0, directions.ndim - 1):
        if directions.dtype != norms.dtype:
            raise noted(
                RuntimeError(f"expected scalar type {legacy(directions)} but found {legacy(norms)}"),
                instead="convert the norms to the dtype of the directions")
        return _weight_norm_interface(v, g, dim)
    return v * (g / norm_except_dim(v, 2, dim))


# Of differences, and of slices

@public("dist(Tensor input, Tensor other, Number p=2)", method=True)
def dist(input: TensorBase, other: TensorBase, p: float = 2) -> Any:
    """The p-norm of all elements of `input - other`. The operands are broadcast.

    >>> import retrograd as torch
    >>> torch.dist(torch.tensor([0., 0.]), torch.tensor([3., 4.]))
    tensor(5.)
    """
    x, y = input._array, other._array
    p = number("dist", "p", 3, p)
    if isinstance(p, complex):
        raise RuntimeError("linalg.vector_norm: Expected a non-complex scalar as the order of norm.")
    p = float(p)
    sentence = clash(x.shape, y.shape)
    if sentence is not None:
        raise noted(RuntimeError(sentence), given=f"{[*x.shape]} and {[*y.shape]}")
    refuse_nothing(x if x.size == 0 else y, p, ())
    return ops.dist(input, other, p)


@twins("renorm(Tensor input, Number p, int dim, Number maxnorm, out)", out=rule(exact=EXACT), method=True)
def renorm(call: Call, input: TensorBase, p: float, dim: int, maxnorm: float) -> Any:
    """A copy in which the slices along `dim` with a p-norm above `maxnorm` are scaled down to `maxnorm`.

    Raises RuntimeError for fewer than two dimensions, for a `p` that is not positive, and for a negative `maxnorm`.

    >>> import retrograd as torch
    >>> torch.renorm(torch.tensor([[3., 4.], [0., 1.]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.0000, 1.0000]])
    """
    array, p, maxnorm = input._array, number("renorm", "p", 2, p), number("renorm", "maxnorm", 4, maxnorm)
    if isinstance(p, complex):
        raise RuntimeError("renorm: p must be real-valued")
    if not p > 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if isinstance(maxnorm, complex):
        raise RuntimeError("renorm: maxnorm must be real-valued")
    if not maxnorm >= 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if array.ndim <= 1:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {array.ndim} dimensions")
    axis = axis_of("renorm", dim, array.ndim)
    check_floating("linalg.vector_norm", array)
    refuse_nothing(array, p, [dim for dim in range(array.ndim) if dim != axis])
    return call(ops.renorm, input, float(p), axis, float(maxnorm))
