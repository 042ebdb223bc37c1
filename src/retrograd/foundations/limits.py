"""The limits of element types: `finfo` for floating-point types and `iinfo` for integer types."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple, NoReturn

from .dtypes import FLOATING, INTEGRAL, PACKED, QUANTIZED, bool_, complex128, dtype, float64, get_default_dtype, int64

# Python's types that stand for element types.
_BUILTIN: dict[Any, dtype] = {float: float64, complex: complex128, int: int64, bool: bool_}


class _Floats(NamedTuple):
    """Facts about a floating-point type: `digits` are the decimal digits that the type holds in any case."""

    eps: float
    max: float
    tiny: float
    digits: int


_FLOATS = {
    "float16": _Floats(2.0**-10, 65504.0, 2.0**-14, 3),
    "bfloat16": _Floats(2.0**-7, (2 - 2.0**-7) * 2.0**127, 2.0**-126, 2),
    "float32": _Floats(2.0**-23, (2 - 2.0**-23) * 2.0**127, 2.0**-126, 6),
    "float64": _Floats(2.0**-52, (2 - 2.0**-52) * 2.0**1023, 2.0**-1022, 15),
    "float8_e4m3fn": _Floats(2.0**-3, 448.0, 2.0**-6, 0),
    "float8_e5m2": _Floats(2.0**-2, 57344.0, 2.0**-14, 0),
    "float8_e4m3fnuz": _Floats(2.0**-3, 240.0, 2.0**-7, 0),
    "float8_e5m2fnuz": _Floats(2.0**-3, 57344.0, 2.0**-15, 0),
    "float8_e8m0fnu": _Floats(1.0, 2.0**127, 2.0**-127, 0),
}


def bits_of_integers(of: dtype) -> int:
    """The n for which a floating-point type holds all integers up to 2 ** n."""
    return 1 - round(math.log2(_FLOATS[of.name].eps))


class _Limits:
    """The limits of an element type. Limits of equal types are equal."""

    def __init__(self, of: Any) -> None:
        of = _BUILTIN.get(of, of) if isinstance(of, type) else of
        if not isinstance(of, dtype):
            raise TypeError(f"{type(self).__name__}(): argument 'type' (position 1) must be torch.dtype, not "
                            f"{type(of).__name__}")
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Limits) and self.of is other.of


@cache
def _limits_of_floats(of: dtype) -> tuple[int, str, float, float, float, float, float]:
    """`bits, dtype, eps, max, min, tiny, resolution` of `finfo(of)`. Raises TypeError for an integer type."""
    if of.category < FLOATING:
        raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
    real = of.to_real()
    if real.name not in _FLOATS:
        raise NotImplementedError(f"\"epsilon\" not implemented for '{real.legacy}'")
    facts = _FLOATS[real.name]
    return (8 * real.itemsize, real.name, facts.eps, facts.max, -facts.max if real.is_signed else facts.tiny,
            facts.tiny, float(f"1e-{facts.digits}"))


@cache
def _limits_of_integers(of: dtype) -> tuple[int, int, int]:
    """`bits, max, min` of `iinfo(of)`. Raises TypeError for any other type."""
    if of is bool_:
        raise TypeError("torch.bool is not supported by torch.iinfo")
    if of.category != INTEGRAL or of in PACKED.difference(QUANTIZED):
        raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
    bits, signed = 8 * of.itemsize, of.kind == "i"
    largest = (1 << (bits - signed)) - 1
    return bits, largest, -largest - 1 if signed else 0


def largest_float(of: dtype) -> float:
    """`finfo(of).max`, quickly."""
    return _limits_of_floats(of)[3]


class finfo(_Limits):
    """Limits of a floating-point type: `bits, eps, max, min, tiny, smallest_normal, resolution, dtype`.

    Without a type, the type is the default one. Raises TypeError for an integer type.
    """

    __module__ = "retrograd"

    def __init__(self, type: dtype | None = None) -> None:
        super().__init__(get_default_dtype() if type is None else type)
        self.bits, self.dtype, self.eps, self.max, self.min, self.tiny, self.resolution = _limits_of_floats(self.of)
        self.smallest_normal = self.tiny

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{n}={getattr(self, n):g}' for n in names)}, dtype={self.dtype})"


class iinfo(_Limits):
    """Limits of an integer type: `bits, max, min, dtype`. Raises TypeError for any other type, and without a type."""

    __module__ = "retrograd"

    def __init__(self, *args: dtype, type: dtype | None = None) -> None:
        given = (*args, *(() if type is None else (type,)))
        if len(given) != 1:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        super().__init__(given[0])
        self.bits, self.max, self.min = _limits_of_integers(self.of)
        if self.of not in QUANTIZED:
            self.dtype = self.of.name

    def __getattr__(self, name: str) -> NoReturn:
        if name == "dtype":
            raise NotImplementedError(f"\"dtype\" not implemented for '{self.of.legacy}'")
        raise AttributeError(f"'torch.iinfo' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
