"""What the transforms have in common: which arguments are differentiated, and trees of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..tensors.tensor import Tensor
from ..utils._pytree import PyTree, TreeSpec, tree_flatten, tree_unflatten

Argnums = int | tuple[int, ...]


def chosen(argnums: Argnums, count: int) -> tuple[int, ...]:
    """The positions that `argnums` names, of `count` arguments."""
    if isinstance(argnums, int):
        return (_position(argnums, count),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    places = tuple([_position(each, count) for each in argnums])
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {places}")
    return places


def _position(argnum: Any, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def replaced(args: Sequence[Any], places: Sequence[int], values: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments, with other values at these places."""
    found = [*args]
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return tuple(found)


def of_argnums(argnums: Argnums, values: Sequence[Any]) -> Any:
    """One value for an int, a tuple of values for a tuple."""
    return values[0] if isinstance(argnums, int) else tuple(values)


def refuse_complex(function: str, tree: PyTree, what: str) -> None:
    """Raise RuntimeError for a complex tensor among the inputs or outputs: Jacobians are of real functions."""
    for i, leaf in enumerate(tree_flatten(tree)[0]):
        if isinstance(leaf, Tensor) and leaf._array.dtype.kind == "c":
            raise RuntimeError(f"{function}: Expected all {what} to be real but received complex tensor at flattened "
                               f"input idx: {i}")


def tensors_in(tree: PyTree, refuse: Callable[[Any], Exception]) -> tuple[list[Tensor], TreeSpec]:
    """The leaves of a tree, which must be tensors, and its structure. `refuse(leaf)` makes the error for another."""
    leaves, spec = tree_flatten(tree)
    _check_tensors(leaves, refuse)
    return leaves, spec


def _check_tensors(leaves: Sequence[Any], refuse: Callable[[Any], Exception]) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise refuse(leaf)


def outputs_in(tree: PyTree, function: str) -> tuple[list[Tensor], TreeSpec]:
    """The tensors that a function returned to the transform `function`, and their structure.

    Raises RuntimeError if there are none, and for a leaf that is no tensor.
    """
    leaves, spec = tree_flatten(tree)
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(f"{function}: Expected f to be a function that has non-empty output (got output = {leaves})")
    _check_tensors(leaves, lambda leaf: RuntimeError(
        f"{function}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"))
    return leaves, spec


def with_aux(function: str, found: Any, has_aux: bool) -> tuple[Any, Any]:
    """The output of a function and what it returned beside."""
    if not has_aux:
        return found, None
    if not (isinstance(found, tuple) and len(found) == 2):
        raise RuntimeError(f"{function}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return found


def mapped(function: Callable[[Any], Any], tree: PyTree) -> PyTree:
    """The tree of `function(tensor)`. Raises RuntimeError if a leaf is no tensor."""
    leaves, spec = tensors_in(tree, lambda leaf: RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}"))
    return tree_unflatten([function(leaf) for leaf in leaves], spec)
