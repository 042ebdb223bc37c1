"""The limits of element types: `finfo` for floating-point types and `iinfo` for integer types."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple, NoReturn, SupportsIndex

from .dtypes import FLOATING, INTEGRAL, PACKED, QUANTIZED, bool_, complex128, dtype, float64, get_default_dtype, int64
from .errors import invalid_combination, kind_of
from .sealed import Fixed, Sealed

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


class _Limits(Fixed):
    """The limits of an element type. Limits of equal types are equal."""

    __slots__ = ("of",)
    of: dtype

    def __init__(self, args: tuple[Any, ...], named: dict[str, Any]) -> None:
        name, place = type(self).__name__, " (position 1)" * bool(args)
        if not args and "type" not in named:
            raise TypeError(f'{name}() missing 1 required positional arguments: "type"')
        given = args[0] if args else named["type"]
        of = _BUILTIN.get(given, given) if isinstance(given, type) else given
        if len(args) > 1:
            raise TypeError(f"{name}() takes 1 positional argument but {len(args)} were given")
        if not isinstance(of, dtype):
            raise TypeError(f"{name}(): argument 'type'{place} must be torch.dtype, not {kind_of(given)}")
        if args and "type" in named:
            raise TypeError(f"{name}() got multiple values for argument 'type'")
        for other in named.keys() - {"type"}:
            raise TypeError(f"{name}() got an unexpected keyword argument '{other}'")
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Limits) and self.of is other.of

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError(f"cannot pickle 'torch.{type(self).__name__}' object")


@cache
def _limits_of_floats(of: dtype) -> dict[str, Any]:
    """The attributes of `finfo(of)`. Raises TypeError for an integer type."""
    if of.category < FLOATING:
        raise TypeError("torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'")
    real = of.to_real()
    if real.name not in _FLOATS:
        raise NotImplementedError(f"\"epsilon\" not implemented for '{real.legacy}'")
    facts = _FLOATS[real.name]
    return {"bits": 8 * real.itemsize, "dtype": real.name, "eps": facts.eps, "max": facts.max,
            "min": -facts.max if real.is_signed else facts.tiny, "tiny": facts.tiny,
            "resolution": float(f"1e-{facts.digits}"), "smallest_normal": facts.tiny}


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
    found: float = _limits_of_floats(of)["max"]
    return found


class finfo(_Limits, metaclass=Sealed):
    """Limits of a floating-point type: `bits, eps, max, min, tiny, smallest_normal, resolution, dtype`.

    Without a type, the type is the default one. Raises TypeError for an integer type.
    """

    __module__ = "retrograd"
    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    bits: int
    dtype: str
    eps: float
    max: float
    min: float
    tiny: float
    resolution: float
    smallest_normal: float

    def __init__(self, *args: Any, **named: Any) -> None:
        if len(args) + len(named) > 1:
            raise invalid_combination("finfo", args, named, "(torch.dtype type)", "()")
        super().__init__(args if args or named else (get_default_dtype(),), named)
        for name, fact in _limits_of_floats(self.of).items():
            setattr(self, name, fact)

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{n}={getattr(self, n):g}' for n in names)}, dtype={self.dtype})"


class iinfo(_Limits, metaclass=Sealed):
    """Limits of an integer type: `bits, max, min, dtype`. Raises TypeError for any other type, and without a type."""

    __module__ = "retrograd"
    __slots__ = ("bits", "dtype", "max", "min")
    bits: int
    dtype: str
    max: int
    min: int

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(args, named)
        for name, fact in zip(("bits", "max", "min"), _limits_of_integers(self.of)):
            setattr(self, name, fact)
        if self.of not in QUANTIZED:
            self.dtype = self.of.name

    def __getattr__(self, name: str) -> Any:
        if name == "dtype":
            raise NotImplementedError(f"\"dtype\" not implemented for '{self.of.legacy}'")
        return object.__getattribute__(self, name)           # raises

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
