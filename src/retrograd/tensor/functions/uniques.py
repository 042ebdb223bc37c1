"""The different elements of a tensor, as functions and methods."""

from __future__ import annotations

from typing import Any

from ...ops import uniques as ops
from ..dims import array_of, axis_of
from ..recording import recorded
from .reductions import flag

_unique, _unique_dim = recorded(ops.unique), recorded(ops.unique_dim)
_unique_consecutive = recorded(ops.unique_consecutive)


def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:
    """The different elements in order, or the different slices along `dim`; nan differs from nan.

    With `return_inverse` also which of them each element is, with `return_counts` also how many there are of each.
    They are in order whatever `sorted` says. A backward pass that comes here fails.

    >>> import retrograd as torch
    >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
    (tensor([1, 3]), tensor([1, 2]))
    """
    name = "_unique2" if dim is None else "unique_dim"
    array = array_of(name, input)
    flag(name, sorted, argument="sorted")
    if dim is None:
        found = _unique(input, bool(return_inverse))
    else:
        found = _unique_dim(input, _axis(array, dim))
    return _wanted(found, return_inverse, return_counts)


def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:
    """The elements (or slices along `dim`) without those that equal the one before them; see `unique`."""
    array = array_of("unique_consecutive", input)
    found = _unique_consecutive(input, None if dim is None else _axis(array, dim))
    return _wanted(found, return_inverse, return_counts)


def _axis(array: Any, dim: int) -> int:
    axis = axis_of("unique", dim, array.ndim)
    if not array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis


def _wanted(found: tuple[Any, ...], return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = found
    wanted = (values, *[part for part, asked in ((inverse, return_inverse), (counts, return_counts)) if asked])
    return wanted if len(wanted) > 1 else values


class UniqueMethods:
    """The different elements, as methods."""

    __slots__ = ()

    unique, unique_consecutive = unique, unique_consecutive
