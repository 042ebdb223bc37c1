"""`rearrange`: a change of shape and of the order of dims that a text describes, such as "b c h w -> b (h w) c"."""

from __future__ import annotations

import keyword
import math
import re
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..tensors.functions.shapes.joining import stack
from ..tensors.tensor import Tensor

_TOKEN = re.compile(r"\.\.\.|\w+|[() ]|.")
_ELLIPSIS = "…"


class DimensionBindError(Exception):
    """The sizes that a pattern gives to its axes do not fit the tensor."""


class Side(NamedTuple):
    """One side of a pattern: the axes of each dim in order. A dim without axes has size 1.

    `whole` is the place of an ellipsis that stands for several dims, and not for one in brackets.
    """

    dims: list[list[str]]
    whole: int | None = None

    @property
    def axes(self) -> list[str]:
        """All axes in order."""
        return [axis for dim in self.dims for axis in dim]


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """A tensor with its axes in another order, joined to fewer dims, or split into more dims.

    The pattern names the axes of the tensor, and those of the result behind "->". Axes in brackets share one dim. "..."
    stands for all dims that have no name, and 1 for a dim of size 1. `axes_lengths` are sizes of axes; one axis of each
    bracket may have no size. A list of tensors is a tensor with a first dim for the list.

    >>> import retrograd as torch
    >>> x = torch.arange(6).reshape(2, 3)
    >>> torch.func.rearrange(x, "a b -> b a").tolist()
    [[0, 3], [1, 4], [2, 5]]
    >>> torch.func.rearrange(x, "a (b c) -> a b c", b=1).shape
    torch.Size([2, 1, 3])

    Raises ValueError for a pattern that is none, or that does not fit the tensor, and DimensionBindError for sizes that
    do not fit.
    """
    if not isinstance(tensor, Tensor):
        tensor = stack(tensor)
    left, right = _sides(pattern)
    _check(left, right, pattern, axes_lengths)
    if not tensor.ndim:
        return tensor
    shape = _spread(left, tensor)
    sizes: dict[str, int] = {}
    for dim, size in zip(left.dims, shape, strict=True):
        sizes.update(_sizes(dim, size, axes_lengths))
    names = [f"{_ELLIPSIS}{i}" for i in range(tensor.ndim - len([d for d in left.dims if d[:1] != [_ELLIPSIS]]))]
    return _moved(tensor, left, right, sizes, names)


def _moved(tensor: Any, left: Side, right: Side, sizes: dict[str, Any], names: list[str]) -> Any:
    """The tensor with an own dim for each axis, then in the order of the result, then with its dims."""
    sizes = {**sizes, **dict(zip(names, sizes.pop(_ELLIPSIS, ())))}

    def flat(side: Side) -> list[str]:
        return [name for axis in side.axes for name in (names if axis == _ELLIPSIS else [axis])]

    before, after = flat(left), flat(right)
    shape: list[int] = []
    for i, dim in enumerate(right.dims):
        if i == right.whole:
            shape += [sizes[name] for name in names]
        else:
            shape.append(math.prod([sizes[name] for name in flat(Side([dim]))]))
    split = tensor.reshape([sizes[name] for name in before])
    order = [before.index(name) for name in after]
    if order != [*range(len(order))]:
        split = split.permute(order)
    return split if [*split.shape] == shape else split.reshape(shape)


# Reading a pattern


def _sides(pattern: str) -> tuple[Side, Side]:
    parts = pattern.split("->")
    if len(parts) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    return _side(parts[0]), _side(parts[1])


def _side(text: str) -> Side:
    """One side of a pattern, read. Raises ValueError if it cannot be read."""
    if "." in text:
        if "..." not in text:
            raise ValueError("Expression may contain dots only inside ellipsis (...)")
        if text.count("...") != 1 or text.count(".") != 3:
            raise ValueError("Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor ")
    dims: list[list[str]] = []
    seen: set[str] = set()
    inside, whole = False, None
    for token in _TOKEN.findall(text):
        if token == "(":
            if inside:
                raise ValueError("Axis composition is one-level (brackets inside brackets not allowed)")
            inside = True
            dims.append([])
        elif token == ")":
            if not inside:
                raise ValueError("Brackets are not balanced")
            inside = False
        elif token != " ":
            axis = _axis(token, seen)
            if inside:
                dims[-1] += axis
            else:
                whole = len(dims) if axis == [_ELLIPSIS] else whole
                dims.append(axis)
    if inside:
        raise ValueError(f"Imbalanced parentheses in expression: '{text}'")
    return Side(dims, whole)


def _axis(token: str, seen: set[str]) -> list[str]:
    """The axis of a word: none for 1."""
    if token == "...":
        return [_ELLIPSIS]
    if token.isdecimal():
        if token != "1":
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return []
    if not re.fullmatch(r"\w+", token):
        raise ValueError(f"Unknown character '{token}'")
    if not token.isidentifier() or token.startswith("_") or token.endswith("_"):
        why = ("axis name should should not start or end with underscore" if token.isidentifier()
               else "not a valid python identifier")
        raise ValueError(f"Invalid axis identifier: {token}\n{why}")
    if keyword.iskeyword(token):
        warnings.warn(f"It is discouraged to use axes names that are keywords: {token}", RuntimeWarning, stacklevel=5)
    if token in seen:
        raise ValueError(f"Indexing expression contains duplicate dimension '{token}'")
    seen.add(token)
    return [token]


# Fitting a pattern to a tensor


def _check(left: Side, right: Side, pattern: str, given: dict[str, int]) -> None:
    """Raise ValueError if the two sides do not have the same axes."""
    if _ELLIPSIS in left.axes and left.whole is None:
        raise ValueError(f"Ellipsis is parenthesis in the left side is not allowed: {pattern}")
    if _ELLIPSIS in right.axes and _ELLIPSIS not in left.axes:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    single = set(left.axes) ^ set(right.axes)
    if single:
        raise ValueError("Identifiers only on one side of rearrange expression (should be on both): "
                         f"{ {axis.replace(_ELLIPSIS, '...') for axis in single} }")
    unknown = set(given) - set(left.axes)
    if unknown:
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")


def _spread(left: Side, tensor: Any) -> list[Any]:
    """The size of each dim of the left side; the sizes of all dims that an ellipsis stands for."""
    named, ndim = len([dim for dim in left.dims if dim != [_ELLIPSIS]]), tensor.ndim
    if named == len(left.dims) and named != ndim:
        raise ValueError(f"Number of dimensions in pattern ({named}) must be equal to the number of dimensions in the "
                         f"tensor ({ndim})")
    if named > ndim:
        raise ValueError(f"Number of dimensions in pattern ({named}) must be less than or equal to the number of "
                         f"dimensions in the tensor ({ndim})")
    shape: list[Any] = [*tensor.shape]
    if named < len(left.dims):
        at = left.dims.index([_ELLIPSIS])
        shape[at:at + ndim - named] = [tuple(shape[at:at + ndim - named])]
    return shape


def _sizes(dim: Sequence[str], size: Any, given: dict[str, int]) -> dict[str, Any]:
    """The size of each axis of one dim. Raises DimensionBindError if the axes do not fill the dim."""
    if [*dim] == [_ELLIPSIS]:
        return {_ELLIPSIS: size}
    open_axes = [axis for axis in dim if axis not in given]
    known = math.prod([int(given[axis]) for axis in dim if axis in given])
    if len(open_axes) > 1:
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {' and '.join(open_axes[:2])}")
    if open_axes and (known == 0 or size % known):
        raise DimensionBindError("inferred dimension does not evenly fit into larger dimension: "
                                 f"{size} vs {tuple([given.get(axis, '?') for axis in dim])}")
    if not open_axes and known != size:
        raise DimensionBindError(f"Dimension sizes to do not match ({size} != {known}) when matching dimension pack "
                                 f"({', '.join(dim)})")
    return {axis: int(given[axis]) if axis in given else size // known for axis in dim}
