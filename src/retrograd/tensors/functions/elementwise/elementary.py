"""Elementwise elementary functions of tensors, as functions, as methods and in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.elementwise import elementary as ops
from ....ops.framework import Op
from ....ops.networks import activations
from ...arguments.options import check_real_parts, check_tensor, refuse_complex_gradient
from ...recording.calls import recorded
from ...recording.inplace import inplace, write
from ...recording.out_rules import ELEMENTWISE, FOUND, UNDERIVED, rule
from ...recording.public import methods, public, public_property
from ...state.base import TensorBase, numbers_in

exp, exp2, expm1 = recorded(ops.exp), recorded(ops.exp2), recorded(ops.expm1)
log, log2, log10, log1p = recorded(ops.log), recorded(ops.log2), recorded(ops.log10), recorded(ops.log1p)
sqrt, rsqrt = recorded(ops.sqrt), recorded(ops.rsqrt)
sin, cos, tan = recorded(ops.sin), recorded(ops.cos), recorded(ops.tan)
asin, acos, atan = recorded(ops.asin), recorded(ops.acos), recorded(ops.atan)
sinh, cosh, tanh = recorded(ops.sinh), recorded(ops.cosh), recorded(ops.tanh)
asinh, acosh, atanh = recorded(ops.asinh), recorded(ops.acosh), recorded(ops.atanh)
arcsin, arccos, arctan, arcsinh, arccosh, arctanh = asin, acos, atan, asinh, acosh, atanh
sigmoid, relu = recorded(activations.sigmoid), recorded(activations.relu, out=None)
erf, erfc, erfinv, sinc = recorded(ops.erf), recorded(ops.erfc), recorded(ops.erfinv), recorded(ops.sinc)
deg2rad, rad2deg = recorded(ops.deg2rad), recorded(ops.rad2deg)
_SAME_TYPE = rule(exact=FOUND)
abs = absolute = recorded(ops.abs, out=_SAME_TYPE)
sgn, sign, ceil, floor, trunc, frac = (recorded(op, out=_SAME_TYPE) for op in (
    ops.sgn, ops.sign, ops.ceil, ops.floor, ops.trunc, ops.frac))
fix = trunc
angle = recorded(ops.angle)

_round, _round_decimals = recorded(ops.round), recorded(ops.round_decimals)
_logit, _nan_to_num = recorded(ops.logit), recorded(ops.nan_to_num)
_polar, _view_as_real = recorded(ops.polar), recorded(ops.view_as_real)
_conj, _conj_physical = recorded(ops.conj), recorded(ops.conj_physical)
_part, _view_as_complex = recorded(ops.part), recorded(ops.view_as_complex)


def between_tensors(op: Op, called: str = "", out: Any = ELEMENTWISE) -> Callable[[Any, Any], Any]:
    """A recorded op as PyTorch's function of two tensors. The function raises TypeError for numbers."""
    call, name = recorded(op), called or op.name

    @public(f"{name}(Tensor input, Tensor other, out)", name=op.name, out=out,
            doc=f"Elementwise `{op.name}` of two tensors, broadcast. Raises TypeError for numbers.")
    def function(input: Any, other: Any) -> Any:
        check_tensor(name, input)
        check_tensor(name, other, "other", 2)
        return call(input, other)

    return function


def inplace_with_tensor(op: Op) -> Callable[[Any, Any], Any]:
    """An op as PyTorch's in-place method. The method raises TypeError if the other operand is a number."""

    @public(name=f"{op.name}_", doc=f"`{op.name}`, written into the tensor. Raises TypeError for a number.")
    def method(self: Any, other: Any) -> Any:
        check_tensor(f"{op.name}_", self)
        check_tensor(f"{op.name}_", other, "other")
        write(op, self, (other,))
        return self

    return method


atan2 = arctan2 = between_tensors(ops.atan2)
hypot = between_tensors(ops.hypot)
logaddexp, logaddexp2 = between_tensors(ops.logaddexp), between_tensors(ops.logaddexp2)


@public("round(Tensor input, out)", "round(Tensor input, *, int decimals, Tensor out=None)", out=rule(exact=FOUND),
        method=True)
def round(input: TensorBase, *, decimals: int = 0) -> TensorBase:
    """The nearest integers, or with `decimals` the nearest numbers with so many digits after the point.

    Halves go to the even neighbour. The shape and the dtype stay.

    >>> import retrograd as torch
    >>> torch.round(torch.tensor([0.5, 1.5, -2.4]))
    tensor([ 0.,  2., -2.])
    """
    return _round(input) if not decimals else _round_decimals(input, decimals)  # type: ignore[no-any-return]


def _float(name: str, argument: str, position: int, value: Any) -> Any:
    """The number, or None. Raises TypeError for a tensor with dimensions, because no kernel takes such a tensor."""
    if isinstance(value, TensorBase):
        if value._array.ndim:
            raise TypeError(f"{name}(): argument '{argument}' (position {position}) must be float, not Tensor")
        return numbers_in(value)
    return value


@public("logit(Tensor input, float eps=None, out)", out=ELEMENTWISE, method=True)
def logit(input: TensorBase, eps: float | None = None) -> TensorBase:
    """log(input / (1 - input)), the inverse of sigmoid. `eps` first limits the input to [eps, 1 - eps]."""
    return _logit(input, _float("logit", "eps", 2, eps))  # type: ignore[no-any-return]


@public(
    "nan_to_num(Tensor input, float nan=None, float posinf=None, float neginf=None, out)",
    out=rule(exact="nan_to_num: dtype of out: {out} should be same as input: {result}"),
    strict=True, method=True)
def nan_to_num(input: TensorBase, nan: float | None = None, posinf: float | None = None,
               neginf: float | None = None) -> TensorBase:
    """The input with `nan`, `posinf` and `neginf` in place of nan and the infinities.

    The defaults are 0 for nan, and the largest and the smallest number of the dtype for the infinities.

    >>> import retrograd as torch
    >>> torch.nan_to_num(torch.tensor([float("nan"), 1., float("inf")]), posinf=9.)
    tensor([0., 1., 9.])
    """
    refuse_complex_gradient("nan_to_num", input)
    return _nan_to_num(input, _float("nan_to_num", "nan", 2, nan), posinf, neginf)  # type: ignore[no-any-return]


@public("real(Tensor input)")
def real(input: TensorBase) -> TensorBase:
    """The real part. For a complex tensor it is a view, and for a real tensor it is the tensor itself."""
    check_tensor("real", input)
    return _part(_view_as_real(input), 0) if input._array.dtype.kind == "c" else input


@public("imag(Tensor input)")
def imag(input: TensorBase) -> TensorBase:
    """The imaginary part, as a view. Raises RuntimeError for a real tensor."""
    check_tensor("imag", input)
    if input._array.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return _part(_view_as_real(input), 1)  # type: ignore[no-any-return]


@public("conj(Tensor input)", method=True)
def conj(input: TensorBase) -> TensorBase:
    """The complex conjugate. For a real tensor the result is the tensor itself."""
    check_tensor("conj", input)
    return _conj(input) if input._array.dtype.kind == "c" else input


@public("conj_physical(Tensor input, out)", out=rule(exact=FOUND, gradient=UNDERIVED), method=True)
def conj_physical(input: TensorBase) -> TensorBase:
    """The complex conjugate. For a real tensor the result is the tensor itself."""
    check_tensor("conj_physical", input)
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
        raise NotImplementedError("\"polar_cpu\" not implemented for 'Half'. Convert with .float() first.")
    return _polar(abs, angle)  # type: ignore[no-any-return]


@public("view_as_real(Tensor input)")
def view_as_real(input: TensorBase) -> TensorBase:
    """A view of a complex tensor as pairs (real, imaginary) along a new last dimension of size 2.

    Raises RuntimeError for a real tensor.
    """
    check_tensor("view_as_real", input)
    if input._array.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return _view_as_real(input)  # type: ignore[no-any-return]


@public("view_as_complex(Tensor input)")
def view_as_complex(input: TensorBase) -> TensorBase:
    """A view of the pairs (real, imaginary) along the last dimension as complex numbers.

    Raises RuntimeError if the last dimension does not have size 2 and stride 1, or if the dtype has no complex type.
    """
    check_tensor("view_as_complex", input)
    if input._array.dtype.kind != "f":
        raise RuntimeError("view_as_complex is only supported for half, float and double tensors, but got a tensor of "
                           f"scalar type: {input.dtype.legacy}")
    if input._array.itemsize == 2:
        raise RuntimeError("view_as_complex(): no complex dtype has parts of float16. Convert with .float() first.")
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


# In place


@public(method=True)
def round_(self: TensorBase, *, decimals: int = 0) -> TensorBase:
    """`round`, written into the tensor."""
    write(ops.round_decimals if decimals else ops.round, self, (decimals,) if decimals else ())
    return self


@public(method=True)
def abs_(self: TensorBase) -> TensorBase:
    """`abs`, written into the tensor. Raises RuntimeError for a complex tensor."""
    if self._array.dtype.kind == "c":
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    write(ops.abs, self, ())
    return self


@public(method=True)
def logit_(self: TensorBase, eps: float | None = None) -> TensorBase:
    """`logit`, written into the tensor."""
    write(ops.logit, self, (eps,))
    return self


@public(method=True)
def nan_to_num_(self: TensorBase, nan: float | None = None, posinf: float | None = None,
                neginf: float | None = None) -> TensorBase:
    """`nan_to_num`, written into the tensor."""
    write(ops.nan_to_num, self, (nan, posinf, neginf))
    return self


exp_, exp2_, expm1_ = inplace(ops.exp), inplace(ops.exp2), inplace(ops.expm1)
log_, log2_, log10_, log1p_ = inplace(ops.log), inplace(ops.log2), inplace(ops.log10), inplace(ops.log1p)
sqrt_, rsqrt_ = inplace(ops.sqrt), inplace(ops.rsqrt)
sin_, cos_, tan_ = inplace(ops.sin), inplace(ops.cos), inplace(ops.tan)
asin_, acos_, atan_ = inplace(ops.asin), inplace(ops.acos), inplace(ops.atan)
sinh_, cosh_, tanh_ = inplace(ops.sinh), inplace(ops.cosh), inplace(ops.tanh)
asinh_, acosh_, atanh_ = inplace(ops.asinh), inplace(ops.acosh), inplace(ops.atanh)
sigmoid_, relu_ = inplace(activations.sigmoid), inplace(activations.relu)
erf_, erfc_, erfinv_, sinc_ = inplace(ops.erf), inplace(ops.erfc), inplace(ops.erfinv), inplace(ops.sinc)
deg2rad_, rad2deg_ = inplace(ops.deg2rad), inplace(ops.rad2deg)
sgn_, sign_ = inplace(ops.sgn), inplace(ops.sign)
ceil_, floor_, trunc_, frac_ = inplace(ops.ceil), inplace(ops.floor), inplace(ops.trunc), inplace(ops.frac)
arcsin_, arccos_, arctan_, arcsinh_, arccosh_, arctanh_, fix_ = asin_, acos_, atan_, asinh_, acosh_, atanh_, trunc_
conj_physical_ = inplace(ops.conj_physical)
atan2_, hypot_ = inplace_with_tensor(ops.atan2), inplace_with_tensor(ops.hypot)

NUMPY: dict[Any, Callable[..., Any]] = {
    np.real: real,
    np.imag: lambda val: imag(val) if val._array.dtype.kind == "c" else val * 0,
    np.angle: lambda z, deg=False: rad2deg(angle(z)) if deg else angle(z),
    np.round: lambda a, decimals=0: round(a, decimals=decimals),
    np.around: lambda a, decimals=0: round(a, decimals=decimals),
    np.fix: trunc,
    np.sinc: sinc,
    np.nan_to_num: lambda x, copy=True, nan=0.0, posinf=None, neginf=None: nan_to_num(x, nan, posinf, neginf),
}


def set_real(self: TensorBase, value: Any) -> None:
    """Write the value into the real parts, as `t.real[...] = value` does. Gradients flow back to the value."""
    _write(real(self), value)


def set_imag(self: TensorBase, value: Any) -> None:
    """Write the value into the imaginary parts, as `t.imag[...] = value` does.

    Raises RuntimeError for a real tensor.
    """
    _write(imag(self), value)


def _write(part: Any, value: Any) -> None:
    if isinstance(value, TensorBase):
        part.copy_(value)
    else:
        part[...] = value


methods(
    exp, exp2, expm1, log, log2, log10, log1p, sqrt, rsqrt, sigmoid, relu, sin, cos, tan, sinh, cosh, tanh, asin, acos,
    atan, asinh, acosh, atanh, atan2, hypot, logaddexp, logaddexp2, sinc, erf, erfc, erfinv, deg2rad, rad2deg, abs,
    sgn, sign, ceil, floor, trunc, frac, angle, exp_, exp2_, expm1_, log_, log2_, log10_, log1p_, sqrt_, rsqrt_,
    sigmoid_, relu_, sin_, cos_, tan_, sinh_, cosh_, tanh_, asin_, acos_, atan_, asinh_, acosh_, atanh_, atan2_,
    hypot_, sinc_, erf_, erfc_, erfinv_, deg2rad_, rad2deg_, sgn_, sign_, ceil_, floor_, trunc_, frac_, conj_physical_,
    arcsin=asin, arccos=acos, arctan=atan, arcsinh=asinh, arccosh=acosh, arctanh=atanh, arctan2=atan2, absolute=abs,
    __abs__=abs, fix=trunc, real=public_property(real, set_real, doc=real.__doc__),
    imag=public_property(imag, set_imag, doc=imag.__doc__), arcsin_=asin_, arccos_=acos_, arctan_=atan_,
    arcsinh_=asinh_, arccosh_=acosh_, arctanh_=atanh_, arctan2_=atan2_, absolute_=abs_, fix_=trunc_)
