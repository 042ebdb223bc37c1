"""Element types with PyTorch's names, and PyTorch's promotion between them.

Promotion takes pairs (NumPy dtype, whether the operand has dimensions), not tensors.

NumPy lacks some of PyTorch's types. The package `ml_dtypes` has bfloat16 and the floats of 8 bits. It is imported when
a program first makes a tensor of such a type, and only then the type has a NumPy dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ..extras import imported
from ..foundations.errors import noted
from .sealed import Fixed, Listed

# The names that signatures use for an array of any element type, and for the sizes of its dimensions.
Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]

# Categories in order: a lower category yields to a higher one.
BOOL, INTEGRAL, FLOATING, COMPLEX = range(4)
# The types of ml_dtypes have NumPy's letter V, but for one of them.
_CATEGORY = {"b": BOOL, "i": INTEGRAL, "u": INTEGRAL, "f": FLOATING, "V": FLOATING, "c": COMPLEX}
_KIND = {"V": "f"}


class dtype(Fixed, metaclass=Listed):
    """An element type, such as `float32`. There is one object for each; compare with `is` or `==`.

    NumPy takes it wherever it takes a dtype, through the attribute `dtype`. Some types need the package `ml_dtypes`.
    For those, `dtype` raises ModuleNotFoundError if the package is missing.
    """

    __module__ = "retrograd"                                 # where programs find it
    __slots__ = ("category", "dtype", "itemsize", "kind", "legacy", "name")
    of: ClassVar[dict[np.dtype[Any], dtype]] = {}
    all: ClassVar[dict[str, dtype]] = {}

    def __init__(self, name: str, legacy: str, lent: tuple[str, int] | None = None) -> None:
        """`lent` is the letter and the size of a rare type. It gets a NumPy dtype when a program first needs the type.

        `itemsize` are the bytes of an element. `kind` is NumPy's letter for the category, so that a derivative rule can
        ask arrays and tensors in the same way.
        """
        self.name, self.legacy = name, legacy
        dtype.all[name] = self
        if lent is None:
            self.dtype: np.dtype[Any] = np.dtype(name)
            self.kind: str = self.dtype.kind
            self.itemsize: int = self.dtype.itemsize
            dtype.of[self.dtype] = self
        else:
            self.kind, self.itemsize = lent
        self.category = _CATEGORY[self.kind]

    def __getattr__(self, attribute: str) -> Any:
        """The NumPy dtype of a rare type, which is absent until a program first needs the type."""
        if attribute != "dtype":
            object.__getattribute__(self, attribute)         # raises
        object.__setattr__(self, "dtype", _lent(self))       # another thread may have set the same dtype meanwhile
        dtype.of[self.dtype] = self
        RARE.add(self.dtype)
        if self.category == FLOATING:
            NARROW.add(self.dtype)
            DIFFERENTIABLE.add(self.dtype)
        if self is not bfloat16:
            APART.add(self.dtype)
        return self.dtype

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    @property
    def abbr(self) -> str:
        """A short name: the letter of the category and the number of bits, such as `f32` and `b8`."""
        if self in PACKED:
            return _SHORT.get(self.name, self.name.replace("bits", "b"))
        if self.kind == "f" and self.itemsize == 1:
            return self.name.replace("float", "f").replace("_", "")
        return "bf16" if self is bfloat16 else f"{self.kind}{8 * self.itemsize}"

    @property
    def is_floating_point(self) -> bool:
        """Whether the type is a real floating-point type."""
        return self.category == FLOATING

    @property
    def is_complex(self) -> bool:
        """Whether the type is complex."""
        return self.category == COMPLEX

    @property
    def is_signed(self) -> bool:
        """Whether the type has negative numbers. Raises RuntimeError for packed bits and for quantized types."""
        if self in BITS:
            raise RuntimeError("Bits types are undefined")
        if self in QUANTIZED:
            raise RuntimeError("isSignedType not supported for quantized types")
        return self.kind not in "ub" and self is not float8_e8m0fnu

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type. Raises RuntimeError if there is none."""
        if self.category == COMPLEX:
            return self
        if self.itemsize == 1 or self.category < FLOATING:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.legacy}")
        return {float64: complex128, float16: complex32}.get(self, complex64)

    def to_real(self) -> dtype:
        """The type of the parts of a complex type, or a real type itself."""
        return {complex32: float16, complex64: float32, complex128: float64}.get(self, self)


def _lent(of: dtype) -> np.dtype[Any]:
    """The NumPy dtype of a rare type. Raises RuntimeError or ModuleNotFoundError if nothing has the type."""
    if of in UNSIGNED:
        return np.dtype(of.name)
    if of.name not in _LENT:
        use = ("complex64" if of.kind == "c" else "float32 and torch.fake_quantize_per_tensor_affine"
               if of in QUANTIZED else "int8" if of.name.startswith("int") else "uint8 for the packed bits")
        raise RuntimeError(f"torch.{of.name} is a name without numbers here, since NumPy has no such type. Use "
                           f"torch.{use}.")
    package = imported("dtypes", f"Tensors of torch.{of.name} need")
    found: np.dtype[Any] = np.dtype(getattr(package, of.name))
    return found


# The NumPy dtypes of the types of ml_dtypes that are in use. Kernels compute with such numbers in float32.
NARROW: set[np.dtype[Any]] = set()
# Those, and the unsigned integers beyond uint8 that are in use. PyTorch lacks many operators for them.
RARE: set[np.dtype[Any]] = set()
# Those that are in use and that PyTorch promotes with few other types.
APART: set[np.dtype[Any]] = set()
_LENT = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")

_made: Callable[..., dtype] = partial(type.__call__, dtype)
float16 = half = _made("float16", "Half")
float32 = float_ = _made("float32", "Float")
float64 = double = _made("float64", "Double")
complex64 = cfloat = _made("complex64", "ComplexFloat")
complex128 = cdouble = _made("complex128", "ComplexDouble")
int8 = _made("int8", "Char")
int16 = short = _made("int16", "Short")
int32 = int_ = _made("int32", "Int")
int64 = long = _made("int64", "Long")
uint8 = _made("uint8", "Byte")
bool_ = _made("bool", "Bool")
uint16, uint32, uint64 = UNSIGNED = [
    _made(f"uint{8 * size}", f"UInt{8 * size}", ("u", size)) for size in (2, 4, 8)]
bfloat16 = _made("bfloat16", "BFloat16", ("f", 2))
float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu = EIGHT_BITS = [
    _made(name, name.capitalize(), ("f", 1)) for name in _LENT[1:]]
float4_e2m1fn_x2 = _made("float4_e2m1fn_x2", "Float4_e2m1fn_x2", ("f", 1))
complex32 = chalf = _made("complex32", "ComplexHalf", ("c", 4))
int1, int2, int3, int4, int5, int6, int7 = _SIGNED_BITS = [
    _made(f"int{bits}", f"Int{bits}", ("i", 1)) for bits in range(1, 8)]
uint1, uint2, uint3, uint4, uint5, uint6, uint7 = _UNSIGNED_BITS = [
    _made(f"uint{bits}", f"UInt{bits}", ("u", 1)) for bits in range(1, 8)]
bit = uint1
bits8, bits16, bits1x8, bits2x4, bits4x2 = BITS = [
    _made(name, name.capitalize(), ("u", 1 + (name == "bits16")))
    for name in ("bits8", "bits16", "bits1x8", "bits2x4", "bits4x2")]
qint8, quint8, qint32, quint4x2, quint2x4 = QUANTIZED = [
    _made(name, name.replace("quint", "QUInt").replace("qint", "QInt"),
          ("iu"["u" in name], 4 if name == "qint32" else 1))
    for name in ("qint8", "quint8", "qint32", "quint4x2", "quint2x4")]
# The types that hold several numbers in a byte, or numbers with a scale. No tensor has them.
PACKED = frozenset((*_SIGNED_BITS, *_UNSIGNED_BITS, *BITS, *QUANTIZED))
_SHORT = {"bits8": "b8x1", "bits16": "b16x1"}

# The types that NumPy has and that are not rare.
ALL = tuple(dtype.of.values())
F16, F32, F64, C64, C128 = (d.dtype for d in (float16, float32, float64, complex64, complex128))
I64, BOOL_ = int64.dtype, bool_.dtype
# The floating-point and complex types; those of ml_dtypes once they are in use.
DIFFERENTIABLE = {F16, F32, F64, C64, C128}
# The C++ names of the types, for those messages of PyTorch that do not say Half, Float, Long and so on.
C_NAMES = {
    "bool": "bool", "uint8": "unsigned char", "int8": "signed char", "int16": "short int", "int32": "int",
    "int64": "long int", "float16": "c10::Half", "float32": "float", "float64": "double",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>", "bfloat16": "c10::BFloat16",
    "uint16": "short unsigned int", "uint32": "unsigned int", "uint64": "long unsigned int",
    **{d.name: f"c10::{d.legacy}" for d in EIGHT_BITS}}


class _Default:
    """The default floating-point type. There is one for the process, as in PyTorch."""

    floating = float32


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats.

    >>> import retrograd as torch
    >>> torch.get_default_dtype()
    torch.float32
    """
    return _Default.floating


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of tensors made from Python floats. Raises TypeError unless it is a floating-point type.

    The floats of 8 bits and less cannot be the default type.
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        kind = "" if isinstance(d, dtype) else "invalid dtype object: "
        raise TypeError(f"{kind}only floating-point types are supported as the default type")
    if d.itemsize == 1:
        raise TypeError(f"couldn't find storage object {d.legacy}Storage")
    if d is bfloat16:
        assert d.dtype                                   # raises if there is no package for it
    _Default.floating = d


def default_floating() -> np.dtype[Any]:
    """The NumPy dtype of `get_default_dtype()`."""
    return _Default.floating.dtype


def default_complex() -> np.dtype[Any]:
    """The complex dtype whose parts have the default floating-point type. For float16 it is complex64."""
    if _Default.floating is bfloat16:
        raise RuntimeError("invalid default scalar type for complex")
    return C128 if _Default.floating is float64 else C64


def letter(d: np.dtype[Any]) -> str:
    """NumPy's letter for the category of a dtype: b, i, u, f or c. For the types of ml_dtypes it is f."""
    return _KIND.get(d.kind, d.kind)


def is_narrow(d: np.dtype[Any]) -> bool:
    """Whether a dtype is of floats of 16 or fewer bits."""
    return d.itemsize <= 2 and letter(d) == "f"


def is_half(d: np.dtype[Any]) -> bool:
    """Whether a dtype is float16 or bfloat16. PyTorch computes with both in float32."""
    return d.itemsize == 2 and letter(d) == "f"


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
    if a in APART or b in APART:
        _refuse_promotion(a, b)
    if category(low) < FLOATING <= category(high):
        return high
    if low in NARROW or high in NARROW:
        return F32 if F16 in (low, high) else low if high in NARROW else high
    return np.promote_types(a, b)


def _refuse_promotion(a: np.dtype[Any], b: np.dtype[Any]) -> None:
    """Raise RuntimeError if two types differ, one of them is in `APART`, and PyTorch has no common type for them."""
    names = f"attempted to promote {dtype.of[a].legacy} and {dtype.of[b].legacy}"
    remedy = "convert one of the two with .to()"
    if a != b and (dtype.of[a] in EIGHT_BITS or dtype.of[b] in EIGHT_BITS):
        raise noted(RuntimeError(f"Promotion for Float8 Types is not supported, {names}"), instead=remedy)
    if a != b and FLOATING not in (category(a), category(b)):
        raise noted(
            RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, {names}"), instead=remedy)


def _combine(higher: np.dtype[Any] | None, lower: np.dtype[Any] | None) -> np.dtype[Any] | None:
    """The dtype of two groups of operands. The group of lower priority counts only by its category."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if category(lower) <= category(higher):
        return higher
    if category(higher) == FLOATING:                    # with a complex dtype, float32 becomes complex64
        return C64 if higher is F16 else dtype.of[higher].to_complex().dtype
    return lower if category(lower) == COMPLEX else promote_types(higher, lower)


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
    """PyTorch's error for a dtype that its kernel of this name does not support, with a remedy as a note."""
    return noted(NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.of[d].legacy}'"), instead=remedy)


def refuse(d: np.dtype[Any], kernel: str, kinds: str = "c") -> None:
    """Raise NotImplementedError for a dtype of one of these kinds, which are NumPy's letters."""
    if letter(d) in kinds:
        raise unimplemented(kernel, d)


def require(implemented: bool, kernel: str, d: np.dtype[Any]) -> None:
    """Raise NotImplementedError unless the kernel is `implemented` for the dtype."""
    if not implemented:
        raise unimplemented(kernel, d)
