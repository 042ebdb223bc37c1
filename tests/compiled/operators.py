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
SPECIAL = (nan, inf, -inf, -0.0, 0.0, 1.0, -1.0, 1e-40)
# Besides, a large number, by the size of an element. A float32 holds the square of its number: where squares overflow,
# the formulas of variances do so in different steps, and give nan or 0.
LARGE = {4: 1e15, 8: 3e38, 2: 3e4}
Call = Callable[..., Any]
# How near numbers are that other steps compute, or the same steps in another order.
CLOSE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4, "complex64": 2e-4, "float16": 1e-2}


def plain(call: Call, inputs: list[Any]) -> Any:
    """The operator alone."""
    return call(torch, *inputs)


def around(call: Call, inputs: list[Any]) -> Any:
    """Steps before the operator and after it, so that a pass may join them with it."""
    results = tree_leaves(call(torch, *[x.neg().neg() if x.is_floating_point() else x.clone() for x in inputs]))
    return [[x, x.clone() + x] if _adds(x) else x for x in results]


def gradients(call: Call, inputs: list[Any]) -> Any:
    """The results and the gradients by all inputs, within the function."""
    leaves = [(x * 1).detach().requires_grad_() if _differentiable(x) else x for x in inputs]
    results = [x for x in tree_leaves(call(torch, *leaves)) if isinstance(x, torch.Tensor)]
    return [x.detach() for x in results], _by_all(results, leaves)


def outside(call: Call, inputs: list[Any]) -> Any:
    """Results that need gradients: the backward pass is called outside of the function."""
    return call(torch, *[x * 1 if _differentiable(x) else x for x in inputs])


def batched(call: Call, inputs: list[Any]) -> Any:
    """The operator for a batch of two: the inputs, and the inputs times two."""
    stacks = [torch.stack([x, x * 2 if _differentiable(x) else x]) for x in inputs]
    return torch.vmap(lambda *xs: call(torch, *xs), randomness="same")(*stacks)


def tangents(call: Call, inputs: list[Any]) -> Any:
    """The results and their derivatives along the cosines of the inputs."""
    moved = [place for place, x in enumerate(inputs) if _differentiable(x)]

    def function(*values: Any) -> Any:
        whole = [*inputs]
        for place, value in zip(moved, values):
            whole[place] = value
        return call(torch, *whole)

    values = tuple([inputs[place].detach() for place in moved])
    return torch.func.jvp(function, values, tuple([x.cos() for x in values]))


def second(call: Call, inputs: list[Any]) -> Any:
    """The results, the gradients, and the gradients of the sum of their squares."""
    leaves = [(x * 1).detach().requires_grad_() if _differentiable(x) else x for x in inputs]
    results = [x for x in tree_leaves(call(torch, *leaves)) if isinstance(x, torch.Tensor)]
    first = [x for x in _by_all(results, leaves, create_graph=True) if x is not None]
    return [x.detach() for x in [*results, *first]], _by_all([(x * x.conj()).sum() for x in first], leaves)


WAYS: dict[str, Callable[[Call, list[Any]], Any]] = {
    way.__name__: way for way in (plain, around, gradients, outside, batched, tangents, second)}


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


def _by_all(results: list[Any], leaves: list[Any], create_graph: bool = False) -> list[Any]:
    """The gradients of a weighted sum of the results by all leaves that need one."""
    results = [x for x in results if x.requires_grad and x.layout == torch.strided]
    needed = [leaf for leaf in leaves if leaf.requires_grad]
    if not results or not needed:
        return []
    loss = torch.stack([_weighed(x).double() for x in results]).sum()
    return list(torch.autograd.grad(loss, needed, allow_unused=True, create_graph=create_graph))


def _weighed(x: Any) -> Any:
    """A sum in which each number counts otherwise."""
    weights = torch.linspace(0.5, 1.5, x.numel(), dtype=torch.float64).reshape(x.shape)
    return (torch.view_as_real(x).sum(-1) * weights if x.is_complex() else x * weights.to(x.dtype)).sum()


def _differentiable(x: Any) -> bool:
    return bool(x.is_floating_point() or x.is_complex())


def widened(x: Any) -> Any:
    """An input as float64 or complex128, in which roundings do not count."""
    return x.to(torch.promote_types(x.dtype, torch.float64)) if _differentiable(x) else x


def _adds(x: Any) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype != torch.bool and x.layout == torch.strided


def dtypes(entry: Entry) -> list[str]:
    """All dtypes that the operator takes."""
    return [dtype for kind in entry.kinds for dtype in DTYPES[kind]]


def calls(entry: Entry, dtype: str, draw: random.Random, extreme: bool = True) -> Iterator[list[Any]]:
    """The inputs of each call: those of one sample of the operator, and of its relatives. Some special numbers are very
    large or small, unless `extreme` is false. Second derivatives there are differences of numbers that are larger yet,
    so nothing but roundings.
    """
    arrays = draw.choice(list(entry.samples(dtype)))
    for kind in CALLS:
        related = [np.asarray(_related(array, kind, draw)) for array in arrays]
        yield [torch.from_numpy(each if extreme or kind != "special" else _moderate(each)) for each in related]


def _moderate(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The numbers, but 2 in place of very large and very small ones."""
    size = np.abs(array)
    return np.where(np.isfinite(array) & (array != 0) & ((size > 1e3) | (size < 1e-9)), 2, array).astype(array.dtype)


def _related(array: np.ndarray[Any, Any], kind: str, draw: random.Random) -> np.ndarray[Any, Any]:
    if kind == "turned":
        return np.asfortranarray(array)
    if kind == "halved" and array.dtype.kind != "b":
        array = array // 2 if array.dtype.kind in "iu" else array / 2
    elif kind == "special" and array.dtype.kind in "fc":
        chosen, values = [np.array([draw.choice(each) for _ in range(array.size)]).reshape(array.shape) for each in (
            (True, True, False, False, False), (*SPECIAL, LARGE[array.real.itemsize]))]
        with np.errstate(all="ignore"):
            array = np.where(chosen, values, array).astype(array.dtype)
    elif kind == "zeros":
        array = np.zeros_like(array)
    return np.array(array)


def difference(found: Any, expected: Any, dtype: str, strides: bool, exact: Any = None) -> str:
    """Where two calls show something else, or "". Numbers may differ by roundings of the dtype that the calls compute
    in; if none is given, they are the same bits. The strides of gradients are not compared: as in PyTorch, a compiled
    function may choose others.

    If `exact` has what a call in a wider dtype shows, a number may also be four times as far from the exact number as
    the worst number of its expected tensor is. Sums of large terms that cancel are so: only roundings are left.
    """
    if isinstance(found, str) or isinstance(expected, str):
        return "" if found == expected else f"{found} instead of {expected}"
    for compared, one, other, wide in zip((strides, False), found, expected, exact or expected, strict=True):
        parts = [tree_leaves(each, is_leaf=lambda part: part is None) for each in (one, other, wide)]
        if len(parts[0]) != len(parts[1]):
            return f"{one} instead of {other}"
        for a, b, c in zip(*parts):
            faces = _face(a, compared), _face(b, compared)
            if faces[0] != faces[1] or (isinstance(a, torch.Tensor) and not (_close(a, b, dtype) or _as_near(a, b, c))):
                return f"{a} {faces[0]} instead of {b} {faces[1]}"
    return ""


def _face(value: Any, strides: bool) -> Any:
    """All that must be the same: of a tensor what is not its numbers."""
    if not isinstance(value, torch.Tensor):
        return type(value), repr(value)
    steps = [step for step, size in zip(value.stride(), value.shape) if size > 1] if (
        strides and value.layout == torch.strided) else []
    return (type(value), value.dtype, value.shape, value.layout, steps, value.requires_grad, value._is_view(),
            value.is_leaf)


def _array(x: Any) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = x.detach().to_dense().resolve_conj().resolve_neg().numpy()
    return array


def _as_near(found: Any, expected: Any, exact: Any) -> bool:
    """Whether the numbers found are about as far from the exact ones as the expected ones are: by roundings."""
    a, b, c = map(_array, (found, expected, exact))
    if exact is expected or a.dtype.kind not in "fc" or not (np.isfinite(b).all() and np.isfinite(c).all()):
        return False
    off = np.abs(b - c).max(initial=0)
    return bool(off <= 1e-5 * np.abs(c).max(initial=0) and (np.abs(a - c) <= 4 * off).all())


def _close(one: Any, other: Any, dtype: str) -> bool:
    a, b = map(_array, (one, other))
    if not dtype or a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"))
    near = max([CLOSE[each] for each in (a.dtype.name, dtype) if each in CLOSE])
    with np.errstate(all="ignore"):
        huge = np.abs(b) > 1e30                                # next to the end of float32 a rounding is infinite
        return bool((np.isclose(a, b, near, near, equal_nan=True) | huge).all())
