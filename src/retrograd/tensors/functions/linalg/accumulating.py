"""Matrix products added to a tensor, beta * input + alpha * product, as functions and methods.

If beta is 0, the values of input are ignored, nan and inf too. Only addr promotes dtypes.
"""

from __future__ import annotations

from typing import Any

from ....foundations.dtypes import C_NAMES, DIFFERENTIABLE, Array, legacy, letter
from ....foundations.errors import noted
from ....ops.linalg import matrix as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import axis_of
from ...arguments.options import number
from ...recording.inplace import over
from ...recording.out_rules import ADDEND, ELEMENTWISE, EXACT, rule
from ...recording.twins import Call, twins
from ..shapes.shape import expanded
from .matrix import REMEDY, check_matrix_vector, check_stacks, dimensions, refuse_bool


def _same_types(x: Any, mat1: Any, mat2: Array) -> None:
    if x.dtype is not mat2.dtype or mat1.dtype is not mat2.dtype:
        which, other = ("self", x) if x.dtype is not mat2.dtype else ("mat1", mat1)
        raise noted(
            RuntimeError(f"{which} and mat2 must have the same dtype, but got {legacy(other)} and {legacy(mat2)}"),
            "shapes#matrix-dtypes", because=REMEDY)


def _check_addmm(x: Array, mat1: Array, mat2: Array) -> None:
    _same_types(x, mat1, mat2)
    for name, matrix in (("mat1", mat1), ("mat2", mat2)):
        if matrix.ndim != 2:
            raise RuntimeError(f"{name} must be a matrix, got {matrix.ndim}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise noted(
            RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({dimensions(mat1)} and {dimensions(mat2)})"),
            "shapes#matrix-shapes", because="the first matrix needs as many columns as the second has rows")
    expanded(x, (mat1.shape[0], mat2.shape[1]))
    if mat1.size:
        refuse_bool("addmm_impl_cpu_", mat2)


def _product_shape(batch1: Array, batch2: Array) -> tuple[int, int, int]:
    """The shape of the products. Raises IndexError if an operand lacks one of these dims; PyTorch checks this first."""
    stack, rows = (batch1.shape[axis_of("bmm", dim, batch1.ndim)] for dim in (0, 1))
    return stack, rows, batch2.shape[axis_of("bmm", 2, batch2.ndim)]


def _check_baddbmm(x: Array, batch1: Array, batch2: Array) -> None:
    expanded(x, _product_shape(batch1, batch2))
    if x.dtype is not batch1.dtype:
        names = [C_NAMES[array.dtype.name] for array in (x, batch1, batch2)]
        raise noted(
            RuntimeError(f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, "
                         f"batch2: {names[2]}"), because=REMEDY)
    check_stacks(batch1, batch2, "baddbmm")


def _check_addbmm(x: Array, batch1: Array, batch2: Array) -> None:
    expanded(x, _product_shape(batch1, batch2)[1:])
    for i, array in enumerate((batch1, batch2), 1):
        if array.ndim != 3:
            raise noted(RuntimeError(f"batch{i} must be a 3D tensor"), given=f"{array.ndim} dimensions")
    if batch1.shape[0] != batch2.shape[0]:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {batch1.shape[0]} and "
                           f"{batch2.shape[0]}")
    if batch1.shape[2] != batch2.shape[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({batch1.shape[1]}x{batch1.shape[2]} and "
                           f"{batch2.shape[1]}x{batch2.shape[2]})")
    _same_types(x, batch1, batch2)
    refuse_bool("addmm_impl_cpu_", batch2)


def _refuse_resizing(x: Array, first: Array, second: Array) -> None:
    """Raises RuntimeError if the product has another shape than `x`. Another check reports factors that do not fit."""
    shape = (*first.shape[:-1], *second.shape[first.ndim - 1:])
    if x.shape != shape and first.ndim > 1 and first.shape[-1:] == second.shape[first.ndim - 2:first.ndim - 1]:
        raise RuntimeError(f"Bad in-place call: input tensor size {list(x.shape)} and output tensor size {list(shape)} "
                           "should match")


def _factors(name: str, beta: Any, alpha: Any) -> tuple[Any, Any]:
    return number(name, "beta", 4, beta), number(name, "alpha", 5, alpha)


@twins(
    "addmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "addmm(Tensor input, Tensor mat1, Tensor mat2, dtype out_dtype, *, Number beta=1, Number alpha=1, Tensor out=None)",
    out=rule(exact=EXACT, overlap=ADDEND), method=True)
def addmm(call: Call, input: TensorBase, mat1: TensorBase, mat2: TensorBase, *, beta: float = 1,
          alpha: float = 1) -> Any:
    """beta * input + alpha * mat1 @ mat2, for matrices of shapes (n, m) and (m, k). `input` broadcasts to (n, k).

    If `beta` is 0, the values of `input` are ignored, nan too. Raises RuntimeError if the sizes do not fit or the
    dtypes differ.

    >>> import retrograd as torch
    >>> torch.addmm(torch.ones(2), torch.eye(2), torch.eye(2))
    tensor([[2., 1.],
            [1., 2.]])
    """
    x, a, b = input._array, mat1._array, mat2._array
    factors = _factors("addmm", beta, alpha)
    if call is over:
        _refuse_resizing(x, a, b)
    if not (a.ndim == b.ndim == 2 and x.shape == b.shape[1:] and a.shape[1] == b.shape[0]
            and x.dtype is a.dtype is b.dtype in DIFFERENTIABLE):      # a linear layer skips these checks
        _check_addmm(x, a, b)
    return call(ops.addmm, input, mat1, mat2, *factors)


@twins(
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "baddbmm(Tensor input, Tensor batch1, Tensor batch2, dtype out_dtype, *, Number beta=1, Number alpha=1, Tensor "
    "out=None)",
    out=rule(exact=EXACT, overlap=ADDEND), method=True)
def baddbmm(call: Call, input: TensorBase, batch1: TensorBase, batch2: TensorBase, *, beta: float = 1,
            alpha: float = 1) -> Any:
    """beta * input + alpha * batch1 @ batch2, for stacks of matrices of shapes (b, n, m) and (b, m, k).

    `input` broadcasts to (b, n, k). Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    factors = _factors("baddbmm", beta, alpha)
    if call is over:
        _refuse_resizing(input._array, batch1._array, batch2._array)
    _check_baddbmm(input._array, batch1._array, batch2._array)
    return call(ops.baddbmm, input, batch1, batch2, *factors)


@twins(
    "addbmm(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    out=rule(exact="self and mat2 must have the same dtype, but got {out} and {result}", overlap=ADDEND, notice=""),
    method=True)
def addbmm(call: Call, input: TensorBase, batch1: TensorBase, batch2: TensorBase, *, beta: float = 1,
           alpha: float = 1) -> Any:
    """beta * input + alpha * the sum over b of batch1[b] @ batch2[b]: the result has shape (n, k).

    The stacks have shapes (b, n, m) and (b, m, k). Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    factors = _factors("addbmm", beta, alpha)
    _check_addbmm(input._array, batch1._array, batch2._array)
    return call(ops.addbmm, input, batch1, batch2, *factors)


@twins(
    "addmv(Tensor input, Tensor mat, Tensor vec, *, Number beta=1, Number alpha=1, Tensor out=None)",
    out=rule(exact=EXACT, overlap=ADDEND), method=True)
def addmv(call: Call, input: TensorBase, mat: TensorBase, vec: TensorBase, *, beta: float = 1, alpha: float = 1) -> Any:
    """beta * input + alpha * mat @ vec, for a matrix (n, m) and a vector (m,); `input` broadcasts to (n,).

    Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    factors = _factors("addmv", beta, alpha)
    if call is over and input._array.ndim < 2:
        _refuse_resizing(input._array, mat._array, vec._array)
    check_matrix_vector(input._array, mat._array, vec._array)
    return call(ops.addmv, input, mat, vec, *factors)


addmv_ = addmv.written


@twins(
    "addr(Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    out=ELEMENTWISE, method=True)
def addr(call: Call, input: TensorBase, vec1: TensorBase, vec2: TensorBase, *, beta: float = 1,
         alpha: float = 1) -> Any:
    """beta * input + alpha * the outer product of vectors of n and m elements, in the common dtype.

    `input` broadcasts to (n, m). Raises RuntimeError if it does not, and for operands that are not vectors.
    """
    x, v, w = arrays = input._array, vec1._array, vec2._array
    for name, vector in (("vec1", v), ("vec2", w)):
        if vector.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndim}-D")
    expanded(x, (v.size, w.size))
    if call is over and x.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {x.ndim}D tensor for input")
    if call is over and x.shape != (v.size, w.size):
        raise RuntimeError(f"size mismatch, input: {[*x.shape]}, v1: {[*v.shape]}, v2: {[*w.shape]}")
    kinds = "".join(letter(array.dtype) for array in arrays)
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, (float, complex)) and not set(kinds) - set("biu"):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        if isinstance(factor, bool) and kinds != "bbb":
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
    return call(ops.addr, input, vec1, vec2, *_factors("addr", beta, alpha))
