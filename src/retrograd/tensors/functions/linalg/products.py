"""Products of several matrices, powers, exponentials, bilinear maps, Vandermonde matrices and covariances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....foundations.dtypes import C_NAMES, Array, legacy, letter, refuse
from ....foundations.errors import noted, warn
from ....ops.basic import check_values
from ....ops.elementwise.arithmetic import mul_number
from ....ops.linalg import matrix as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import as_int, size_at
from ...arguments.options import contiguous_format, refuse_complex_gradient
from ...recording.out import into, receive
from ...recording.out_rules import EXACT, FREE, UNASKED, rule
from ...recording.overwriting import copy_
from ...recording.public import public
from ...state.base import plain
from ..creation.creation import complex as complex_of, zeros_like
from ..elementwise.arithmetic import mul
from ..elementwise.elementary import conj, imag, real, sqrt
from ..shapes.joining import cat
from ..shapes.rearranging import diagonal
from ..sums import sum as total
from .contraction import OUT_OF_CHAIN, check_chain, in_best_order
from .determinants import linalg_inv as inv
from .matrix import matmul, mm, vdot
from .matrix_checks import check_floating, check_same, matrices


@public("linalg_multi_dot(Tensors tensors, out)")
def multi_dot(tensors: Sequence[Any], *, out: TensorBase | None = None) -> Any:
    """The product of several matrices, in the order with the fewest multiplications.

    The first and the last tensor may be vectors. Raises RuntimeError for fewer than two tensors, and if the sizes do
    not fit or the dtypes differ.
    """
    if out is not None:
        return into(out, "multi_dot", OUT_OF_CHAIN, multi_dot, (tensors,), {})
    arrays = [t._array for t in (*tensors,)]
    if len(arrays) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(arrays)}")
    for which, i in (("first", 0), ("last", -1)):
        if arrays[i].ndim not in (1, 2):
            raise RuntimeError(f"multi_dot(): the {which} tensor must be 1D or 2D but got {arrays[i].ndim}D")
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    matrices = [*tensors]
    if row:
        matrices[0] = tensors[0].unsqueeze(0)
    if column:
        matrices[-1] = tensors[-1].unsqueeze(-1)
    check_chain([m._array for m in matrices])
    product = in_best_order(matrices)
    shape = product._array.shape
    return product.view(shape[row : len(shape) - column])


_UNSAFE = "matrix_power: Expected result to be safely castable from {result} dtype, but got result with dtype {out}"


def _unit(array: Array) -> Any:
    return plain(np.eye(array.shape[-1], dtype=array.dtype))


@public("linalg_matrix_power(Tensor input, int n, out)", method=True)
def matrix_power(input: TensorBase, n: int, *, out: TensorBase | None = None) -> Any:
    """Each square matrix multiplied by itself `n` times, by squaring; for a negative `n`, its inverse multiplied by
    itself. `n` = 0 gives the identity."""
    array = input._array
    n = as_int("linalg_matrix_power", n, "n")
    if out is not None:
        if n not in (0, 1):
            return into(out, "matrix_power", rule(exact=EXACT, uncastable=_UNSAFE, overlap=FREE, blame="matmul"),
                        matrix_power, (input, n), {})
        receive("matrix_copy", rule(uncastable=_UNSAFE, overlap=FREE, gradient=UNASKED), out, matrix_power(input, n))
        return copy_(out, input if n else _unit(array))
    matrices("linalg.matrix_power", input, square=True)
    if n == 0:
        return copy_(input.clone(memory_format=contiguous_format), _unit(array))
    if n == 1:
        return input.clone(memory_format=contiguous_format)
    if n < 0:
        input, n = inv(input), -n
    if n == 1:
        return input
    if n == 3:
        return matmul(matmul(input, input), input)
    power, result = input, None
    while n:
        n, odd = divmod(n, 2)
        if odd:
            result = power if result is None else matmul(result, power)
        if n:
            power = matmul(power, power)
    return result


@public("linalg_matrix_exp(Tensor input)", method=True)
def matrix_exp(input: TensorBase) -> Any:
    """The exponential of each square matrix: the sum of A^n / n!. Shape (*, n, n) stays. Raises RuntimeError for ints.

    >>> import retrograd as torch
    >>> torch.matrix_exp(torch.tensor([[0., 1.], [0., 0.]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    matrices("linalg.matrix_exp", input, square=True, floating=True)
    return ops.matrix_exp(input)


@public("linalg_diagonal(Tensor A, *, int offset=0, int dim1=-2, int dim2=-1)", name="diagonal")
def linalg_diagonal(A: TensorBase, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A view of the diagonals of the matrices in two dims. The diagonal is the last dimension of the view."""
    return diagonal(A, offset, dim1, dim2)


@public(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1, Tensor out=None)",
    out=rule(exact="linalg.vecdot: Expected out of dtype{result} but found {out}", overlap=FREE, blame="sum",
        repeated=True), strict=True)
def vecdot(x: TensorBase, y: TensorBase, *, dim: int = -1) -> Any:
    """The sum along `dim` of the products of the elements of `x`, conjugated, and `y`. The other dims broadcast.

    Raises RuntimeError for ints, and for operands of different dtypes.

    >>> import retrograd as torch
    >>> torch.linalg.vecdot(torch.tensor([[1., 2.], [3., 4.]]), torch.tensor([1., 1.]))
    tensor([3., 7.])
    """
    a, b = x._array, y._array
    check_floating("linalg.vecdot", a)
    check_same("linalg.vecdot", a, b, "x y")
    return vdot(x, y) if a.ndim == b.ndim == 1 else total(mul(conj(x), y), dim)


@public("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor bias=None)", event="aten::bilinear")
def bilinear(input1: TensorBase, input2: TensorBase, weight: TensorBase, bias: TensorBase | None = None) -> Any:
    """For each k, the sum over i and j of input1[i] * weight[k, i, j] * input2[j], plus bias[k].

    `input1` has shape (…, in1), `input2` (…, in2), `weight` (out, in1, in2) and `bias` (out,). The result has shape
    (…, out). Raises RuntimeError if the sizes do not fit or the dtypes differ.
    """
    given = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    if len({x._array.dtype for x in given.values()}) > 1:
        kinds = [f"{name}: {C_NAMES[x._array.dtype.name]}" for name, x in given.items()]
        raise RuntimeError(f"All tensors must have the same dtype, got {', '.join(kinds)}")
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    for dim, (n, m) in enumerate(zip(input1.shape[:-1], input2.shape[:-1])):
        if n != m:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {dim}: got {n} and {m}")
    for i, value in enumerate((input1, input2), 1):
        if size_at(value._array, -1) != size_at(weight._array, i):
            raise RuntimeError(f"bilinear(): input{i} size does not match weight size: got {value.shape[-1]} but "
                               f"expected {weight.shape[i]}")
    if bias is not None and size_at(bias._array, 0) != weight.shape[0]:
        raise RuntimeError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected "
                           f"{weight.shape[0]}")
    if input1.numel():
        refuse(input1._array.dtype, "bmm", "b")
    for value in (input1, input2, weight):
        refuse_complex_gradient("_trilinear", value)
    product = ops.trilinear(input1.reshape(-1, input1.shape[-1]), weight, input2.reshape(-1, input2.shape[-1]))
    product = product.view(*input1.shape[:-1], weight.shape[0])
    return product if bias is None else product + bias


@public("linalg_vander(Tensor x, *, int N=None)", name="vander")
def linalg_vander(x: TensorBase, N: int | None = None) -> Any:
    """The powers 0 to N - 1 of each element, along a new last dim. Without `N`, as many powers as the last dim has
    elements. Raises RuntimeError for N < 2, bools and numbers of 16 bits."""
    array = x._array
    if array.dtype.kind == "b" or (array.dtype.itemsize == 2 and letter(array.dtype) == "f"):
        raise RuntimeError("linalg.vander supports floating point, complex, and integer tensors, but got "
                           f"{legacy(array)}")
    if not array.ndim:
        x = x.unsqueeze(0)
        array = x._array
    count = array.shape[-1] if N is None else as_int("linalg_vander", N, "N")
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand(*array.shape, count - 1).cumprod(-1)
    return cat((plain(np.ones((*array.shape, 1), powers._array.dtype)), powers), -1)


def _check_variables(name: str, array: Array) -> None:
    if array.ndim > 2:
        raise RuntimeError(f"{name}(): expected input to have two or fewer dimensions but got an input with "
                           f"{array.ndim} dimensions")


def _weights(which: str, weights: TensorBase, observations: int, kinds: str, kind: str) -> Any:
    """The weights of the observations. Raises RuntimeError for a wrong number of weights, and for a negative weight."""
    array = weights._array
    if array.ndim > 1:
        raise RuntimeError(f"cov(): expected {which} to have one or fewer dimensions but got {which} with {array.ndim} "
                           "dimensions")
    if letter(array.dtype) not in kinds:
        raise RuntimeError(f"cov(): expected {which} to have {kind} dtype but got {which} with {legacy(array)} dtype")
    if array.size != observations:
        raise RuntimeError(f"cov(): expected {which} to have the same numel as there are observations in the input but "
                           f"got {array.size} != {observations}")

    def test(array: Array) -> None:
        if np.any(array < 0):
            raise RuntimeError(f"cov(): {which} cannot be negative")

    check_values(array, test)
    return weights


@public("cov(Tensor input, *, int correction=1, Tensor fweights=None, Tensor aweights=None)", method=True)
def cov(input: TensorBase, *, correction: int = 1, fweights: TensorBase | None = None,
        aweights: TensorBase | None = None) -> Any:
    """The covariances of variables: each row of `input` is a variable, each column an observation.

    Shape (n, m) gives (n, n). `fweights` says how often each observation was made, `aweights` how much it counts. The
    sums are divided by the total of the weights minus `correction`. Raises RuntimeError for bools, for more than two
    dims, and for weights of a wrong number, dtype or sign.

    >>> import retrograd as torch
    >>> torch.cov(torch.tensor([[1., 2., 3.], [3., 2., 1.]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    array = input._array
    correction = as_int("cov", correction, "correction")
    _check_variables("cov", array)
    if array.dtype.kind == "b":
        raise noted(RuntimeError("cov(): bool dtype is not supported for input"), instead="convert with .float() first")
    x = input if array.ndim == 2 else input.view(1, -1)
    count = x._array.shape[1]
    w = None if fweights is None else _weights("fweights", fweights, count, "iu", "integral")
    if aweights is not None:
        weights = _weights("aweights", aweights, count, "f", "floating point")
        w = weights if w is None else w * weights
    sum_ = plain(np.asarray(count, np.int64)) if w is None else w.sum()
    if w is not None and not sum_._array:
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    average = (x if w is None else x * w).sum(1) / sum_
    freedom = sum_ - correction if correction else sum_
    if aweights is not None and correction:
        freedom = sum_ - mul_number((w * aweights).sum(), correction) / sum_
    if freedom._array <= 0:
        warn("cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.")
        freedom = freedom * 0
    x = x - average.unsqueeze(1)
    products = mm(x, conj((x if w is None else x * w).t()))
    if products._array.shape == (1, 1) and products._array.dtype.kind == "c":       # a variance, which is real
        variance = real(products)
        products = complex_of(variance, zeros_like(variance))
    return (products / freedom).squeeze()


@public("corrcoef(Tensor input)", method=True)
def corrcoef(input: TensorBase) -> Any:
    """The correlations of variables: each covariance over the standard deviations of both variables. See `cov`."""
    _check_variables("corrcoef", input._array)
    c = cov(input)
    if not c._array.ndim:
        return c / c
    deviations = sqrt(real(c.diagonal()))
    c = c / deviations.view(-1, 1) / deviations.view(1, -1)
    if c._array.dtype.kind != "c":
        return c.clip(-1, 1)
    return complex_of(real(c).clip(-1, 1), imag(c).clip(-1, 1))
