"""`assert_close`: whether two values are equal up to rounding, with PyTorch's message if they are not.

The values are first split into pairs: lists and dicts are split into their elements. Then each pair is compared as
tensors, numbers, bools or None. The comparison records nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..autograd.grad_mode import no_grad
from ..foundations.dtypes import I64, Array, default_floating, dtype as torch_dtype, promote_types
from ..foundations.errors import warn
from ..serialization.sparse import parts_of
from ..tensors.arguments.options import strided
from ..tensors.face.memory import as_tensor
from ..tensors.functions.elementwise.comparison import isclose
from ..tensors.state.base import TensorBase

Message = str | Callable[[str], str] | None
# For each dtype, the relative and the absolute tolerance. Integers must be equal.
_TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
               "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7)}
_OLD_TOLERANCES = {"float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5)}
# How messages name the sparse layouts, and the tensors that they consist of.
_KINDS = {"sparse_coo": "COO", "sparse_csr": "CSR", "sparse_csc": "CSC", "sparse_bsr": "BSR", "sparse_bsc": "BSC"}
_BY_ROWS, _BY_COLUMNS = ("crow_indices", "col_indices", "values"), ("ccol_indices", "row_indices", "values")
_PARTS = {"sparse_coo": ("indices", "values"), "sparse_csr": _BY_ROWS, "sparse_bsr": _BY_ROWS,
          "sparse_csc": _BY_COLUMNS, "sparse_bsc": _BY_COLUMNS}
_UNSIGNED = "uint16", "uint32", "uint64"                      # compared with other types as int64
_BOOLS = bool, np.bool_


def _at(message: str, item: str) -> str:
    """A message with the place of the values that it is about."""
    return message + (item and f"\n\nThe failure occurred for item {item}")


@dataclass(frozen=True)
class _Options:
    """The options of `assert_close`."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def check(self, item: str) -> None:
        """Raise ValueError if one of the tolerances is given, and the other is not."""
        if (self.rtol is None) != (self.atol is None):
            raise ValueError(_at("Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                                 f"{'rtol' if self.rtol is None else 'atol'}.", item))

    def tolerances(self, *names: str) -> tuple[float, float]:
        """The given tolerances, or the larger tolerances of the two dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        relative, absolute = zip(*(_TOLERANCES.get(name, (0.0, 0.0)) for name in names))
        return max(relative), max(absolute)


def assert_close(actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
                 atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
                 check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
                 msg: Message = None) -> None:
    """Raise AssertionError unless `actual` and `expected` are equal up to rounding.

    Elements may differ by `atol + rtol * abs(expected)`. Without these arguments the dtype decides: 1.3e-6 and 1e-5 for
    float32, and no difference for integers. Shapes and dtypes must agree. Arrays and numbers can be compared as well,
    and lists and dicts of them. `msg` replaces the message about two values, or is a function of the message. Raises
    TypeError for values that cannot be compared.

    >>> import retrograd as torch
    >>> torch.testing.assert_close(torch.tensor([0.1 + 0.2]), torch.tensor([0.3]))
    >>> torch.testing.assert_close([1, torch.ones(2)], [1, torch.zeros(2)])
    Traceback (most recent call last):
        ...
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 2 / 2 (100.0%)
    Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)
    Greatest relative difference: inf at index (0,) (up to 1.3e-06 allowed)
    <BLANKLINE>
    The failure occurred for item [1]
    """
    __tracebackhide__ = True                                      # pytest shows the caller, as with PyTorch
    options = _Options(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride)
    for first, second, item in [*_pairs(actual, expected, options, "")]:
        text = _difference(first, second, options)
        if text:
            text = _at(text, "" if _are(_BOOLS, first, second) else item)        # PyTorch forgets the place of bools
            raise AssertionError(text if msg is None else msg(text) if callable(msg) else msg)


def assert_allclose(actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
                    equal_nan: bool = True, msg: str = "") -> None:
    """The old `assert_close`: dtypes may differ, nan equals nan, and numbers may stand for tensors."""
    __tracebackhide__ = True
    warn("`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a future release. Please "
         "use `torch.testing.assert_close()` instead.", FutureWarning)
    if not isinstance(actual, TensorBase):
        actual = as_tensor(actual)
    if not isinstance(expected, TensorBase):
        expected = as_tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = max(_OLD_TOLERANCES.get(t.dtype.name, (1e-5, 1e-8)) for t in (actual, expected))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# Splitting into pairs

def _pairs(actual: Any, expected: Any, options: _Options, item: str) -> Iterator[tuple[Any, Any, str]]:
    """The pairs to compare, each with its place, as in `[1]['a']`."""
    if _are(Sequence, actual, expected) and not isinstance(actual, str) and not isinstance(expected, str):
        if len(actual) != len(expected):
            raise AssertionError(_at(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", item))
        for i in range(len(actual)):
            yield from _pairs(actual[i], expected[i], options, f"{item}[{i}]")
    elif _are(Mapping, actual, expected):
        if set(actual) != set(expected):
            raise AssertionError(_at(
                "The keys of the mappings do not match:\nMissing keys in the actual mapping: "
                f"{sorted(set(expected) - set(actual))}\nAdditional keys in the actual mapping: "
                f"{sorted(set(actual) - set(expected))}", item))
        for key in _sorted(expected):
            yield from _pairs(actual[key], expected[key], options, f"{item}[{key!r}]")
    else:
        if not _comparable(actual, expected, options):
            raise TypeError(_at(f"No comparison pair was able to handle inputs of type {type(actual)} and "
                                f"{type(expected)}.", item))
        if actual is not None and expected is not None and not _are(_BOOLS, actual, expected):
            options.check(item)
        yield actual, expected, item


def _sorted(keys: Iterable[Any]) -> list[Any]:
    """The keys in order; as they are if they have no order."""
    try:
        return sorted(keys)
    except Exception:
        return [*keys]


def _are(kind: type | tuple[type, ...], *values: Any) -> bool:
    return all(isinstance(value, kind) for value in values)


def _are_numbers(*values: Any) -> bool:
    return all(isinstance(value, (int, float, complex, np.number)) for value in values)


def _comparable(actual: Any, expected: Any, options: _Options) -> bool:
    if actual is None or expected is None or _are_numbers(actual, expected) or _are(_BOOLS, actual, expected):
        return True
    one, other = _class_of(actual), _class_of(expected)
    related = issubclass(one, other) or issubclass(other, one)
    if not related or (not options.allow_subclasses and one is not other):
        return False
    return isinstance(actual, (TensorBase, np.ndarray))


def _class_of(value: Any) -> type:
    """The class of a value as a program sees it: a sparse tensor is a Tensor."""
    kind: type = getattr(type(value), "_plain_class", None) or type(value)
    return kind


# Comparing

def _difference(actual: Any, expected: Any, options: _Options) -> str:
    """The message for two values that are not close, or ''."""
    if actual is None or expected is None:
        return "" if actual is expected else f"None mismatch: {actual} is not {expected}"
    if _are(_BOOLS, actual, expected):
        return "" if bool(actual) is bool(expected) else f"Booleans mismatch: {actual} is not {expected}"
    if _are_numbers(actual, expected):
        return _of_numbers(actual, expected, options)
    with no_grad():
        return _of_tensors(as_tensor(actual), as_tensor(expected), options)


def _of_numbers(actual: Any, expected: Any, options: _Options) -> str:
    """The message for two numbers that are not close, or ''."""
    actual, expected = (value.item() if isinstance(value, np.number) else value for value in (actual, expected))
    if options.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    names = ["float64" if isinstance(value, (float, complex)) else "int64" for value in (actual, expected)]
    rtol, atol = options.tolerances(*names)
    difference = abs(actual - expected)
    both_nan = actual != actual and expected != expected
    if actual == expected or (options.equal_nan and both_nan) or (
            math.isfinite(difference) and difference <= atol + rtol * abs(expected)):
        return ""
    return _of_scalars(actual, expected, rtol, atol)


def _of_tensors(actual: TensorBase, expected: TensorBase, options: _Options) -> str:
    """The message for two tensors that are not close, or ''. Tensors on the device `meta` have no values to compare."""
    alike = actual.layout is expected.layout
    asked = (("shape", True), ("layout", options.check_layout),
             ("stride", options.check_stride and alike and actual.layout is strided), ("device", options.check_device),
             ("dtype", options.check_dtype))
    for attribute, wanted in asked:
        if wanted:
            first, second = getattr(actual, attribute), getattr(expected, attribute)
            name = attribute
            if attribute == "stride":
                first, second, name = first(), second(), "stride()"
            if first != second:
                return f"The values for attribute '{name}' do not match: {first} != {second}."
    if actual.is_meta or expected.is_meta:
        return ""
    tolerances = options.tolerances(actual.dtype.name, expected.dtype.name)
    if actual.dtype is not expected.dtype:
        common = torch_dtype.of[promote_types(*[I64 if x.dtype.name in _UNSIGNED else x._array.dtype
                                                for x in (actual, expected)])]
        actual, expected = actual.to(common), expected.to(common)
    if not alike:
        actual, expected = [x if x.layout is strided else x.to_dense() for x in (actual, expected)]
    if actual.layout is not strided:
        return _of_sparse(actual, expected, tolerances, options.equal_nan)
    return _of_values(actual, expected, tolerances, options.equal_nan)


def _of_sparse(actual: Any, expected: Any, tolerances: tuple[float, float], equal_nan: bool) -> str:
    """The message for two sparse tensors of one layout and dtype that are not close, or ''. Indices must be equal."""
    kind = _KINDS[actual.layout.name]
    if actual.is_sparse and actual.sparse_dim() != expected.sparse_dim():
        return ("The number of sparse dimensions in sparse COO tensors does not match: "
                f"{actual.sparse_dim()} != {expected.sparse_dim()}")
    if actual._nnz() != expected._nnz():
        return (f"The number of specified values in sparse {kind} tensors does not match: {actual._nnz()} != "
                f"{expected._nnz()}")
    for first, second, name in zip(parts_of(actual), parts_of(expected), _PARTS[actual.layout.name], strict=True):
        if name == "values":
            difference = _of_values(first, second, tolerances, equal_nan)
        else:
            difference = _of_values(first.long(), second.long(), (0, 0), equal_nan)
        if difference:
            return difference.replace("Tensor-likes", f"Sparse {kind} {name}", 1)
    return ""


def _of_values(actual: TensorBase, expected: TensorBase, tolerances: tuple[float, float], equal_nan: bool) -> str:
    """The message for two dense tensors of one shape and dtype that are not close, or ''."""
    rtol, atol = tolerances
    single_bytes = actual.dtype.is_floating_point and actual.dtype.itemsize == 1
    if single_bytes:
        if rtol or atol:
            return (f"Rtol={rtol} and atol={atol} are not supported for bitwise comparison of low dimensional floats. "
                    "Please use rtol=0.0 and atol=0.0.")
        actual, expected = actual.float(), expected.float()
    matches = isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan)._array
    if matches.all():
        return ""
    if not matches.ndim:
        return _of_scalars(actual.item(), expected.item(), rtol, atol)
    if single_bytes:
        place = tuple(int(at[0]) for at in np.nonzero(~matches))
        return (f"Tensor-likes are not 'equal'!\n\n{_mismatched(matches)}\nThe first mismatched element is at index "
                f"{place}.")
    with np.errstate(all="ignore"):
        return _of_elements(actual._array, expected._array, matches, rtol, atol)


# Messages

def _of_elements(actual: Array, expected: Array, matches: Array, rtol: float, atol: float) -> str:
    """The greatest differences between two arrays of one shape and dtype, and their places."""
    if actual.dtype.kind in "biu":
        actual, expected = actual.astype(np.int64), expected.astype(np.int64)
    absolute, size = np.abs(actual - expected), np.abs(expected)
    if absolute.dtype.kind == "i":                           # PyTorch divides integers in its default dtype
        relative = absolute.astype(default_floating()) / size.astype(default_floating())
    else:
        relative = absolute / size
    absolute[matches] = relative[matches] = 0
    lines = [f"Tensor-likes are not {_word(rtol, atol)}!", "", _mismatched(matches)]
    for name, found, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        place = np.unravel_index(np.argmax(found), found.shape)
        lines.append(f"Greatest {name} difference: {found[place].item()} at index {tuple(map(int, place))}"
                     f"{_allowed(allowed, rtol, atol)}")
    return "\n".join(lines)


def _mismatched(matches: Array) -> str:
    missed = matches.size - np.count_nonzero(matches)
    return f"Mismatched elements: {missed} / {matches.size} ({missed / matches.size:.1%})"


def _of_scalars(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    absolute = abs(actual - expected)
    relative = absolute / abs(expected) if expected != 0 else math.inf
    return "\n".join([f"Scalars are not {_word(rtol, atol)}!", "", f"Expected {expected} but got {actual}.",
                      f"Absolute difference: {absolute}{_allowed(atol, rtol, atol)}",
                      f"Relative difference: {relative}{_allowed(rtol, rtol, atol)}"])


def _word(rtol: float, atol: float) -> str:
    return "equal" if rtol == atol == 0 else "close"


def _allowed(limit: float, rtol: float, atol: float) -> str:
    return "" if rtol == atol == 0 else f" (up to {limit} allowed)"
