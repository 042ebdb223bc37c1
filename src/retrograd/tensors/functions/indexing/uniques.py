"""The distinct elements of a tensor, and membership of elements in another tensor, as functions and methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, dtype as torch_dtype, of_scalar
from ....foundations.errors import noted
from ....ops.indexing import sorting as ops
from ...arguments.dims import array_of, as_int, axis_of
from ...recording.calls import recorded
from ...recording.out_rules import EXACT, UNASKED, rule
from ...recording.public import public
from ...state.base import TensorBase, plain
from ..elementwise.arithmetic import NUMBER, invalid
from ..sums import flag

_unique_elements, _unique_dim = recorded(ops.unique), recorded(ops.unique_dim)
_unique_consecutive, _isin = recorded(ops.unique_consecutive), recorded(ops.isin)


@public(method=True)
def unique(input: TensorBase, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> TensorBase | Any:
    """The distinct elements, sorted, or the distinct slices along `dim`. Each nan counts as distinct.

    `return_inverse` adds the place of each element in the result, `return_counts` adds the number of times that each
    element occurs. The result is sorted even if `sorted` is False. There is no gradient: a backward pass raises.

    >>> import retrograd as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    name = "_unique2" if dim is None else "unique_dim"
    array = array_of(name, input)
    flag(name, sorted, argument="sorted")
    if dim is None:
        found = _unique_elements(input, bool(return_inverse))
    else:
        found = _unique_dim(input, _axis("unique_dim", array, dim, 2))
    return _wanted(found, return_inverse, return_counts)


@public("_unique2(Tensor input, bool sorted=True, bool return_inverse=False, bool return_counts=False)")
def _unique2(input: TensorBase, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """The distinct elements, the places of all elements among them, and their counts. The last two are empty unless
    asked for.
    """
    values, inverse, counts = _unique_elements(input, bool(return_inverse))
    return values, inverse, counts if return_counts else plain(np.empty(0, np.int64))


@public("unique_dim(Tensor input, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False)")
def unique_dim(input: TensorBase, dim: int, sorted: bool = True, return_inverse: bool = False,
               return_counts: bool = False) -> Any:
    """The distinct slices along a dim, the places of all slices among them, and their counts. All three are given."""
    values, inverse, counts = _unique_dim(input, _axis("unique_dim", array_of("unique_dim", input), dim, 2))
    return values, inverse, counts


@public("_unique(Tensor input, bool sorted=True, bool return_inverse=False)")
def _unique(input: TensorBase, sorted: bool = True, return_inverse: bool = False) -> Any:
    """The distinct elements and the places of all elements among them, which are empty unless asked for."""
    return _unique_elements(input, bool(return_inverse))[:2]


@public(method=True)
def unique_consecutive(input: TensorBase, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> TensorBase | Any:
    """The elements, or slices along `dim`, without repetitions of the element before. See `unique`."""
    array = array_of("unique_consecutive", input)
    axis = None if dim is None else _axis("unique_consecutive", array, dim)
    found = _unique_consecutive(input, axis, bool(return_inverse))
    return _wanted(found, return_inverse, return_counts)


def _axis(name: str, array: Array, dim: int, position: int = 0) -> int:
    axis = axis_of(name, as_int(name, dim, "dim", position), array.ndim)
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis


def _wanted(found: tuple[Any, ...], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    wanted = (values, *[part for part, asked in ((inverse, return_inverse), (counts, return_counts)) if asked])
    return wanted if len(wanted) > 1 else values


@public(
    "isin(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "isin(Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "isin(Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    out=rule(exact=EXACT, gradient=UNASKED),
    strict=True)
def isin(elements: Any = None, test_elements: Any = None, *, assume_unique: bool = False, invert: bool = False,
         element: Any = None, test_element: Any = None) -> Any:
    """Whether each element occurs in `test_elements`; with `invert`, whether it does not. A nan never occurs.

    Either argument may be a number; its keyword is then `element` or `test_element`. `assume_unique` has no effect.
    Raises RuntimeError for bools and complex numbers.

    >>> import retrograd as torch
    >>> torch.isin(torch.tensor([[1, 2], [3, 4]]), torch.tensor([2, 3]))
    tensor([[False,  True],
            [ True, False]])
    """
    elements = element if elements is None else elements
    test_elements = test_element if test_elements is None else test_elements
    if not (isinstance(elements, TensorBase) or isinstance(test_elements, TensorBase)) or not all(
            isinstance(x, (TensorBase, *NUMBER)) for x in (elements, test_elements)):
        raise invalid("isin", elements, test_elements)
    for x in (elements, test_elements):
        dtype = x._array.dtype if isinstance(x, TensorBase) else of_scalar(x)
        if dtype.kind in "bc":
            kind = torch_dtype.of[dtype].legacy
            raise noted(
                RuntimeError(f"Unsupported input type encountered for isin(): {kind}"),
                instead="compare with == instead")
    return _isin(elements, test_elements, invert)


def _np_isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    """NumPy's isin. The arguments may be arrays or tensors."""
    return isin(*[plain(x) if isinstance(x, np.ndarray) else x for x in (element, test_elements)], invert=invert)


NUMPY: dict[Any, Callable[..., Any]] = {np.isin: _np_isin}
