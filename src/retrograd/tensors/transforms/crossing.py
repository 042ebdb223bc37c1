"""The borders of levels: tensors that enter and leave, and gradients that cross a border the other way.

A backward pass that starts outside a level and comes to a value of the level has to compute in the level again. So a
pass that crosses a border inwards puts the level back in effect until it ends.

**Batches.** A gradient that enters gets the hidden axis. A gradient for a value that is the same for all samples is the
sum over the samples.

**Tangents.** With x + x't, a pass in dual numbers propagates pairs of gradients: that of the tangent, which takes the
place of the number, and that of the number, which takes the place of the tangent. So reverse over forward mode is an
ordinary pass on dual numbers, in which the two parts have changed places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.modes import local
from ...graph.crossings import Crossing
from ...graph.node import ENGINE, AccumulateGrad
from ...kernels.indexing.indexing import overlaps
from ...kernels.layout import owner_of
from ...ops.basic import copy
from ...ops.creation import full_beside
from ...ops.indexing.indexing import select_scatter
from ...ops.reductions import sum_dim
from ...ops.shape import alias, expand, permute
from ..recording.calls import CALLS
from ..state.base import TensorBase, edge_of, plain, with_edge
from ..state.inside import dense_array, refuse_meta
from .batched import Batched, hidden, is_array, is_batched, parts, shown
from .batching import BatchLevel
from .forward import ForwardLevel, or_zeros
from .levels import Level, in_effect, inner, inside, others, outer, put, with_level
from .mixed import give_tangent, tangent_of
from .shadows import alike

if TYPE_CHECKING:
    from ...graph.node import Node

# Under these keys, a pass keeps the levels that it crossed, and the levels that it put in effect and has not left.
_CROSSED, _ENTERED = "levels that were crossed", "levels that were entered"
_ALIAS, _PERMUTE = "AliasBackward0", "PermuteBackward0"


class entered:
    """The context in which a level is in effect, above the present levels."""

    __slots__ = ("before", "level")

    def __init__(self, level: Level) -> None:
        self.level = level

    def __enter__(self) -> None:
        thread = local.thread
        self.before = thread.levels, thread.transform, thread.watchers
        put(with_level(self.level))
        if lifting not in thread.watchers:
            thread.watchers = (*thread.watchers, lifting)

    def __exit__(self, *error: object) -> None:
        thread = local.thread
        thread.levels, thread.transform, thread.watchers = self.before
        self.level.left()


def _enter_again(level: Level, walk: Any, number: int) -> None:
    """Put a level in effect from the node of this number on. The end of the backward pass ends the effect.

    The pass walks from the newest to the oldest node. So it has left the levels that it entered before, if they began
    after the node was made.
    """
    thread = local.thread
    walk.notes.setdefault(_CROSSED, set()).add(level)
    if level not in thread.levels:
        entered_before = walk.notes.setdefault(_ENTERED, set())
        left = {each for each in entered_before if each.number > number}
        entered_before -= left
        entered_before.add(level)
        put([each for each in with_level(level) if each not in left])
    if lifting not in thread.watchers:
        thread.watchers = (*thread.watchers, lifting)


def _crossed(level: Level, walk: Any) -> bool:
    return level in walk.notes.get(_CROSSED, ())


def _within(level: Level, walk: Any) -> bool:
    """Whether a pass runs inside of a level, from its begin on."""
    return level in local.thread.levels and not _crossed(level, walk)


def _made(kind: Any, level: Level, array: Any, *tensors: Any, name: str | None = None) -> Any:
    """A tensor over an array, recorded as made from the tensors.

    PyTorch has no borders, so users see `name`, or else the name of the operation behind the border.
    """
    if not local.thread.grad:
        return with_edge(array, None)
    edges = tuple([edge_of(tensor) for tensor in tensors])
    if edges.count(None) == len(edges):
        return with_edge(array, None)
    node = _named(kind, _name_behind(edges[0]) if name is None else name)(level, edges, array.shape, array.dtype)
    result = with_edge(array, node)
    with in_effect(with_level(level)):
        lifting(node, (result,), tensors, level)
    return result


@cache
def _named(kind: type[Crossing], name: str) -> type[Crossing]:
    """A sort of borders under another name."""
    return type(name, (kind,), {"__slots__": ()})


def _name_behind(edge: Any) -> str:
    """The name of the operation that made a value."""
    node = edge.node
    return _ALIAS if node is None or type(node) is AccumulateGrad else node.name().rpartition("::")[2]


# Tangents

def make_dual(level: ForwardLevel, primal: Any, tangent: Any) -> Any:
    """A tensor with a tangent at the level. `tangent` is a tensor of the same shape and dtype."""
    refuse_meta(primal)
    array, direction = inner(primal._array), inner(tangent._array)
    with in_effect(others(level)), inside():
        physical = parts(array)[0]
        # Elements that coincide in memory may have different tangents.
        array = copy.run(array, "K") if not physical.flags.forc and overlaps(physical) else alike(array)
        if not level.shadows.share(array, tangent):
            give_tangent(level, array, direction)
        physical, shadow = parts(array)[0], level.shadows.beside(parts(array)[0])
        lies = getattr(parts(direction)[0], "strides", ())
        if shadow is not None and lies[len(lies) - physical.ndim:] == physical.strides:
            shadow.given = tangent
    return _made(MakeDual, level, outer(array), primal, tangent, name="ViewBackward0")


def given_tangent(level: ForwardLevel, dual: Any) -> Any:
    """The tensor that was given as the tangent of a dual tensor, if its numbers are the tangent still; else None."""
    physical = parts(inner(dual._array))[0]
    shadow = level.shadows.beside(physical)
    return None if shadow is None or owner_of(physical) is not physical else shadow.given


def primal_part(level: ForwardLevel, tensor: TensorBase) -> Any:
    """A tensor without its tangent at the level."""
    array = inner(tensor._array)
    if level.shadows.tangent(array) is None:
        with in_effect(with_level(level)):
            if level not in _levels_of(array):
                return CALLS[alias](tensor)
    with in_effect(others(level)), inside():
        array = alike(array)
    return _made(PrimalPart, level, outer(array), tensor, name="Identity")


def tangent_part(level: ForwardLevel, tensor: TensorBase) -> Any:
    """The tangent of a tensor at the level, zeros if it is zero."""
    array = inner(tensor._array)
    with in_effect(others(level)), inside():
        tangent = tangent_of(level, array)
        found = or_zeros(array, tangent)
    if tangent is None and (edge := edge_of(tensor)) is not None and edge.node.number < level.number:
        return plain(outer(found))                         # of a value from outside
    return _made(ZeroTangent if tangent is None else TangentPart, level, outer(found), tensor)


def _zeros(tensor: TensorBase, *samples: int) -> Any:
    """Zeros like a tensor; for so many samples, if their number is given."""
    array = tensor._array
    return plain(full_beside(array, (*samples, *array.shape), array.dtype, 0))


class MakeDual(Crossing):
    """The making of a dual tensor from a tensor and its tangent."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        g = cotangents[0]
        if not _crossed(self.level, walk):
            return g, None
        by_primal, by_tangent = self.edges
        return (None if by_primal is None else tangent_part(self.level, g),
                None if by_tangent is None else primal_part(self.level, g))


class PrimalPart(Crossing):
    """The primal part of a dual tensor."""

    __slots__ = ()
    namespace = ENGINE

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        _enter_again(self.level, walk, self.number)
        return (make_dual(self.level, _zeros(cotangents[0]), cotangents[0]),)


class TangentPart(Crossing):
    """The tangent of a dual tensor."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        _enter_again(self.level, walk, self.number)
        return cotangents                                  # with a tangent of zero, as values from outside have


class ZeroTangent(Crossing):
    """The tangent of a value that was made at the level, and has none."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        return (_zeros(cotangents[0]),)


# Batches

def enter_batch(level: BatchLevel, tensor: Any, dim: int) -> Any:
    """A tensor whose dim is the hidden axis of the level. Raises RuntimeError for a sparse tensor."""
    array: Any = dense_array(tensor)
    order = (dim, *[d for d in range(array.ndim) if d != dim])
    array = hidden(inner(array if not dim else permute.run(array, order)), level)
    result = _made(EnterBatch, level, array, tensor, name=_PERMUTE if dim else _ALIAS)
    if result._edge is not None:
        result._edge.dim = dim
    return result


def leave_batch(level: BatchLevel, tensor: Any, dim: int) -> Any:
    """The tensor with the hidden axis of the level as an ordinary dim."""
    array = tensor._array
    if not is_batched(array, level):                       # the same for all samples
        repeated = CALLS[expand](tensor, (level.size, *array.shape))
        return CALLS[permute](repeated, _from_first_to(dim, array.ndim + 1)) if dim else repeated
    array = outer(shown(array, level))
    if dim:
        array = permute.run(array, _from_first_to(dim, array.ndim))
    result = _made(LeaveBatch, level, array, tensor, name=_PERMUTE if dim else None)
    if result._edge is not None:
        result._edge.dim = dim
    return result


def _from_first_to(dim: int, rank: int) -> tuple[int, ...]:
    """The order of dims that moves the first dim to the place `dim`."""
    rest = iter(range(1, rank))
    return tuple([0 if d == dim else next(rest) for d in range(rank)])


class EnterBatch(Crossing):
    """The hiding of an axis."""

    __slots__ = ("dim",)
    dim: int

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        with in_effect(others(self.level)):
            return (leave_batch(self.level, cotangents[0], self.dim),)


class LeaveBatch(Crossing):
    """The showing of a hidden axis."""

    __slots__ = ("dim",)
    dim: int

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        _enter_again(self.level, walk, self.number)
        return (enter_batch(self.level, cotangents[0], self.dim),)


# Values from outside that a level uses


class Lift(Crossing):
    """The use of a value that is none of the level's among values of the level. A node that saves the value saves it
    without this border, because a rule may use the value outside of the level.
    """

    __slots__ = ()
    lifts = True

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        g = cotangents[0]
        if not _crossed(self.level, walk):
            return (g,)
        if isinstance(self.level, ForwardLevel):
            return (tangent_part(self.level, g),)
        with in_effect(others(self.level)):
            return (CALLS[sum_dim](leave_batch(self.level, g, 0), (0,), False, None),)


class Drop(PrimalPart):
    """The use of a value that has a tangent of a tangent at the level, for a result that has none of the level's."""

    __slots__ = ()
    namespace = ""

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        return cotangents if _within(self.level, walk) else super().apply(cotangents, walk)


class DropBatch(Crossing):
    """The use of a value with tangents of a batch for a result that is the same for all samples.

    The first sample gets the gradient, and the other ones zeros, since the border behind adds the gradients up.
    """

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        if _within(self.level, walk):
            return cotangents
        _enter_again(self.level, walk, self.number)
        g, samples = cotangents[0], _zeros(cotangents[0], self.level.size)
        return (enter_batch(self.level, CALLS[select_scatter](samples, g, 0, 0) if self.level.size else samples, 0),)


def _levels_of(array: Any, before_write: bool = False) -> set[Any]:
    """The levels of an array: those of its hidden axes, those with a tangent for it, and those of the tangents.

    `before_write` asks for the levels that it had before the last write, which was to its memory.
    """
    if not is_array(array):
        return set()
    physical, axes = parts(inner(array))
    found, levels = {*axes}, local.thread.levels
    for level in levels:
        shadow = level.shadows.beside(physical) if level.has_tangents else None
        if shadow is not None and level not in found:
            of_tangent = level.before_write(physical, shadow.levels) if before_write else shadow.levels
            if of_tangent is None:
                continue
            found.add(level)
            found.update(of_tangent)
            if not found.issuperset(levels):
                found |= _levels_of(shadow.memory, before_write)
    return found


def _of_all_levels(array: Any, levels: tuple[Any, ...]) -> bool:
    """Whether an array belongs to each of the levels. False if that is not seen at once."""
    if type(array) is Batched:
        return array.levels == levels
    array = inner(array)
    if not levels or type(array) is not np.ndarray or not levels[-1].has_tangents:
        return False
    shadow = levels[-1].shadows.beside(array)
    return shadow is not None and shadow.levels == levels[:-1]


def _none_from_outside(node: Node, result: Any, operands: Sequence[Any]) -> bool:
    """Whether the result and all values that edges lead to belong to every level in effect."""
    levels = local.thread.levels
    if not _of_all_levels(result._array, levels):
        return False
    for edge, operand in zip(node.edges, operands):
        if edge is not None and (operand is result or not _of_all_levels(getattr(operand, "_array", None), levels)):
            return False
    return True


def lifting(node: Node, results: Sequence[Any], operands: Sequence[Any], own: Level | None = None) -> None:
    """The watcher of recorded nodes while a level is in effect.

    Put a border on each edge of a new node that leads to a value outside of a level of the results. `own` is the level
    of which the node is a border itself. Only such a node may lead from a value with a tangent to one without, since
    the derivative of any other operation would be zero.
    """
    if node.steps is None:                                 # a Function takes and returns anything
        results, operands = [[x for x in xs if isinstance(x, TensorBase)] for xs in (results, operands)]
    if not results or _none_from_outside(node, results[0], operands):
        return                                             # (a view taken again is of its base's levels)
    of_results = _levels_of(results[0]._array)
    of_results.update(*[_levels_of(result._array) for result in results[1:]])
    of_results.discard(own)
    if not of_results and (own is None or local.thread.levels == (own,)):
        return
    for i, (edge, operand) in enumerate(zip(node.edges, operands)):
        if edge is None or not isinstance(operand, TensorBase):
            continue
        of_operand = _levels_of(operand._array, operand is results[0])
        borders: list[tuple[Any, Any]] = [(Lift, level) for level in sorted(of_results - of_operand)]
        if own is not None:
            borders += [(Drop if level.has_tangents else DropBatch, level)
                        for level in sorted(of_operand - of_results - {own})]
        for kind, level in borders:
            edge = _named(kind, _ALIAS)(level, (edge,), edge.shape, edge.dtype)
            edge.number = node.number - 1
        node.edges = (*node.edges[:i], edge, *node.edges[i + 1:])
