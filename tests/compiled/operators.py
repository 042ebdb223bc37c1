"""The ways in which the tests use an operator in a compiled function, and what they call the function with."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from math import inf, nan
from typing import Any

import numpy as np

import retrograd as torch
from op_table.entry import DTYPES, Entry
from retrograd.utils._pytree import tree_leaves

# The inputs of the calls, in their order: the first call makes a plan, the second one repeats the plan. Then come other
# numbers, memory in another order, special numbers, and zeros.
CALLS = ("as drawn", "as drawn", "halved", "turned", "special", "zeros", "as drawn")
SPECIAL = (nan, inf, -inf, -0.0, 0.0, 1.0, -1.0, 1e-40, 3e38)


def plain(entry: Entry, inputs: list[Any]) -> Any:
    """The operator alone."""
    return entry.call(torch, *inputs)


def around(entry: Entry, inputs: list[Any]) -> Any:
    """Steps before the operator and after it, so that a pass may join them with it."""
    results = tree_leaves(entry.call(torch, *[x.neg().neg() if x.is_floating_point() else x.clone() for x in inputs]))
    return [[x, x.clone() + x] if _adds(x) else x for x in results]


def gradients(entry: Entry, inputs: list[Any]) -> Any:
    """The results and the gradients by all inputs, within the function."""
    leaves = [(x * 1).detach().requires_grad_() if _differentiable(x) else x for x in inputs]
    results = [x for x in tree_leaves(entry.call(torch, *leaves)) if isinstance(x, torch.Tensor)]
    return [x.detach() for x in results], _by_all(results, leaves)


def outside(entry: Entry, inputs: list[Any]) -> Any:
    """Results that need gradients: the backward pass is called outside of the function."""
    return entry.call(torch, *[x * 1 if _differentiable(x) else x for x in inputs])


WAYS: dict[str, Callable[[Entry, list[Any]], Any]] = {
    way.__name__: way for way in (plain, around, gradients, outside)}


def seen(function: Callable[..., Any], inputs: list[Any], need: bool) -> Any:
    """What a program sees of a call: the results, and the gradients of inputs that need them, or the error."""
    torch.manual_seed(3)
    leaves = [x.detach().clone(memory_format=torch.preserve_format) for x in inputs]
    for leaf in leaves:
        leaf.requires_grad_(need and _differentiable(leaf))
    try:
        results = function(*leaves)
        return results, _by_all([x for x in tree_leaves(results) if isinstance(x, torch.Tensor)], leaves)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _by_all(results: list[Any], leaves: list[Any]) -> list[Any]:
    """The gradients of a weighted sum of the results by all leaves that need one."""
    results = [x for x in results if x.requires_grad and x.layout == torch.strided]
    needed = [leaf for leaf in leaves if leaf.requires_grad]
    if not results or not needed:
        return []
    loss = torch.stack([(x * (1 + k / 4)).sum().abs().double() for k, x in enumerate(results)]).sum()
    return list(torch.autograd.grad(loss, needed, allow_unused=True))


def _differentiable(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


def _adds(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype != torch.bool and x.layout == torch.strided


def dtypes(entry: Entry) -> list[str]:
    """All dtypes that the operator takes."""
    return [dtype for kind in entry.kinds for dtype in DTYPES[kind]]


def calls(entry: Entry, dtype: str, draw: random.Random) -> Iterator[list[Any]]:
    """The inputs of each call: those of one sample of the operator, and of its relatives."""
    arrays = draw.choice(list(entry.samples(dtype)))
    for kind in CALLS:
        yield [torch.from_numpy(np.asarray(_related(array, kind, draw))) for array in arrays]


def _related(array: np.ndarray[Any, Any], kind: str, draw: random.Random) -> np.ndarray[Any, Any]:
    if kind == "turned":
        return np.asfortranarray(array)
    if kind == "halved" and array.dtype.kind != "b":
        array = array // 2 if array.dtype.kind in "iu" else array / 2
    elif kind == "special" and array.dtype.kind in "fc":
        marks = np.array([draw.choice(SPECIAL) if draw.random() < 0.4 else None for _ in range(array.size)], object)
        chosen = np.array([mark is not None for mark in marks], bool).reshape(array.shape)
        with np.errstate(all="ignore"):
            array = np.where(chosen, np.array([mark or 0.0 for mark in marks]).reshape(array.shape), array)
    elif kind == "zeros":
        array = np.zeros_like(array)
    return np.array(array)


def difference(found: Any, expected: Any, near: float) -> str:
    """Where two calls show something else, or "". Numbers may differ by `near`; if it is 0, they are the same bits."""
    parts = [tree_leaves(each, is_leaf=lambda part: part is None) for each in (found, expected)]
    if len(parts[0]) != len(parts[1]):
        return f"{found} instead of {expected}"
    for one, other in zip(*parts):
        if _face(one) != _face(other) or (isinstance(one, torch.Tensor) and not _close(one, other, near)):
            return f"{one} {_face(one)} instead of {other} {_face(other)}"
    return ""


def _face(value: Any) -> Any:
    """All that must be the same: of a tensor what is not its numbers."""
    if not isinstance(value, torch.Tensor):
        return type(value), repr(value)
    layout = value.layout
    steps = [step for step, size in zip(value.stride(), value.shape) if size > 1] if layout == torch.strided else []
    return (type(value), value.dtype, value.shape, layout, steps, value.requires_grad, value._is_view(), value.is_leaf)


def _close(one: Any, other: Any, near: float) -> bool:
    a, b = [each.detach().to_dense().resolve_conj().resolve_neg().numpy() for each in (one, other)]
    if a.dtype.kind not in "fc" or not near:
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    with np.errstate(all="ignore"):
        huge = np.abs(b) > 1e30                                # next to the end of float32 a rounding is infinite
        return bool((np.isclose(a, b, near, near, equal_nan=True) | huge).all())
