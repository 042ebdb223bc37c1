"""Entries for what is computed element by element: arithmetic, elementary functions, comparisons, complex parts."""

from __future__ import annotations

from op_table.entry import INFINITE, TWO, Entry, binary, named, unary

_MASKED = "PyTorch masks a value that comes from log(0), 1 / 0 or 0 / 0; its derivative then has inf * 0, which is nan"
_NO_HALF = {"h": "there is no complex type of half precision"}
_ARITHMETIC = [
    *unary("neg square positive", kinds="fci", points=(0.0, *INFINITE)),
    *unary("reciprocal", low=0.3, kinds="fci", points=(0.0, -0.0, -1.0, *INFINITE)),
    *binary("add sub mul", kinds="fci", points=(0.0, *INFINITE)),
    *binary("div", low=0.3, kinds="fci", points=(0.0, *INFINITE)),
    *binary("pow", low=0.3, high=2.0, kinds="fc", points=(1.0, 2.0, -1.0)),
    Entry("pow at 0", named("pow"), TWO, low=0.3, points=(0.0, 1.0, 2.0, -1.0),
          first_only=_MASKED),
    *binary("remainder fmod", low=0.3, high=0.9, points=(0.0, 1.0, -1.0)),
    *binary("floor_divide", low=1.0, high=5.0, kinds="fi", refused=True),
    *binary("float_power", low=0.3, kinds="fc"),
    Entry("add alpha", lambda t, x, y: t.add(x, y, alpha=2), TWO, kinds="fci"),
    Entry("sub alpha", lambda t, x, y: t.sub(x, y, alpha=3), TWO, kinds="fci"),
    Entry("rsub alpha", lambda t, x, y: t.rsub(x, y, alpha=3), TWO, kinds="fci"),
    Entry("x + 2", lambda t, x: x + 2, kinds="fcib"),
    Entry("2.5 - x", lambda t, x: 2.5 - x, kinds="fci"),
    Entry("3 * x", lambda t, x: 3 * x, kinds="fcib"),
    Entry("x * 1j", lambda t, x: x * 1j, kinds="fc", apart=_NO_HALF),
    Entry("2 / x", lambda t, x: 2 / x, low=0.3, kinds="fci", points=(0.0,)),
    *(Entry(f"x ** {p}", lambda t, x, p=p: x ** p, low=0.3, kinds="fc", points=(0.0, -1.0, *INFINITE))
      for p in (0, 1, 2, 3, 4, 0.5, -0.5, -1, 2.5, -2, -3)),
    Entry("2 ** x", lambda t, x: 2 ** x, points=(0.0, *INFINITE)),
    Entry("0 ** x", lambda t, x: 0 ** x, low=0.5, points=(0.0, 1.0, -1.0),
          first_only="PyTorch multiplies by log(0) and gets nan, although the derivative is 0 everywhere nearby"),
    Entry("div floor", lambda t, x, y: t.div(x, y, rounding_mode="floor"), TWO, low=0.3, kinds="fi"),
    Entry("div trunc", lambda t, x, y: t.div(x, y, rounding_mode="trunc"), TWO, low=0.3, kinds="fi"),
    Entry("x % 2", lambda t, x: x % 2, low=0.3, high=1.7, kinds="fi", points=(0.0, 2.0, -2.0, *INFINITE)),
    Entry("fmod 2", lambda t, x: t.fmod(x, 2), low=0.3, high=1.7, kinds="fi", points=(0.0, 2.0, -2.0, *INFINITE)),
    Entry("7 % x", lambda t, x: 7 % x, low=0.3, refused=True),
    Entry("x // 2", lambda t, x: x // 2, low=0.3, high=1.7, kinds="fi", refused=True),
    Entry("7 // x", lambda t, x: 7 // x, low=0.3, refused=True),
    Entry("lerp", lambda t, x, y: t.lerp(x, y, 0.3), TWO, kinds="fc"),
    Entry("lerp far", lambda t, x, y: t.lerp(x, y, 0.8), TWO, kinds="fc"),
    Entry("lerp tensor", named("lerp"), (((3, 4),) * 3, ((3, 1), (4,), ())), kinds="fc"),
    Entry("addcmul", lambda t, x, y, z: t.addcmul(x, y, z, value=2), (((3, 4),) * 3, ((3, 1), (4,), ())), kinds="fc"),
    Entry("addcdiv", lambda t, x, y, z: t.addcdiv(x, y, z, value=2), (((3, 4),) * 3,), low=0.4, kinds="fc"),
]

_ELEMENTARY = [
    *unary("exp sin cos sinh cosh tanh sigmoid", kinds="fci", points=(0.0, *INFINITE)),
    *unary("tan asinh atan", kinds="fci", points=(0.0, *INFINITE)),
    *unary("expm1 exp2", kinds="fci", points=(0.0, *INFINITE)),
    *unary("erf erfc", kinds="fi", points=(0.0, *INFINITE)),
    *unary("sqrt log log2 log10 rsqrt", low=0.3, kinds="fci", points=(0.0, -0.0, -1.0, *INFINITE)),
    *unary("log1p acosh", low=1.2, kinds="fc", points=(0.0, -1.0, 1.0, *INFINITE)),
    *unary("erfinv", low=-0.8, high=0.8, points=(0.0, 1.0, -1.0, 2.0)),
    *unary("asin acos atanh", low=-0.8, high=0.8, kinds="fc", points=(0.0, 1.0, -1.0, 2.0)),
    *unary("logit", low=0.1, high=0.9, points=(0.0, 1.0, -1.0, 2.0)),
    *unary("sinc", points=(0.0, 1.0, 2.0), kinds="fc", low=0.1),
    *unary("deg2rad rad2deg", kinds="fi"),
    *binary("atan2 hypot logaddexp2", low=0.2, points=(0.0, 1.0, -1.0)),
    *binary("logaddexp", low=0.2, kinds="fc", points=(0.0, 1.0, -1.0)),
    Entry("logit eps", lambda t, x: t.logit(x, 0.15), low=0.2, high=0.8, points=(0.15, 0.85, 0.1, 0.9)),
    Entry("logit eps outside", lambda t, x: t.logit(x, 0.15), low=0.2, high=0.8, points=(0.0, 1.0),
          first_only=_MASKED),
]

_SIZES = [
    *unary("abs sgn", low=0.2, kinds="fc", points=(0.0, -0.0, *INFINITE)),
    *unary("sign ceil floor trunc frac round", low=0.1, high=0.4, points=(0.0, 0.5, 1.0, -1.5, *INFINITE)),
    *binary("maximum minimum fmax fmin", distinct=True, kinds="fi", points=(0.0, 1.0, *INFINITE)),
    *binary("copysign", low=0.2, kinds="fi", points=(1.0, -1.0)),
    Entry("copysign -2", lambda t, x: t.copysign(x, -2), low=0.2, kinds="fi", points=(1.0, -1.0)),
    Entry("copysign at 0", named("copysign"), TWO, low=0.2, points=(0.0, -0.0, 1.0),
          first_only=_MASKED),
    *binary("heaviside", low=0.2, refused=True),
    *unary("isnan isinf isfinite isposinf isneginf signbit", kinds="fi", points=(0.0, -0.0, *INFINITE)),
    *unary("logical_not", kinds="fib", points=(0.0,)),
    *unary("bitwise_not", kinds="ib"),
    *unary("isreal", kinds="fcib"),
    *binary("eq ne lt le gt ge isclose", kinds="fib", points=(0.0, *INFINITE)),
    *binary("logical_and logical_or logical_xor", kinds="fib"),
    *binary("bitwise_and bitwise_or bitwise_xor", kinds="ib"),
    *binary("bitwise_left_shift bitwise_right_shift", low=0.0, kinds="i"),
    Entry("round 0", lambda t, x: t.round(x, decimals=0), low=0.1, high=0.4, points=(0.0, 0.5, 1.0, -1.5)),
    Entry("round 2", lambda t, x: t.round(x, decimals=2), low=0.101, high=0.1049, points=(0.0, 0.125)),
    Entry("round -1", lambda t, x: t.round(x, decimals=-1), low=1.0, high=4.0, points=(5.0, 15.0)),
    Entry("clamp", lambda t, x: x.clamp(-1, 1), low=-0.9, high=0.9, kinds="fi", points=(-1.0, 1.0, 3.0, *INFINITE)),
    Entry("clamp min", lambda t, x: t.clamp(x, min=0), low=0.1, points=(0.0, -1.0, float("nan"))),
    Entry("clamp max", lambda t, x: t.clamp(x, max=0), low=0.1, points=(0.0, -1.0, float("nan"))),
    Entry("clamp tensors", lambda t, x, y: t.clamp(x, y, y + 1), TWO, distinct=True, points=(0.0, 1.0, float("nan"))),
    Entry("clamp_min 0", lambda t, x: t.clamp_min(x, 0), low=0.1, kinds="fi", points=(0.0, -1.0, float("nan"))),
    Entry("clamp_max 0", lambda t, x: t.clamp_max(x, 0), low=0.1, kinds="fi", points=(0.0, -1.0, float("nan"))),
    *binary("clamp_min clamp_max", distinct=True, kinds="fi", points=(0.0, 1.0, float("nan"))),
    Entry("where", lambda t, x, y: t.where(x > 0.05, x, y * 2), TWO, distinct=True, kinds="fi"),
    Entry("where number", lambda t, x: t.where(x > 0, x, 0.0), low=0.1, points=(0.0,)),
    Entry("nan_to_num", lambda t, x: t.nan_to_num(x, 0.5, 3.0, -2.0), points=INFINITE),
]

_COMPLEX = [
    Entry("real", lambda t, x: t.real(x), kinds="c"),
    Entry("imag", lambda t, x: t.imag(x), kinds="c"),
    Entry("conj", lambda t, x: t.conj(x) * 2, kinds="fc"),
    Entry("conj_physical", lambda t, x: t.conj_physical(x), kinds="fc"),
    Entry("angle", lambda t, x: t.angle(x), kinds="fc", low=0.2, points=(0.0, -1.0)),
    Entry("complex", lambda t, x, y: t.complex(x, y), TWO, apart=_NO_HALF),
    Entry("polar", lambda t, x, y: t.polar(x, y), TWO, low=0.2, points=(0.0, 1.0)),
    Entry("view_as_real", lambda t, x: t.view_as_real(x), kinds="c"),
    Entry("view_as_complex", lambda t, x: t.view_as_complex(x.contiguous()), (((3, 2),), ((2,),), ((0, 2),)),
          apart=_NO_HALF),
]

POINTWISE = [*_ARITHMETIC, *_ELEMENTARY, *_SIZES, *_COMPLEX]
