"""Elementwise functions of tensors that only `torch.special` has. Messages call them by names with `special_`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import dtype as torch_dtype
from ....ops.elementwise import arithmetic, elementary, special as ops, special_only as only
from ....ops.framework import Op
from ....ops.networks import activations
from ...arguments.dims import not_a_tensor
from ...arguments.options import check_tensor
from ...recording.calls import recorded
from ...recording.out import receive
from ...recording.out_rules import ELEMENTWISE, FOUND, UNASKED, rule
from ...recording.overwriting import copy_
from ...recording.public import public, renamed
from ...state.base import TensorBase
from ..networks import softmax as over_dim
from .elementary import between_tensors, logit, round
from .special import check_operands, mvlgamma, polygamma, with_numbers, xlogy

_UNASKED = rule(gradient=UNASKED)
_erf, _add, _mul = recorded(elementary.erf), recorded(arithmetic.add_number), recorded(arithmetic.mul_number)
_ROOT_HALF = math.sqrt(0.5)


def _of_one(op: Op, called: str = "", out: Any = None, parameter: str = "input") -> Callable[..., Any]:
    """The function of torch.special for an op of one tensor. `called` is its name, if the name is not the op's."""
    call, name = recorded(op), f"special_{called or op.name}"
    said = "" if isinstance(op.kernel, np.ufunc) else f"{op.kernel.__doc__} "
    described = public(f"{name}(Tensor {parameter}, out)", name=op.name, out=out or ELEMENTWISE,
                       doc=f"{said}Elementwise `{op.name}`. Ints become the default float dtype.")

    def of_input(input: TensorBase) -> Any:
        check_tensor(name, input)
        return call(input)

    def of_x(x: TensorBase) -> Any:
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
    op = only.POLYNOMIALS[name]
    call = recorded(op)

    @public(f"special_{name}(Tensor x, Tensor n, out)", f"special_{name}(Number x, Tensor n, out)",
            f"special_{name}(Tensor x, Number n, out)", name=name, out=_UNASKED,
            doc=f"{op.kernel.__doc__} x and the degree n are tensors. Either may be a number, but not both.")
    def function(x: TensorBase, n: Any) -> Any:
        check_operands(f"special_{name}", x, n)
        return call(_as_float(x), _as_float(n))

    return function


def _as_float(value: Any) -> Any:
    """An int as a float. So a negative int keeps its value beside a tensor of bytes."""
    return float(value) if isinstance(value, int) else value


xlog1py = with_numbers(only.xlog1py, only.xlog1py_of_number, only.xlog1py_with_number, "special_xlog1py",
                        rule(blame="special_xlog1py"))
zeta = with_numbers(only.zeta, only.zeta_of_number, only.zeta_with_number, "special_zeta", rule(blame="special_zeta"))

@public("special_round(Tensor input, *, int decimals=0, Tensor out=None)", out=rule(exact=FOUND, blame="round"),
        strict=True)
def special_round(input: TensorBase, *, decimals: int = 0) -> TensorBase:
    """The nearest numbers with `decimals` digits after the point. Halves go to the even neighbor.

    >>> import retrograd as torch
    >>> torch.special.round(torch.tensor([0.25, -2.48]), decimals=1)
    tensor([ 0.2000, -2.5000])
    """
    return round(input, decimals=decimals)  # type: ignore[no-any-return]


special_erf, special_erfc, special_erfinv = map(_of_one, (elementary.erf, elementary.erfc, elementary.erfinv))
special_exp2, special_expm1, special_log1p = map(_of_one, (elementary.exp2, elementary.expm1, elementary.log1p))
special_sinc, special_digamma, special_i0 = map(_of_one, (elementary.sinc, ops.digamma, ops.i0))
special_logit, special_xlogy = renamed(logit, "special_logit"), renamed(xlogy, "special_xlogy")
special_logsumexp = renamed(over_dim.logsumexp, "special_logsumexp")
multigammaln = renamed(mvlgamma, "special_multigammaln")
special_polygamma = renamed(polygamma, "special_polygamma")
expit, psi, gammaln = _of_one(activations.sigmoid, "expit"), _of_one(ops.digamma, "psi"), _of_one(ops.lgamma, "gammaln")
gammainc, gammaincc = between_tensors(ops.igamma, "special_gammainc"), between_tensors(ops.igammac, "special_gammaincc")
i0e, i1, i1e, entr = map(_blamed, (only.i0e, ops.i1, only.i1e, only.entr))
erfcx, log_ndtr, ndtri = map(_blamed, (only.erfcx, only.log_ndtr, only.ndtri))
bessel_j0, bessel_j1, bessel_y0, bessel_y1 = (
    _of_one(op, out=_UNASKED) for op in (only.bessel_j0, only.bessel_j1, only.bessel_y0, only.bessel_y1))
modified_bessel_i0, modified_bessel_i1, modified_bessel_k0, modified_bessel_k1 = (
    _of_one(op, out=_UNASKED) for op in (
        only.modified_bessel_i0, only.modified_bessel_i1, only.modified_bessel_k0, only.modified_bessel_k1))
scaled_modified_bessel_k0 = _of_x(only.scaled_modified_bessel_k0)
scaled_modified_bessel_k1 = _of_x(only.scaled_modified_bessel_k1)
spherical_bessel_j0, airy_ai = _of_x(only.spherical_bessel_j0), _of_x(only.airy_ai)

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
def ndtr(input: TensorBase, *, out: TensorBase | None = None) -> TensorBase:
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
def softmax(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> TensorBase:
    """`torch.softmax` without the parameter `out`."""
    return over_dim.softmax(input, dim, dtype)  # type: ignore[no-any-return]


@public("special_log_softmax(Tensor input, int dim, *, dtype dtype=None)")
def log_softmax(input: TensorBase, dim: int, *, dtype: torch_dtype | None = None) -> TensorBase:
    """`torch.log_softmax` without the parameter `out`."""
    return over_dim.log_softmax(input, dim, dtype)  # type: ignore[no-any-return]
