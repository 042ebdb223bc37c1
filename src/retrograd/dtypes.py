"""Element types with PyTorch's names, and PyTorch's promotion between them.

Promotion takes pairs (NumPy dtype, whether the operand has dimensions), not tensors.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

# Categories in order: a lower category yields to a higher one.
BOOL, INTEGRAL, FLOATING, COMPLEX = range(4)
_CATEGORY = {"b": BOOL, "i": INTEGRAL, "u": INTEGRAL, "f": FLOATING, "c": COMPLEX}


class dtype:
    """An element type, such as `float32`. There is one object for each; compare with `is` or `==`.

    NumPy takes it wherever it takes a dtype, through the attribute `dtype`.
    """

    __module__ = "retrograd"                                 # where programs find it
    __slots__ = ("category", "dtype", "legacy", "name")
    of: ClassVar[dict[np.dtype[Any], dtype]] = {}

    def __init__(self, name: str, legacy: str) -> None:
        self.name = name
        self.dtype = np.dtype(name)
        self.category = _CATEGORY[self.dtype.kind]
        self.legacy = legacy
        dtype.of[self.dtype] = self

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    @property
    def abbr(self) -> str:
        """A short name: the letter of the category and the number of bits, such as `f32` and `b8`."""
        return f"{self.dtype.kind}{8 * self.itemsize}"

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def is_floating_point(self) -> bool:
        """Whether the type is a real floating-point type."""
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        """Whether the type is complex."""
        return self.category == COMPLEX

    @property
    def kind(self) -> str:
        """NumPy's letter for the category, so that a derivative rule can ask arrays and tensors in the same way."""
        return self.dtype.kind

    @property
    def is_signed(self) -> bool:
        """Whether the type has negative numbers."""
        return self.dtype.kind not in "ub"

    def to_complex(self) -> dtype:
        """The complex type with parts of this type: complex128 for float64, else complex64."""
        return complex128 if self is float64 else complex64

    def to_real(self) -> dtype:
        """The type of the parts of a complex type, or a real type itself."""
        return {complex64: float32, complex128: float64}.get(self, self)


float16 = half = dtype("float16", "Half")
float32 = float_ = dtype("float32", "Float")
float64 = double = dtype("float64", "Double")
complex64 = cfloat = dtype("complex64", "ComplexFloat")
complex128 = cdouble = dtype("complex128", "ComplexDouble")
int8 = dtype("int8", "Char")
int16 = short = dtype("int16", "Short")
int32 = int_ = dtype("int32", "Int")
int64 = long = dtype("int64", "Long")
uint8 = dtype("uint8", "Byte")
bool_ = dtype("bool", "Bool")

ALL = tuple(dtype.of.values())
F16, F32, F64, C64, C128 = (d.dtype for d in (float16, float32, float64, complex64, complex128))
I64, BOOL_ = int64.dtype, bool_.dtype
DIFFERENTIABLE = frozenset((F16, F32, F64, C64, C128))
# The C++ names of the types, for those messages of PyTorch that do not say Half, Float, Long and so on.
C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "float16": "c10::Half", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}


class _Default:
    """The default floating-point type. There is one for the process, as in PyTorch."""

    floating = float32


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats.

    >>> get_default_dtype()
    torch.float32
    """
    return _Default.floating


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of tensors made from Python floats. Raises TypeError unless it is a floating-point type."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        kind = "" if isinstance(d, dtype) else "invalid dtype object: "
        raise TypeError(f"{kind}only floating-point types are supported as the default type")
    _Default.floating = d


def default_floating() -> np.dtype[Any]:
    """The NumPy dtype of `get_default_dtype()`."""
    return _Default.floating.dtype


def default_complex() -> np.dtype[Any]:
    """The complex dtype whose parts have the default floating-point type. For float16 it is complex64."""
    return C128 if _Default.floating is float64 else C64


def category(d: np.dtype[Any]) -> int:
    """BOOL, INTEGRAL, FLOATING or COMPLEX: promotion keeps the higher one."""
    return _CATEGORY[d.kind]


def of_scalar(value: object) -> np.dtype[Any]:
    """The dtype that PyTorch gives a Python number: bool, int64, or the default float or complex dtype."""
    if isinstance(value, bool):
        return BOOL_
    if isinstance(value, int):
        return I64
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return of_scalar(value.item())
    return default_floating() if isinstance(value, float) else default_complex()


def promote_types(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """PyTorch's common dtype of two operands of equal priority: an int never widens a float.

    >>> promote_types(np.dtype("int64"), np.dtype("float16"))
    dtype('float16')
    """
    if a is b:
        return a
    low, high = (a, b) if category(a) <= category(b) else (b, a)
    if category(low) < FLOATING <= category(high):
        return high
    return np.promote_types(a, b)


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """The dtype of two groups of operands. The group of lower priority counts only by its category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if category(lower) <= category(higher):
        return higher
    if category(higher) == FLOATING:                    # with a complex dtype, float32 becomes complex64
        return dtype.of[higher].to_complex().dtype
    return lower


def result_dtype(operands: Iterable[tuple[np.dtype[Any], bool]], scalars: Iterable[object] = ()) -> np.dtype[Any]:
    """The dtype of an elementwise result: tensors with dimensions first, then 0-d tensors, then Python numbers.

    `operands` are pairs (dtype, whether it has dimensions), and `scalars` are Python numbers.

    >>> result_dtype([(np.dtype("float32"), True), (np.dtype("float64"), False)])
    dtype('float32')
    >>> result_dtype([(np.dtype("int64"), True)], [1.5])
    dtype('float32')
    """
    groups: list[np.dtype[Any] | None] = [None, None, None]
    for d, dimensioned in operands:
        slot = 0 if dimensioned else 1
        held = groups[slot]
        groups[slot] = d if held is None else promote_types(held, d)
    for value in scalars:
        d = of_scalar(value)
        groups[2] = d if groups[2] is None else promote_types(groups[2], d)
    result = _combine(_combine(groups[0], groups[1]), groups[2])
    assert result is not None
    return result


def legacy(x: Any) -> str:
    """PyTorch's old name for the dtype of an array, which its messages use.

    >>> legacy(np.zeros(1))
    'Double'
    """
    return dtype.of[x.dtype].legacy


# Errors for dtypes that a kernel does not support

def unimplemented(kernel: str, d: np.dtype[Any], remedy: str = "") -> NotImplementedError:
    """PyTorch's error for a dtype that its kernel of this name does not support, with a remedy."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.of[d].legacy}'{remedy and '. '}{remedy}")


def refuse(d: np.dtype[Any], kernel: str, kinds: str = "c") -> None:
    """Raise NotImplementedError for a dtype of one of these kinds, which are NumPy's letters."""
    if d.kind in kinds:
        raise unimplemented(kernel, d)


def require(implemented: bool, kernel: str, d: np.dtype[Any]) -> None:
    """Raise NotImplementedError unless the kernel is `implemented` for the dtype."""
    if not implemented:
        raise unimplemented(kernel, d)


class _Limits:
    """The limits of an element type. Limits of equal types are equal."""

    def __init__(self, of: Any) -> None:
        if not isinstance(of, dtype):
            raise TypeError(f"{type(self).__name__}(): argument 'type' (position 1) must be torch.dtype, not "
                            f"{type(of).__name__}")
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Limits) and self.of is other.of


class finfo(_Limits):
    """Limits of a floating-point type: `bits, eps, max, min, tiny, smallest_normal, resolution, dtype`."""

    __module__ = "retrograd"

    def __init__(self, type: dtype | None = None) -> None:
        d = get_default_dtype() if type is None else type
        super().__init__(d)
        if d.category < FLOATING:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{d!r}'")
        info: Any = np.finfo(d.dtype)
        self.bits = int(info.bits)
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = float(info.resolution)
        self.dtype = d.to_real().name

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        return f"finfo({', '.join(f'{n}={getattr(self, n):g}' for n in names)}, dtype={self.dtype})"


class iinfo(_Limits):
    """Limits of an integer type: `bits, max, min, dtype`."""

    __module__ = "retrograd"

    def __init__(self, type: dtype) -> None:
        super().__init__(type)
        if type is bool_:
            raise TypeError("torch.bool is not supported by torch.iinfo. It holds False and True.")
        if type.category != INTEGRAL:
            raise TypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type!r}'")
        info = np.iinfo(type.dtype)
        self.bits, self.max, self.min, self.dtype = int(info.bits), int(info.max), int(info.min), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
