"""How the parts of a distributed array change places: gathers, sums, exchanges and cuts along the dims of a mesh.

A dim of n elements is cut into chunks for p processes as `torch.chunk` cuts it: all chunks but the last ones have
ceil(n / p) elements. For the messages, shorter chunks are padded to that length.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.modes import local as state
from ...tensors.state.base import plain
from .. import collectives, exchanges
from ..device_mesh import DeviceMesh
from .placement_types import Cut, Partial, Placement, Replicate, _StridedShard


def bounds(n: int, count: int, place: int) -> tuple[int, int]:
    """Where the chunk of a process begins and ends, if `n` elements are cut for `count` processes."""
    length = -(-n // count)
    return min(n, place * length), min(n, (place + 1) * length)


def _turn(i: int, placement: Placement) -> tuple[bool, int]:
    """When the tensor is cut along a dim of the mesh: dim by dim, and parts of parts are cut last."""
    return isinstance(placement, _StridedShard), i


def _order(placements: Sequence[Placement]) -> list[int]:
    """The dims of the mesh, in the order in which the tensor is cut along them."""
    return sorted(range(len(placements)), key=lambda i: _turn(i, placements[i]))


def local_bounds(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]) -> list[tuple[int, int]]:
    """For each dim of the whole, where the part of this process begins and ends."""
    found = [(0, n) for n in shape]
    coordinate = mesh.get_coordinate()
    for i in _order(placements):
        placement = placements[i]
        if isinstance(placement, Cut):
            if coordinate is None:
                return [(0, 0) for _ in shape]
            first, last = found[placement.dim]
            begin, end = bounds(last - first, mesh.size(i), coordinate[i])
            found[placement.dim] = first + begin, first + end
    return found


def moved(part: Array, shape: Sequence[int], mesh: DeviceMesh, now: Sequence[Placement],
          wanted: Sequence[Placement]) -> Array:
    """The part of this process in the placements `wanted`, given its part in the placements `now`."""
    if mesh.get_coordinate() is None or tuple(now) == tuple(wanted):
        return part
    thread = state.thread
    before, thread.transform = thread.transform, None
    try:
        return _at_once(part, shape, mesh, now, wanted)
    finally:
        thread.transform = before


def _at_once(part: Array, shape: Sequence[int], mesh: DeviceMesh, now: Sequence[Placement],
             wanted: Sequence[Placement]) -> Array:
    """By one message if one dim of the mesh changes, otherwise by gathers first, and then cuts."""
    changed = [i for i, (old, new) in enumerate(zip(now, wanted)) if old != new]
    i = changed[0]
    old, new = now[i], wanted[i]
    others = [(j, each) for j, each in enumerate(now) if j != i and isinstance(each, Cut)]
    if len(changed) == 1 and isinstance(new, Cut):
        nested = {each.dim for _, each in others}
        last = all([each.dim != new.dim or _turn(j, each) < _turn(i, new) for j, each in others])
        if isinstance(old, Partial) and last:
            return _reduce_scatter(part, mesh, i, new.dim, old)
        if isinstance(old, Cut) and not nested & {old.dim, new.dim} and old.dim != new.dim:
            return _exchange(part, mesh, i, old.dim, new.dim, shape)
    undone = [_undone(j, now, wanted, changed) for j in range(mesh.ndim)]
    steps = [*now]
    for j in reversed(_order(now)):
        if undone[j]:
            part = _gathered(part, shape, mesh, j, steps)
            steps[j] = Replicate()
    for j in _order(wanted):
        if steps[j] != wanted[j]:
            part = _cut(part, mesh, j, wanted[j])
            steps[j] = wanted[j]
    return part


def _undone(j: int, now: Sequence[Placement], wanted: Sequence[Placement], changed: list[int]) -> bool:
    """Whether the placement along a dim of the mesh has to be undone: it changes, or it cuts what changes outside."""
    mine = now[j]
    if isinstance(mine, Replicate):
        return False
    return j in changed or (isinstance(mine, Cut) and any(
        [isinstance(each, Cut) and each.dim == mine.dim and _turn(i, each) < _turn(j, mine)
         for i in changed for each in (now[i], wanted[i])]))


def _gathered(part: Array, shape: Sequence[int], mesh: DeviceMesh, j: int, now: Sequence[Placement]) -> Array:
    """The part without the placement along a dim of the mesh: joined chunks, or the sum of all parts."""
    placement = now[j]
    if isinstance(placement, Partial):
        return placement.reduced(part, mesh.get_group(j))
    assert isinstance(placement, Cut)
    outer = local_bounds(shape, mesh, [each if _turn(i, each) < _turn(j, placement) else Replicate()
                                       for i, each in enumerate(now)])
    first, last = outer[placement.dim]
    return _joined(part, mesh, j, placement.dim, last - first)


def _padded(part: Array, dim: int, length: int) -> Array:
    """The part with zeros behind it, up to a length, which lies row by row."""
    if part.shape[dim] != length:
        part = np.concatenate([part, np.zeros((*part.shape[:dim], length - part.shape[dim], *part.shape[dim + 1:]),
                                              part.dtype)], axis=dim)
    return np.ascontiguousarray(part)


def _joined(part: Array, mesh: DeviceMesh, j: int, dim: int, n: int) -> Array:
    """The chunks of all processes along a dim of the mesh, joined along `dim`, which has `n` elements then."""
    count = mesh.size(j)
    given = _padded(part, dim, -(-n // count))
    into = np.empty((count, *given.shape), given.dtype)
    collectives.all_gather_single(plain(into), plain(given), mesh.get_group(j))
    sizes = [end - begin for begin, end in [bounds(n, count, place) for place in range(count)]]
    return np.concatenate([np.moveaxis(np.moveaxis(chunk, dim, 0)[:size], 0, dim)
                           for chunk, size in zip(into, sizes)], axis=dim)


def _chunks(part: Array, count: int, dim: int) -> list[Array]:
    """The chunks of a part, all padded to one length."""
    n = part.shape[dim]
    return [_padded(part[(slice(None),) * dim + (slice(*bounds(n, count, place)),)], dim, -(-n // count))
            for place in range(count)]


def _own(part: Array, dim: int, n: int, count: int, place: int) -> Array:
    """A padded chunk without what was added."""
    begin, end = bounds(n, count, place)
    return part if part.shape[dim] == end - begin else np.ascontiguousarray(
        part[(slice(None),) * dim + (slice(end - begin),)])


def _reduce_scatter(part: Array, mesh: DeviceMesh, j: int, dim: int, placement: Partial) -> Array:
    """The chunk of this process of the sum of all parts."""
    count, group = mesh.size(j), mesh.get_group(j)
    chunks = _chunks(placement.before(part), count, dim)
    into = np.empty_like(chunks[0])
    collectives.reduce_scatter(plain(into), [*map(plain, chunks)], placement.reduction, group)
    return placement.after(_own(into, dim, part.shape[dim], count, group.rank()))


def _exchange(part: Array, mesh: DeviceMesh, j: int, old: int, new: int, shape: Sequence[int]) -> Array:
    """Cut along `new` what was cut along `old`: each process sends a chunk to each other."""
    count, group = mesh.size(j), mesh.get_group(j)
    given = _chunks(_padded(part, old, -(-shape[old] // count)), count, new)
    into = [np.empty_like(chunk) for chunk in given]
    exchanges.all_to_all([*map(plain, into)], [*map(plain, given)], group)
    joined = np.concatenate([_own(chunk, old, shape[old], count, place) for place, chunk in enumerate(into)], axis=old)
    return _own(joined, new, part.shape[new], count, group.rank())


def _cut(part: Array, mesh: DeviceMesh, j: int, placement: Placement) -> Array:
    """The part of this process, cut from what all processes along a dim of the mesh have."""
    place, count = mesh.get_group(j).rank(), mesh.size(j)
    if isinstance(placement, Cut):
        begin, end = bounds(part.shape[placement.dim], count, place)
        return part[(slice(None),) * placement.dim + (slice(begin, end),)].copy()
    assert isinstance(placement, Partial)
    if placement.reduce_op not in ("sum", "avg", "max", "min"):
        raise ValueError(f"Replicate to Partial({placement.reduce_op}) conversion is not supported.")
    if placement.reduce_op == "sum":
        return part / np.asarray(count, part.dtype) if part.dtype.kind in "fcV" else (
            part if place == 0 else np.zeros_like(part))
    return part
