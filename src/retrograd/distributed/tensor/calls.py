"""The calls of operators with distributed arrays: operands move to where each process can compute, and it computes.

`carry_out` stands on the seam while a call with a DTensor runs, and in a backward pass that meets one. Operators
without a rule get whole arrays in all processes, so every operator is right, and those of `rules` move less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...foundations.dtypes import FLOATING, Array, category
from ...foundations.errors import noted
from ...graph.versions import next_number, written_since
from ...kernels.kinds import found_in, replaced
from ...kernels.layout import row_major, steps
from ...kernels.meta import elementwise, without_memory
from ...ops.basic import cast_in, clone, copy, look
from ...ops.creation import drawn, drawn_beside, fresh, new_full, random_channels, random_from, random_like
from ...ops.elementwise.arithmetic import add, add_scaled, copy as copy_elements, div, mul, sub, sub_scaled, zero
from ...ops.framework import Op
from ...tensors.meta.inference import infer
from ...tensors.recording.inplace import write_over
from ..device_mesh import DeviceMesh
from .arrays import DistributedArray, Origin, distributed
from .cases import AVG, SUM, Asked, Case, whole
from .elements import pointwise
from .moving import local_bounds
from .placement_types import Cut, Partial, Placement, Replicate, _StridedShard
from .rules import RULES
from .viewing import RESHAPING, SHAPE_AT, reshaped

_RANDOM = (random_like, random_channels, random_from)
_ORDERED = (cast_in, clone, copy)                          # their last argument says how the result lies in memory
_WHOLE = Replicate()
_DEAR = 1e12                                             # more than any array costs


def carry_out(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The results of an operator, as distributed arrays if one of its arguments is such an array."""
    arrays = found_in(args, DistributedArray)
    if not arrays:
        return call(*args)
    for each in arrays:
        _renew(each)
    mesh = arrays[0].mesh
    if any([x.mesh is not mesh and x.mesh != mesh for x in arrays]):
        raise noted(
            RuntimeError(f"{op.name}: the tensors lie on different meshes."),
            instead="bring them to one with full_tensor() and distribute_tensor()")
    if write:
        return _written(op, call, args)
    if op is look:
        call(arrays[0].full(), *args[1:])                    # so that all processes raise the error, if one does
        return args[0]
    if op is fresh:
        return args[0].copy()
    if op is new_full:
        return _filled(call, *args)
    if op in _RANDOM or op.kernel in (drawn, drawn_beside):
        return _drawn(call, args)
    return _computed(op, call, args, mesh)


def _renew(view: DistributedArray) -> None:
    """Take a view again that has memory of its own, if what it views was written over since."""
    origin = view.origin
    if origin is None:
        return
    _renew(origin.viewed)
    if written_since(view, view.renewed):
        found = _computed(origin.op, origin.op.compute, (origin.viewed, *origin.options), view.mesh)
        np.copyto(view.local, (found if origin.place is None else found[origin.place]).to(view.placements).local)
        view.renewed = next_number()


# What makes arrays

def _without_parts(x: DistributedArray) -> tuple[Placement, ...]:
    """The placements of new numbers beside an array: they are no sums of parts."""
    return tuple([_WHOLE if isinstance(each, Partial) else each for each in x.placements])


def _filled(call: Callable[..., Any], x: DistributedArray, shape: tuple[int, ...], dtype: Any, value: Any) -> Any:
    places = _without_parts(x) if tuple(shape) == x.shape else (_WHOLE,) * x.mesh.ndim
    mine = [end - begin for begin, end in local_bounds(shape, x.mesh, places)]
    return distributed(call(x.local, tuple(mine), dtype, value), x.mesh, places, shape)


def _cut_out(array: Array, mesh: DeviceMesh, placements: Sequence[Placement]) -> Array:
    """The part of this process, of an array that each process has."""
    mine = tuple([slice(begin, end) for begin, end in local_bounds(array.shape, mesh, placements)])
    return array if all([isinstance(each, Replicate) for each in placements]) else array[mine].copy()


def _drawn(call: Callable[..., Any], args: tuple[Any, ...]) -> DistributedArray:
    """Random numbers. Each process draws all of them, and keeps its part."""
    x = found_in(args, DistributedArray)[0]
    found = call(*replaced(args, DistributedArray, lambda each: each.full()))
    places = _without_parts(x) if found.shape == x.shape else (_WHOLE,) * x.mesh.ndim
    return distributed(_cut_out(found, x.mesh, places), x.mesh, places, found.shape)


# Where to compute

def _cost(now: Placement, wanted: Placement, nbytes: int, count: int) -> float:
    """How many bytes a process sends to change the placement along a dim of the mesh.

    As in PyTorch, other cuts cost more than whole arrays, so results lie as PyTorch's lie.
    """
    if now == wanted or isinstance(now, Replicate):
        return 0.0
    if isinstance(wanted, Partial):
        return float("inf")
    gather = nbytes * (count - 1) / count
    if isinstance(now, Partial):
        return 2 * gather + (1 if isinstance(wanted, Replicate) else 2)
    return gather + (1 if isinstance(wanted, Replicate) else _DEAR)      # a part of no bytes stays a part, too


def _chosen(rule: Callable[[Asked], Any] | None, operands: Sequence[Any], args: tuple[Any, ...], outputs: int,
            mesh: DeviceMesh) -> list[Case]:
    """For each dim of the mesh, the case that moves the fewest bytes."""
    shapes, found = [x.shape for x in operands], []
    for i in range(mesh.ndim):
        now = [x.placements[i] if type(x) is DistributedArray else _WHOLE for x in operands]
        asked = Asked(shapes, now, args, lambda n: n % mesh.size() == 0)
        cases = [Case((_WHOLE,) * len(operands), whole(*(_WHOLE,) * outputs)), *(rule(asked) if rule else ())]
        cases += [*_cut_last(cases, now)]
        costs = [sum([_cost(at, to, x.size * x.itemsize, mesh.size(i)) for x, at, to in zip(operands, now, case.ins)])
                 for case in cases]
        found.append(cases[costs.index(min(costs))])
    return found


def _cut_last(cases: Sequence[Case], now: Sequence[Placement]) -> Iterator[Case]:
    """The cases with cuts that come after all others, if an operand has such a cut: parts of parts compute alike."""
    def last(placement: Placement, count: int) -> Placement:
        return _StridedShard(placement.dim, count) if isinstance(placement, Cut) else placement

    for count in {each.split_factor for each in now if isinstance(each, _StridedShard)}:
        for case in cases:
            yield Case(tuple([last(each, count) for each in case.ins]),
                       tuple([(last(each, count), n) for each, n in case.outs]))


def _rule_of(op: Any) -> Callable[[Asked], Any] | None:
    """The rule of an operator; None if all processes compute the whole."""
    rule = RULES.get(op)
    if rule is None and _by_element(op) and op.outputs == ("out",):
        return pointwise
    if rule is None and op is clone:
        return pointwise
    return rule


def _by_element(op: Any) -> bool:
    """Whether an operator computes each element by itself. Constants such as `isin` do not: they lie in rows."""
    return op.kind in ("elementwise", "constant") and op.layout == "elementwise"


def _is_array(value: Any) -> bool:
    return type(value) is DistributedArray or isinstance(value, np.ndarray)


def _operands(value: Any) -> list[Any]:
    """The arrays among arguments, also in lists and tuples."""
    if _is_array(value):
        return [value]
    return [x for part in value for x in _operands(part)] if type(value) in (list, tuple) else []


def _computed(op: Op, call: Callable[..., Any], args: tuple[Any, ...], mesh: DeviceMesh) -> Any:
    """The results of an operator, from the parts that the processes have."""
    given = [*args[0]] if op.variadic else [*args[:op.arity]]
    operands, rule = [x for x in given if _is_array(x)], _rule_of(op)
    if len(_operands(args)) != len(operands):              # arrays among the options, such as indices
        operands, rule = _operands(args), None
    outputs = len(op.outputs)
    cases = _chosen(rule, operands, args, outputs, mesh)
    parts = iter([_part(x, mesh, [case.ins[i] for case in cases]) for i, x in enumerate(operands)])
    local = _with_parts(args, parts)
    places = [[case.outs[k] if k < len(case.outs) else (_WHOLE, 0) for case in cases]
              for k in range(max([len(case.outs) for case in cases]))]
    if op in RESHAPING or op in SHAPE_AT:
        results = _reshaped(op, args, local, places[0], mesh)
    elif op in _ORDERED:
        results = call(*local[:-1], "K" if isinstance(local[-1], tuple) else local[-1])
    else:
        results = call(*local)
    apart = op.view and (args[0].origin is not None or args[0].placements != tuple([case.ins[0] for case in cases]))
    return _joined(op, args, results, mesh, places, apart)


def _part(x: Any, mesh: DeviceMesh, placements: Sequence[Placement]) -> Array:
    """The part of this process in some placements, of an array that lies otherwise or that each process has."""
    if type(x) is not DistributedArray:
        if not any([isinstance(each, Partial) for each in placements]):
            return _cut_out(x, mesh, placements)
        x = distributed(x, mesh, (_WHOLE,) * mesh.ndim, x.shape)
    return x.to(placements).local  # type: ignore[no-any-return]


def _with_parts(value: Any, parts: Any) -> Any:
    """Arguments with the next part in the place of each array."""
    if _is_array(value):
        return next(parts)
    if type(value) in (list, tuple):
        return type(value)([_with_parts(each, parts) for each in value])
    return value


def _reshaped(op: Op, args: tuple[Any, ...], local: tuple[Any, ...], places: Sequence[tuple[Placement, int]],
              mesh: DeviceMesh) -> Array:
    """The part of the result of an operator with an option that names the shape of the whole."""
    bounds = local_bounds(reshaped(op, args), mesh, [each for each, _ in places])
    mine = tuple([end - begin for begin, end in bounds])
    if op in RESHAPING:
        return local[0].reshape(mine)  # type: ignore[no-any-return]
    at = SHAPE_AT[op]
    return op.compute(*local[:at], mine, *local[at + 1:])  # type: ignore[no-any-return]


def _joined(op: Op, args: tuple[Any, ...], results: Any, mesh: DeviceMesh,
            places: Sequence[Sequence[tuple[Placement, int]]], apart: bool) -> Any:
    """The results of this process as parts of distributed arrays. Those of a view may have memory apart from it."""
    if type(results) is not tuple:
        found = _whole_of(op, args, results, mesh, places[0], None)
        if apart:
            _note_origin(found, Origin(args[0], op, args[1:], None))
        return found
    if len(places) < len(results):                         # as many outputs as the call decides
        places = [places[0]] * len(results)
    views = _inferred(op, args) if op.view else (None,) * len(results)
    several = tuple([_whole_of(op, args, each, mesh, lie, view) for each, lie, view in zip(results, places, views)])
    for place, each in enumerate(several if apart else ()):
        _note_origin(each, Origin(args[0], op, args[1:], place))
    return several


def _note_origin(view: DistributedArray, origin: Origin) -> None:
    view.origin, view.renewed = origin, next_number()


def _inferred(op: Op, args: tuple[Any, ...]) -> Any:
    """The geometry of the results of an operator that takes views."""
    return infer(op, op.compute, replaced(args, DistributedArray, lambda x: x.whole), False)


def _whole_of(op: Op, args: tuple[Any, ...], result: Array, mesh: DeviceMesh,
              lie: Sequence[tuple[Placement, int]], view: Any) -> DistributedArray:
    """A result of this process as a part of a distributed array."""
    placements = [each for each, _ in lie]
    if op.view:
        return DistributedArray(result, mesh, placements, _inferred(op, args) if view is None else view)
    if _by_element(op):
        return DistributedArray(result, mesh, placements, elementwise(
            [x.whole if type(x) is DistributedArray else x for x in _operands(args)], result.dtype))
    shape = [*result.shape]
    for placement, n in lie:
        if isinstance(placement, Cut):
            shape[placement.dim] = n
    cut = any([isinstance(each, Cut) for each in placements])
    order = args[-1] if op in _ORDERED and isinstance(args[-1], tuple) else None if cut else steps(result)
    return DistributedArray(result, mesh, placements, without_memory(tuple(shape), result.dtype, order))


# Writes

def _written(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Write over the part of this process."""
    target = args[0]
    if type(target) is not DistributedArray:
        raise noted(
            RuntimeError(f"{op.name}: a DTensor cannot be written over a tensor that is none."),
            instead="x.full_tensor() or x.to_local() for what is to be written")
    if op.kernel in (drawn, drawn_beside) or not _element_by_element(op, args):
        _write_whole(call, args)
    else:
        _write_parts(op, call, args)
    if target.origin is not None:
        _write_through(target, target.origin)


def _write_parts(op: Any, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Write each element by itself over the part of this process."""
    target = args[0]
    begin = 2 if getattr(call, "func", None) is write_over else 1          # the first operand is the target again
    others = args[begin:]
    _refuse_sums(op, target, others)
    places = [target.placements] * begin + [
        _without_parts(target) if op in _SCALING else target.placements] * len(others)
    if any([type(x) is np.ndarray and x.ndim for x in args]):
        call(*[_beside(x, target, lie) if _is_array(x) else x for x, lie in zip(args, places)])
    else:
        call(*[replaced(x, DistributedArray, partial(_beside, target=target, places=lie))
               for x, lie in zip(args, places)])


def _write_through(view: DistributedArray, origin: Origin) -> None:
    """Write the elements of a view over the array that was viewed, which has other memory."""
    viewed = origin.viewed
    whole = row_major(viewed.full())
    part = origin.op.compute(whole, *origin.options)
    np.copyto(part if origin.place is None else part[origin.place], view.full())
    _keep_part(viewed, whole)
    if viewed.origin is not None:
        _write_through(viewed, viewed.origin)


def _keep_part(target: DistributedArray, whole: Array) -> None:
    """Write the part of this process of a new whole. Raises RuntimeError for a sum of parts."""
    if _without_parts(target) != target.placements:
        raise noted(
            RuntimeError("in-place operations that require placement changes are not supported."),
            given=f"the placements {target.placements}", instead="call redistribute first")
    np.copyto(target.local, _cut_out(whole, target.mesh, target.placements))


def _element_by_element(op: Any, args: tuple[Any, ...]) -> bool:
    """Whether a write computes each element by itself."""
    return _by_element(op) and all([x.ndim <= args[0].ndim for x in _operands(args)])


# Operators that make a right sum of parts over a sum of parts: of other parts, and by factors that each process has.
_SUMMING = (add, sub, add_scaled, sub_scaled, add.written, sub.written, add_scaled.written, sub_scaled.written)
_SCALING = (mul, div, mul.written, div.written)


def _refuse_sums(op: Any, target: DistributedArray, others: tuple[Any, ...]) -> None:
    """Raise RuntimeError for a write over parts of a sum that would not be parts of the right sum."""
    reductions = [each for each in target.placements if isinstance(each, Partial)]
    if not reductions:
        return
    arrays = _operands(others)
    given = all([type(x) is DistributedArray and not _loses(x.dtype, target.dtype) for x in arrays])
    linear = all([each in (SUM, AVG) for each in reductions])
    summed = op in _SUMMING and linear and given
    scaled = op in _SCALING and linear and all([type(x) is DistributedArray or not x.ndim for x in arrays])
    if not (summed or scaled or (op is copy_elements and given) or op is zero):
        raise noted(
            RuntimeError(f"{op.name}: in-place operations that require placement changes are not supported."),
            given=f"the placements {target.placements}", instead="call redistribute first")


def _loses(now: Any, wanted: Any) -> bool:
    """Whether the parts of a sum, each of them converted, are no parts of the converted sum."""
    return now != wanted and (category(now) < FLOATING or category(wanted) < FLOATING)


def _beside(x: Any, target: DistributedArray, places: Sequence[Placement]) -> Array:
    """The part of an operand that belongs to the part of the target in this process, which lies in `places`."""
    if not x.ndim and type(x) is not DistributedArray:
        return x  # type: ignore[no-any-return]
    if x is target and places == target.placements:
        local: Array = target.local
        return local
    shift = len(target.shape) - len(x.shape)
    placements = [
        each if isinstance(each, Partial) else
        replace(each, dim=each.dim - shift)
        if isinstance(each, Cut) and each.dim >= shift and x.shape[each.dim - shift] != 1
        else _WHOLE for each in places]
    return _part(x, target.mesh, placements)


def _write_whole(call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Write over a copy of the whole in each process, and keep the part of this process."""
    target = args[0]
    copied = row_major(target.full()) if target.full() is not target.local else target.local.copy()
    call(*[copied if x is target else replaced(x, DistributedArray, lambda each: each.full()) for x in args])
    _keep_part(target, copied)


DistributedArray.renew = staticmethod(_renew)
