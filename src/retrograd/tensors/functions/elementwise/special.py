"""Elementwise special functions of tensors, as functions, as methods and in place.

Messages call the functions that only `torch.special` has by names that begin with `special_`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....dtypes import default_floating, dtype as torch_dtype, legacy, letter
from ....ops.elementwise import arithmetic, elementary, special as ops
from ....ops.framework import Op
from ....ops.networks import activations
from ...arguments.dims import not_a_tensor
from ...arguments.options import check_tensor, number
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.out import receive
from ...recording.out_rules import ELEMENTWISE, UNASKED, rule
from ...recording.overwriting import copy_
from ...recording.public import methods, public
from ...recording.twins import Call, both, twins
from ...state.base import TensorBase, numbers_in
from ..networks import softmax as over_dim
from .arithmetic import NUMBER, invalid
from .elementary import between_tensors, twins_of_tensors

(lgamma, lgamma_), (digamma, digamma_), (i0, i0_) = map(both, (ops.lgamma, ops.digamma, ops.i0))
_UNASKED = rule(gradient=UNASKED)
igamma, igammac = twins_of_tensors(ops.igamma), twins_of_tensors(ops.igammac)
_polygamma = recorded(ops.polygamma)
_erf, _add, _mul = recorded(elementary.erf), recorded(arithmetic.add_number), recorded(arithmetic.mul_number)

# The sum of more terms takes hours.
_LARGEST_DIMENSION = 1 << 30
_ROOT_HALF = math.sqrt(0.5)


def _whole(name: str, argument: str, position: int, value: Any) -> int:
    """An integer argument as an int. A 0-d integer tensor counts as an integer. Raises TypeError for other values."""
    if isinstance(value, TensorBase) and not value._array.ndim and value._array.dtype.kind in "iu":
        return numbers_in(value)  # type: ignore[no-any-return]
    if isinstance(value, np.ndarray | np.generic) and not value.ndim and value.dtype.kind in "iu":
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        kind = type(value).__name__
        raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be int, not {kind}")
    return value


@public("polygamma(int n, Tensor input, out)", out=ELEMENTWISE)
def polygamma(n: int, input: TensorBase) -> TensorBase:
    """The derivative of order `n` of `digamma`, elementwise. Raises RuntimeError if `n` is negative.

    >>> import retrograd as torch
    >>> torch.polygamma(1, torch.tensor([1., 0.5]))
    tensor([1.6449, 4.9348])
    """
    return _polygamma(input, _whole("polygamma", "n", 1, n))  # type: ignore[no-any-return]


@public(name="polygamma")
def _polygamma_method(self: TensorBase, n: int) -> TensorBase:
    """The derivative of order `n` of `digamma`, elementwise."""
    return polygamma(n, self)


@public("polygamma_(Tensor input, int n)", method=True, bound=True)
def polygamma_(self: TensorBase, n: int) -> TensorBase:
    """`polygamma`, written over the tensor itself."""
    return over(ops.polygamma, self, _whole("polygamma_", "n", 1, n))  # type: ignore[no-any-return]


@twins(
    "mvlgamma(Tensor input, int p, out)",
    out=rule(uncastable="mvlgamma: result type {result} can't be cast to the desired output type {result}"),
    method=True)
def mvlgamma(call: Call, input: TensorBase, p: int) -> TensorBase:
    """The logarithm of the multivariate gamma function of dimension `p`.

    Raises RuntimeError if p is less than 1, and in place if the tensor holds ints.

    >>> import retrograd as torch
    >>> torch.mvlgamma(torch.tensor([3., 5.]), 2)
    tensor([1.5502, 6.2042])
    """
    if call is over and input._array.dtype.kind in "iu":
        raise RuntimeError(f"mvlgamma: result type {legacy(input._array)} can't be cast to the desired output type "
                           f"{torch_dtype.of[default_floating()].legacy}")
    dimension = _whole("mvlgamma", "p", 2, p)
    if dimension < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    _refuse_huge(input._array, dimension)
    return call(ops.mvlgamma, input, dimension)


def _refuse_huge(array: Any, dimension: int) -> None:
    """Raise RuntimeError for a dimension of `mvlgamma` at which PyTorch cannot store its terms."""
    if dimension > _LARGEST_DIMENSION:
        size = dimension * (array.itemsize if letter(array.dtype) == "f" else default_floating().itemsize)
        said = ("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
                f"to allocate {size} bytes. Error code 12 (Cannot allocate memory)" if size < 1 << 63 else
                f"Storage size calculation overflowed with sizes=[{dimension}]")
        raise RuntimeError(f"{said}. p is too large for mvlgamma.")


# Functions that only torch.special has


def _of_one(op: Op, called: str = "", out: Any = None, parameter: str = "input") -> Callable[..., Any]:
    """The function of torch.special for an op of one tensor. `called` is its name, if the name is not the op's."""
    call, name = recorded(op), f"special_{called or op.name}"
    said = "" if isinstance(op.kernel, np.ufunc) else f"{op.kernel.__doc__} "
    described = public(f"{name}(Tensor {parameter}, out)", name=op.name, out=out or ELEMENTWISE,
                       doc=f"{said}Elementwise `{op.name}`. Ints become the default float dtype.")

    def of_input(input: Any) -> Any:
        check_tensor(name, input)
        return call(input)

    def of_x(x: Any) -> Any:
        check_tensor(name, x, "x")
        return call(x)

    return described(of_input if parameter == "input" else of_x)


def _of_x(op: Op) -> Callable[..., Any]:
    """`_of_one` for an op whose argument PyTorch calls x."""
    return _of_one(op, "", _UNASKED, "x")


def _blamed(op: Op) -> Callable[..., Any]:
    """`_of_one` for an op that PyTorch's messages on `out` call by its name in torch.special."""
    return _of_one(op, out=rule(blame=f"special_{op.name}"))


def _polynomial(name: str) -> Callable[..., Any]:
    """The function for a family of polynomials. It takes x and the degrees; either may be a number."""
    op = ops.POLYNOMIALS[name]
    call = recorded(op)

    @public(f"special_{name}(Tensor x, Tensor n, out)", f"special_{name}(Number x, Tensor n, out)",
            f"special_{name}(Tensor x, Number n, out)", name=name, out=_UNASKED,
            doc=f"{op.kernel.__doc__} x and the degree n are tensors. Either may be a number, but not both.")
    def function(x: Any, n: Any) -> Any:
        _check_operands(f"special_{name}", x, n)
        return call(_as_float(x), _as_float(n))

    return function


def _as_float(value: Any) -> Any:
    """An int as a float. So a negative int keeps its value beside a tensor of bytes."""
    return float(value) if isinstance(value, int) else value


def _check_operands(name: str, x: Any, y: Any) -> None:
    """Raise TypeError unless one operand is a tensor and the other is a tensor or a number."""
    if not (isinstance(x, TensorBase) and isinstance(y, (TensorBase, *NUMBER))) and not (
            isinstance(x, NUMBER) and isinstance(y, TensorBase)):
        raise invalid(name, x, y)


def _with_numbers(both: Op, of_number: Op, with_number: Op, name: str, out: Any) -> Callable[..., Any]:
    """The function for three ops: one of two tensors, and two of a tensor and a number in either order."""
    call, from_number, by_number = recorded(both), recorded(of_number), recorded(with_number)

    @public(f"{name}(Tensor input, Tensor other, out)", f"{name}(Number self, Tensor other, out)",
            f"{name}(Tensor input, Number other, out)", name=both.name, out=out,
            doc=f"{both.kernel.__doc__} Either operand may be a number, but not both.")
    def function(input: Any = None, other: Any = None, *, self: Any = None) -> Any:
        input = input if self is None else self
        if isinstance(input, TensorBase) and isinstance(other, TensorBase):
            return call(input, other)
        _check_operands(name, input, other)
        if isinstance(other, TensorBase):
            return from_number(other, number(name, "self", 1, input))
        return by_number(input, number(name, "other", 2, other))

    return function


xlogy = _with_numbers(elementary.xlogy, ops.xlogy_of_number, ops.xlogy_with_number, "xlogy", ELEMENTWISE)
xlog1py = _with_numbers(ops.xlog1py, ops.xlog1py_of_number, ops.xlog1py_with_number, "special_xlog1py",
                        rule(blame="special_xlog1py"))
zeta = _with_numbers(ops.zeta, ops.zeta_of_number, ops.zeta_with_number, "special_zeta", rule(blame="special_zeta"))


@public("xlogy_(Tensor input, Tensor other)", "xlogy_(Tensor input, Number other)", method=True)
def xlogy_(self: TensorBase, other: Any) -> TensorBase:
    """`xlogy`, written over the tensor itself."""
    return over(ops.xlogy_with_number if isinstance(other, NUMBER) else elementary.xlogy,  # type: ignore[no-any-return]
                self, other)


special_erf, special_erfc, special_erfinv = map(_of_one, (elementary.erf, elementary.erfc, elementary.erfinv))
special_exp2, special_expm1, special_log1p = map(_of_one, (elementary.exp2, elementary.expm1, elementary.log1p))
special_sinc, special_digamma, special_i0 = map(_of_one, (elementary.sinc, ops.digamma, ops.i0))
expit, psi, gammaln = _of_one(activations.sigmoid, "expit"), _of_one(ops.digamma, "psi"), _of_one(ops.lgamma, "gammaln")
gammainc, gammaincc = between_tensors(ops.igamma, "special_gammainc"), between_tensors(ops.igammac, "special_gammaincc")
i0e, i1, i1e, entr = map(_blamed, (ops.i0e, ops.i1, ops.i1e, ops.entr))
erfcx, log_ndtr, ndtri = map(_blamed, (ops.erfcx, ops.log_ndtr, ops.ndtri))
bessel_j0, bessel_j1, bessel_y0, bessel_y1 = (
    _of_one(op, out=_UNASKED) for op in (ops.bessel_j0, ops.bessel_j1, ops.bessel_y0, ops.bessel_y1))
modified_bessel_i0, modified_bessel_i1, modified_bessel_k0, modified_bessel_k1 = (
    _of_one(op, out=_UNASKED) for op in (
        ops.modified_bessel_i0, ops.modified_bessel_i1, ops.modified_bessel_k0, ops.modified_bessel_k1))
scaled_modified_bessel_k0 = _of_x(ops.scaled_modified_bessel_k0)
scaled_modified_bessel_k1 = _of_x(ops.scaled_modified_bessel_k1)
spherical_bessel_j0, airy_ai = _of_x(ops.spherical_bessel_j0), _of_x(ops.airy_ai)

chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t")
chebyshev_polynomial_u = _polynomial("chebyshev_polynomial_u")
chebyshev_polynomial_v = _polynomial("chebyshev_polynomial_v")
chebyshev_polynomial_w = _polynomial("chebyshev_polynomial_w")
shifted_chebyshev_polynomial_t = _polynomial("shifted_chebyshev_polynomial_t")
shifted_chebyshev_polynomial_u = _polynomial("shifted_chebyshev_polynomial_u")
shifted_chebyshev_polynomial_v = _polynomial("shifted_chebyshev_polynomial_v")
shifted_chebyshev_polynomial_w = _polynomial("shifted_chebyshev_polynomial_w")
hermite_polynomial_h = _polynomial("hermite_polynomial_h")
hermite_polynomial_he = _polynomial("hermite_polynomial_he")
laguerre_polynomial_l = _polynomial("laguerre_polynomial_l")
legendre_polynomial_p = _polynomial("legendre_polynomial_p")


@public("special_ndtr(Tensor input, out)")
def ndtr(input: TensorBase, *, out: Any = None) -> TensorBase:
    """The probability that a standard normal sample is at most `input`: (1 + erf(input / sqrt(2))) / 2.

    >>> import retrograd as torch
    >>> torch.special.ndtr(torch.tensor([-2., 0., 2.]))
    tensor([0.0228, 0.5000, 0.9772])
    """
    if not isinstance(input, TensorBase):
        raise not_a_tensor("special_ndtr", input, "input", 1)
    result = _mul(_add(_erf(_mul(input, _ROOT_HALF)), 1), 0.5)
    if out is None:
        return result  # type: ignore[no-any-return]
    receive("ndtr", _UNASKED, out, result)
    return copy_(out, result)


@public("special_softmax(Tensor input, int dim, dtype dtype=None)")
def softmax(input: TensorBase, dim: int, *, dtype: Any = None) -> TensorBase:
    """`torch.softmax` without the parameter `out`."""
    return over_dim.softmax(input, dim, dtype)  # type: ignore[no-any-return]


@public("special_log_softmax(Tensor input, int dim, *, dtype dtype=None)")
def log_softmax(input: TensorBase, dim: int, *, dtype: Any = None) -> TensorBase:
    """`torch.log_softmax` without the parameter `out`."""
    return over_dim.log_softmax(input, dim, dtype)  # type: ignore[no-any-return]


NUMPY: dict[Any, Callable[..., Any]] = {np.i0: i0}


methods(_polygamma_method, xlogy)
