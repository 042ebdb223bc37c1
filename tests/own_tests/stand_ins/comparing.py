"""The comparison behind `assertEqual`. Values are compared by NumPy, and not by the package under test."""

from __future__ import annotations

import collections.abc
import enum
import numbers
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import torch

# The relative and the absolute tolerance by the name of a dtype. Values of other dtypes must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5), "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
_NAMES = {getattr(torch, name): name
          for name in ("uint8", "int8", "int16", "int32", "int64", "bool", *_TOLERANCES)}
_CONTAINERS = frozenset(("Sequential", "ModuleList", "ParameterList", "TypedStorage"))


def name_of(dtype: Any) -> str:
    """'float32' for the dtype of either package."""
    return _NAMES.get(dtype) or str(dtype).rpartition(".")[2]


@dataclass(frozen=True)
class Options:
    """What `assertEqual` was told. The floors are those of the test."""

    rtol: float | None = None
    atol: float | None = None
    rtol_floor: float = 0.0
    atol_floor: float = 0.0
    equal_nan: bool = True
    exact_dtype: bool = True
    exact_device: bool = False
    exact_layout: bool = False
    exact_stride: bool = False

    def tolerances(self, *names: str) -> tuple[float, float]:
        """The tolerances for values of dtypes with these names."""
        if self.rtol is not None or self.atol is not None:
            found = self.rtol or 0.0, self.atol or 0.0
        else:
            pairs = [_TOLERANCES.get(name, (0.0, 0.0)) for name in names]
            found = max([pair[0] for pair in pairs]), max([pair[1] for pair in pairs])
        return max(found[0], self.rtol_floor), max(found[1], self.atol_floor)


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor of the package."""
    return isinstance(value, torch.Tensor)


def array_of(tensor: Any) -> Any:
    """The numbers of a tensor, whatever holds them."""
    tensor = tensor.detach()
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.resolve_conj().resolve_neg()
    wider = {"bfloat16": torch.float32, "complex32": torch.complex64}.get(name_of(tensor.dtype))
    return np.asarray((tensor if wider is None else tensor.to(wider)).numpy())


def compare(x: Any, y: Any, options: Options, where: str = "") -> None:
    """Raise AssertionError, which says where, if two values differ."""
    if is_tensor(x) != is_tensor(y) and (_is_sequence(x) or _is_sequence(y)):
        x, y = [value if is_tensor(value) else _array(value, beside) for value, beside in ((x, y), (y, x))]
        _compare_arrays(x, y, replace(options, exact_dtype=False), where)
    elif x is None or y is None:
        if x is not y:
            _fail(where, f"{x!r} != {y!r}")
    elif _is_number(x) or _is_number(y):
        _compare_numbers(x, y, options, where)
    elif is_tensor(x) or is_tensor(y):
        for value in (x, y):
            if not (is_tensor(value) or isinstance(value, np.ndarray)):
                _fail(where, f"a tensor against a {type(value).__name__}")
        _compare_arrays(x, y, options, where)
    elif isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        _compare_arrays(np.asarray(x), np.asarray(y), options, where)
    else:
        _compare_others(x, y, options, where)


def _compare_others(x: Any, y: Any, options: Options, where: str) -> None:
    if isinstance(x, collections.abc.Mapping) and isinstance(y, collections.abc.Mapping):
        if {*x} != {*y}:
            _fail(where, f"keys differ: {sorted(map(str, x))} != {sorted(map(str, y))}")
        for key in x:
            compare(x[key], y[key], options, f"{where}[{key!r}]")
    elif _is_sequence(x) and _is_sequence(y):
        if len(x) != len(y):
            _fail(where, f"lengths differ: {len(x)} != {len(y)}")
        for i, (a, b) in enumerate(zip(x, y)):
            compare(a, b, options, f"{where}[{i}]")
    elif not (x == y):  # noqa: SIM201  # a value may define one of the two alone
        _fail(where, f"{x!r} != {y!r}"[:300])


def _compare_numbers(x: Any, y: Any, options: Options, where: str) -> None:
    a, b = _number(x), _number(y)
    if a is None or b is None:
        _fail(where, f"a number against something that is none: {x!r} != {y!r}"[:300])
    kinds = [{"f": "float32", "c": "complex64"}.get(np.asarray(value).dtype.kind, "int64") for value in (a, b)]
    _compare_values(a, b, kinds, options, where)


def _compare_arrays(x: Any, y: Any, options: Options, where: str) -> None:
    if tuple(x.shape) != tuple(y.shape):
        _fail(where, f"shapes differ: {tuple(x.shape)} != {tuple(y.shape)}")
    names = [name_of(value.dtype) for value in (x, y)]
    if options.exact_dtype and names[0] != names[1]:
        _fail(where, f"dtypes differ: {x.dtype} != {y.dtype}")
    if is_tensor(x) and is_tensor(y):
        for asked, fact in ((options.exact_device, "device"), (options.exact_layout, "layout")):
            if asked and getattr(x, fact) != getattr(y, fact):
                _fail(where, f"each has another {fact}: {getattr(x, fact)} != {getattr(y, fact)}")
        if options.exact_stride and x.stride() != y.stride():
            _fail(where, f"strides differ: {x.stride()} != {y.stride()}")
    if not any([is_tensor(value) and value.is_meta for value in (x, y)]):
        a, b = [array_of(value) if is_tensor(value) else value for value in (x, y)]
        _compare_values(a, b, names, options, where)


def _compare_values(a: Any, b: Any, names: Any, options: Options, where: str) -> None:
    rtol, atol = options.tolerances(*names)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind in "biu" and b.dtype.kind in "biu" and rtol == atol == 0:
        same = np.asarray(a == b)
    else:
        kind = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
        a, b = a.astype(kind), b.astype(kind)
        with np.errstate(all="ignore"):
            same = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=options.equal_nan)
    if not same.all():
        at = tuple([int(i) for i in np.argwhere(~same)[0]])
        _fail(where, f"values differ: {int((~same).sum())} of {same.size} (rtol={rtol:g}, atol={atol:g}), first at "
                     f"{at}: {a[at]!r} != {b[at]!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Number | np.number | np.bool_ | enum.IntEnum)


def _number(value: Any) -> Any:
    """A value as a number, if it is one or an array of one element; else None."""
    if isinstance(value, enum.Enum):
        value = value.value
    if is_tensor(value) or isinstance(value, np.ndarray):
        array = array_of(value) if is_tensor(value) else value
        return array.reshape(-1)[0].item() if array.size == 1 else None
    return value if _is_number(value) else None


def _is_sequence(value: Any) -> bool:
    if isinstance(value, str | bytes) or is_tensor(value):
        return False
    return isinstance(value, collections.abc.Sequence) or type(value).__name__ in _CONTAINERS


def _array(value: Any, beside: Any) -> Any:
    """A nested sequence, which may hold tensors, as an array."""
    if not _is_sequence(value):
        return value
    return np.asarray(_plain(value), dtype=None if len(value) else array_of(beside).dtype)


def _plain(value: Any) -> Any:
    if is_tensor(value):
        return array_of(value).tolist()
    return [_plain(each) for each in value] if _is_sequence(value) else value


def _fail(where: str, text: str) -> NoReturn:
    raise AssertionError((f"at {where}: " if where else "") + text)
