"""How levels compute with rules and compositions of operators: on arrays, or on tensors while levels are in effect."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from ...foundations.dtypes import RARE
from ...foundations.modes import local
from ...ops.creation import full_beside
from ...ops.framework import Op
from ..state.base import TensorBase, plain
from .batched import Batched, common_axes, in_axes, is_array, of_axes
from .levels import in_effect, inner, inside, lowest, moving, outer


def by_rule(rule: Callable[..., Any], *values: Any) -> Any:
    """What a rule computes from arrays, with the levels that are in effect. A rule may return a tuple."""
    thread = local.thread
    if thread.transform is None and not any([type(v) is not np.ndarray and is_array(v) for v in values]):
        found = thread.run(rule, *values)
        return tuple([np.asarray(part) for part in found]) if type(found) is tuple else np.asarray(found)
    grad, thread.grad = thread.grad, False
    try:
        return with_tensors(rule, values, True)
    finally:
        thread.grad = grad


def with_tensors(function: Callable[..., Any], values: Sequence[Any], by_rule: bool = False) -> Any:
    """The arrays of what a function of tensors makes of arrays."""
    with inside(False, by_rule):
        given = [plain(outer(v)) if is_array(v) else outer(v) for v in values]
        return arrays_of(function(*given))


def by_elements(terms: Sequence[tuple[Callable[..., Any], list[Any]]]) -> Any:
    """The sum of what rules make of their values, for rules that work element by element.

    If no level has tangents for the values, each rule is called once for all samples of a batch.
    """
    values = terms[0][1] if len(terms) == 1 else [value for _, given in terms for value in given]
    thread = local.thread
    if thread.transform is None and Batched not in map(type, values):
        return np.asarray(thread.run(_summed, terms))
    if RARE or moving(*values):
        return reduce(partial(by_rule, np.add), [by_rule(rule, *given) for rule, given in terms])
    levels, rank = common_axes(values)
    before = thread.levels, thread.transform
    thread.levels, thread.transform = (), lowest()
    try:
        if thread.transform is not None:
            total = reduce(partial(by_rule, np.add), [by_rule(rule, *in_axes(given, levels, rank))
                                                      for rule, given in terms])
        elif len(terms) == 1:
            total = thread.run(terms[0][0], *in_axes(values, levels, rank))
        else:
            total = thread.run(_summed, [(rule, in_axes(given, levels, rank)) for rule, given in terms])
    finally:
        thread.levels, thread.transform = before
    for value in values:                                   # the caller asks whether the result is new memory
        if total is value or (type(value) is Batched and total is value.array):
            return value
    return of_axes(np.asarray(total), levels, rank)


def _summed(terms: Sequence[tuple[Callable[..., Any], list[Any]]]) -> Any:
    total = None
    for rule, values in terms:
        result = rule(*values)
        total = result if total is None else np.add(total, result)
    return total


def arrays_of(found: Any) -> Any:
    """The arrays of one result, or of several in a list or a tuple."""
    if type(found) in (list, tuple):
        return tuple([arrays_of(part) for part in found])
    return inner(found._array if isinstance(found, TensorBase) else found)


def by_composition(op: Op, args: Sequence[Any], levels: Sequence[Any]) -> Any:
    """The results of the composition of an operator, computed with these levels in effect."""
    with in_effect(levels):
        return with_tensors(op.composition, args)  # type: ignore[arg-type]


def saved(save: Any, args: Sequence[Any], out: Any) -> Any:
    """A value that a rule names."""
    kind, place = save
    if kind == "out":
        return out if type(out) is not tuple else out[place]
    return args[place] if kind in ("input", "static") else getattr(args[place], kind)


def option(op: Op, args: Sequence[Any], name: str) -> Any:
    """An argument of a call, by its name."""
    return args[op.arguments.index(name)]


def pulled(op: Op, index: int, g: Any, args: Sequence[Any], out: Any) -> Any:
    """What the rule of an argument makes of `g`."""
    for at, rule, positions in op.steps:
        if at == index:
            return by_rule(rule, g, *[saved(op.saves[i], args, out) for i in positions])
    raise KeyError(index)


def slope(op: Op, index: int, args: Sequence[Any], out: Any) -> Any:
    """The gradient of the sum of the result by an argument."""
    first = out[0] if type(out) is tuple else out
    return pulled(op, index, full_beside(first, first.shape, first.dtype, 1), args, out)
