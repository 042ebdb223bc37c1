"""Elementwise elementary functions of tensors, as functions, as methods and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import NARROW, dtype as torch_dtype, letter
from ....foundations.errors import noted
from ....foundations.limits import finfo
from ....ops.elementwise import elementary as ops
from ....ops.framework import Op
from ....ops.networks import activations
from ...arguments.options import check_real_parts, check_tensor, check_tensors, refuse_complex_gradient
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.inplace_methods import inplace
from ...recording.out_rules import ELEMENTWISE, FOUND, UNDERIVED, rule
from ...recording.public import methods, public, public_property, renamed
from ...recording.twins import Call, Function, both, twins
from ...state.base import TensorBase, numbers_in

_SAME_TYPE = rule(exact=FOUND)
(exp, exp_), (exp2, exp2_), (expm1, expm1_) = map(both, (ops.exp, ops.exp2, ops.expm1))
(log, log_), (log2, log2_), (log10, log10_), (log1p, log1p_) = map(both, (ops.log, ops.log2, ops.log10, ops.log1p))
(sqrt, sqrt_), (rsqrt, rsqrt_) = map(both, (ops.sqrt, ops.rsqrt))
(sin, sin_), (cos, cos_), (tan, tan_) = map(both, (ops.sin, ops.cos, ops.tan))
(asin, asin_), (acos, acos_), (atan, atan_) = map(both, (ops.asin, ops.acos, ops.atan))
(sinh, sinh_), (cosh, cosh_), (tanh, tanh_) = map(both, (ops.sinh, ops.cosh, ops.tanh))
(asinh, asinh_), (acosh, acosh_), (atanh, atanh_) = map(both, (ops.asinh, ops.acosh, ops.atanh))
arcsin, arccos, arctan = renamed(asin, "arcsin"), renamed(acos, "arccos"), renamed(atan, "arctan")
arcsinh, arccosh, arctanh = renamed(asinh, "arcsinh"), renamed(acosh, "arccosh"), renamed(atanh, "arctanh")
arcsin_, arccos_, arctan_, arcsinh_, arccosh_, arctanh_ = asin_, acos_, atan_, asinh_, acosh_, atanh_
(sigmoid, sigmoid_), (relu, relu_) = both(activations.sigmoid), both(activations.relu, None)
(erf, erf_), (erfc, erfc_), (erfinv, erfinv_) = map(both, (ops.erf, ops.erfc, ops.erfinv))
(sinc, sinc_), (deg2rad, deg2rad_), (rad2deg, rad2deg_) = map(both, (ops.sinc, ops.deg2rad, ops.rad2deg))
(sgn, sgn_), (sign, sign_), (frac, frac_) = (both(op, _SAME_TYPE) for op in (ops.sgn, ops.sign, ops.frac))
(ceil, ceil_), (floor, floor_), (trunc, trunc_) = (both(op, _SAME_TYPE) for op in (ops.ceil, ops.floor, ops.trunc))
fix, fix_ = renamed(trunc, "fix"), trunc_
abs = recorded(ops.abs, out=lambda x: _SAME_TYPE if x._array.dtype.kind != "c" else rule(if_complex=x._array.dtype))
absolute = renamed(abs, "absolute")
angle = recorded(ops.angle)

_polar, _view_as_real = recorded(ops.polar), recorded(ops.view_as_real)
_conj, _conj_physical = recorded(ops.conj), recorded(ops.conj_physical)
_part, _view_as_complex = recorded(ops.part), recorded(ops.view_as_complex)


def between_tensors(op: Op, called: str = "", out: Any = ELEMENTWISE) -> Callable[[Any, Any], Any]:
    """A recorded op as PyTorch's function of two tensors. The function raises TypeError for numbers."""
    call, name = recorded(op), called or op.name

    @public(f"{name}(Tensor input, Tensor other, out)", name=op.name, out=out,
            doc=f"Elementwise `{op.name}` of two tensors, broadcast. Raises TypeError for numbers.")
    def function(input: TensorBase, other: TensorBase) -> Any:
        check_tensors(name, input=input, other=other)
        return call(input, other)

    return function


def twins_of_tensors(op: Op, out: Any = ELEMENTWISE) -> Function:
    """The method of tensors that `between_tensors` makes, and its twin."""

    @twins(f"{op.name}(Tensor input, Tensor other, out)", name=op.name, out=out, method=True,
           doc=f"Elementwise `{op.name}` of two tensors, broadcast. Raises TypeError for numbers.")
    def function(call: Call, input: TensorBase, other: TensorBase) -> Any:
        check_tensors(op.name, input=input, other=other)
        return call(op, input, other)

    return function


atan2, hypot = twins_of_tensors(ops.atan2), twins_of_tensors(ops.hypot)
arctan2 = renamed(atan2, "arctan2")
logaddexp, logaddexp2 = between_tensors(ops.logaddexp), between_tensors(ops.logaddexp2)


@twins("round(Tensor input, out)", "round(Tensor input, *, int decimals, Tensor out=None)", out=rule(exact=FOUND),
       strict=True, method=True)
def round(call: Call, input: TensorBase, *, decimals: int | None = None) -> TensorBase:
    """The nearest integers, or with `decimals` the nearest numbers with so many digits after the point.

    Halves go to the even neighbor. The shape and the dtype stay.

    >>> import retrograd as torch
    >>> torch.round(torch.tensor([0.5, 1.5, -2.4]))
    tensor([ 0.,  2., -2.])
    """
    if decimals is None:
        return call(ops.round, input)
    return call(ops.round_decimals if decimals else ops.round_to_whole, input, decimals)


def _float(name: str, argument: str, position: int, value: Any) -> Any:
    """The number as a float, or None. Raises TypeError for a tensor with dimensions: no kernel takes such a tensor."""
    if isinstance(value, TensorBase):
        if value._array.ndim:
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be float, not Tensor")
        return numbers_in(value)
    return float(value) if type(value) is int else value


@twins("logit(Tensor input, float eps=None, out)", out=ELEMENTWISE, method=True)
def logit(call: Call, input: TensorBase, eps: float | None = None) -> TensorBase:
    """log(input / (1 - input)), the inverse of sigmoid. `eps` first limits the input to [eps, 1 - eps]."""
    return call(ops.logit, input, _float("logit", "eps", 2, eps))


@twins(
    "nan_to_num(Tensor input, float nan=None, float posinf=None, float neginf=None, out)",
    out=rule(exact="nan_to_num: dtype of out: {out} should be same as input: {result}"),
    strict=True, method=True)
def nan_to_num(call: Call, input: TensorBase, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> TensorBase:
    """The input with `nan`, `posinf` and `neginf` in place of nan and the infinities.

    The defaults are 0 for nan, and the largest and the smallest number of the dtype for the infinities.

    >>> import retrograd as torch
    >>> torch.nan_to_num(torch.tensor([float("nan"), 1., float("inf")]), posinf=9.)
    tensor([0., 1., 9.])
    """
    if call is not over:
        refuse_complex_gradient("nan_to_num", input)
    dtype = input._array.dtype
    if dtype in NARROW and (posinf is None or neginf is None):          # the kernel computes in float32
        limits = finfo(torch_dtype.of[dtype])
        posinf, neginf = (limits.max if posinf is None else posinf), (limits.min if neginf is None else neginf)
    return call(ops.nan_to_num, input, _float("nan_to_num", "nan", 2, nan), posinf, neginf)


@public("real(Tensor input)")
def real(input: TensorBase) -> TensorBase:
    """The real part. For a complex tensor it is a view, and for a real tensor it is the tensor itself."""
    return _part(_view_as_real(input), 0) if input._array.dtype.kind == "c" else input


@public("imag(Tensor input)")
def imag(input: TensorBase) -> TensorBase:
    """The imaginary part, as a view. Raises RuntimeError for a real tensor."""
    if input._array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(_view_as_real(input), 1)  # type: ignore[no-any-return]


@public("conj(Tensor input)", method=True)
def conj(input: TensorBase) -> TensorBase:
    """The complex conjugate. For a real tensor the result is the tensor itself."""
    return _conj(input) if input._array.dtype.kind == "c" else input


@public("conj_physical(Tensor input, out)", out=rule(exact=FOUND, gradient=UNDERIVED), method=True)
def conj_physical(input: TensorBase) -> TensorBase:
    """The complex conjugate. For a real tensor the result is the tensor itself."""
    return _conj_physical(input) if input._array.dtype.kind == "c" else input


@public(method=True)
def resolve_conj(input: TensorBase) -> TensorBase:
    """The tensor itself, because `conj` computes its result at once and leaves nothing to resolve."""
    check_tensor("resolve_conj", input)
    return input


@public(out=rule(exact="Expected object of scalar type {result} but got scalar type {out} for argument 'out'"))
def polar(abs: TensorBase, angle: TensorBase) -> TensorBase:
    """The complex numbers with the absolute values `abs` and the angles `angle`, broadcast.

    Raises RuntimeError if the two dtypes differ or are not floating, NotImplementedError for float16.
    """
    check_real_parts("polar", abs, angle, ("abs", "angle"))
    if abs.dtype.itemsize == 2:
        raise noted(
            NotImplementedError("\"polar_cpu\" not implemented for 'Half'"), instead="convert with .float() first")
    return _polar(abs, angle)  # type: ignore[no-any-return]


@public("view_as_real(Tensor input)")
def view_as_real(input: TensorBase) -> TensorBase:
    """A view of a complex tensor as pairs (real, imaginary) along a new last dimension of size 2.

    Raises RuntimeError for a real tensor.
    """
    if input._array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _view_as_real(input)  # type: ignore[no-any-return]


@public("view_as_complex(Tensor input)")
def view_as_complex(input: TensorBase) -> TensorBase:
    """A view of the pairs (real, imaginary) along the last dimension as complex numbers.

    Raises RuntimeError if the last dimension does not have size 2 and stride 1, or if the dtype has no complex type.
    """
    if letter(input._array.dtype) != "f" or input._array.dtype in NARROW:
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of "
                           f"scalar type: {input.dtype.legacy}")
    if input._array.itemsize == 2:
        raise noted(
            RuntimeError("view_as_complex(): no complex dtype has parts of float16"), instead="convert with .float()")
    if not input._array.ndim:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input._array.shape[-1] == 2 and input.storage_offset() % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return _view_as_complex(input)  # type: ignore[no-any-return]


@public(method=True)
def is_neg(input: TensorBase) -> bool:
    """Always False, because no tensor has a change of sign left to resolve."""
    check_tensor("is_neg", input)
    return False


@public(method=True)
def resolve_neg(input: TensorBase) -> TensorBase:
    """The tensor itself, because `neg` computes its result at once and leaves nothing to resolve."""
    check_tensor("resolve_neg", input)
    return input


@public(method=True)
def is_conj(input: TensorBase) -> bool:
    """Always False, because no tensor has a conjugate left to resolve."""
    check_tensor("is_conj", input)
    return False


@public("abs_(Tensor input)", method=True, bound=True)
def abs_(self: TensorBase) -> TensorBase:
    """`abs`, written over the tensor itself. Raises RuntimeError for a complex tensor."""
    if self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return over(ops.abs, self)  # type: ignore[no-any-return]


logit_, nan_to_num_, round_ = logit.written, nan_to_num.written, round.written
conj_physical_ = inplace(ops.conj_physical)

NUMPY: dict[Any, Callable[..., Any]] = {
    np.real: real,
    np.imag: lambda val: imag(val) if val._array.dtype.kind == "c" else val * 0,
    np.angle: lambda z, deg=False: rad2deg(angle(z)) if deg else angle(z),
    **dict.fromkeys((np.round, np.around), lambda a, decimals=0: round(a, decimals=decimals or None)),
    np.fix: trunc,
    np.sinc: sinc,
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: nan_to_num(x, nan, posinf, neginf),
}


def set_real(self: TensorBase, value: TensorBase) -> None:
    """Write the value into the real parts, as `t.real[...] = value` does. Gradients flow back to the value."""
    _write(real(self), value)


def set_imag(self: TensorBase, value: Any) -> None:
    """Write the value into the imaginary parts, as `t.imag[...] = value` does.

    Raises RuntimeError for a real tensor.
    """
    _write(imag(self), value)


def _write(part: TensorBase, value: Any) -> None:
    if isinstance(value, TensorBase):
        part.copy_(value)
    else:
        part[...] = value


methods(
    logaddexp, logaddexp2, abs, angle, conj_physical_, arcsin=arcsin, arccos=arccos, arctan=arctan,
    arcsinh=arcsinh, arccosh=arccosh, arctanh=arctanh, arctan2=arctan2, absolute=absolute, __abs__=abs, fix=fix,
    real=public_property(real, set_real, doc=real.__doc__), imag=public_property(imag, set_imag, doc=imag.__doc__),
    arcsin_=asin_, arccos_=acos_, arctan_=atan_, arcsinh_=asinh_, arccosh_=acosh_, arctanh_=atanh_,
    arctan2_=atan2.written, absolute_=abs_, fix_=trunc_)
