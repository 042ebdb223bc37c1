"""Operations in which each process has something else for each other process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..foundations.dtypes import Array, dtype
from ..foundations.launching import mpi
from ..tensors.tensor import Tensor
from .buffers import Buffer, checked, checked_list, sendable
from .collectives import copy, done, outside, sizes
from .faults import DistBackendError
from .groups import ProcessGroup, member
from .team import Team, Work

__all__ = ["all_to_all", "all_to_all_single"]


def all_to_all(output_tensor_list: list[Tensor], input_tensor_list: list[Tensor], group: ProcessGroup | None = None,
               async_op: bool = False) -> Work | None:
    """Write over the outputs what each process has for this one. The shapes may differ between processes."""
    outputs = checked_list(output_tensor_list, "output_tensor_list")
    inputs = checked_list(input_tensor_list, "input_tensor_list")
    if outside(group, "all_to_all"):
        return None
    place = member(group)
    for kind, listed in (("input", inputs), ("output", outputs)):
        if len(listed) != place.size():
            raise RuntimeError(f"ProcessGroupGloo::alltoall: {kind} tensor list size {len(listed)} does not match "
                               f"world size {place.size()}")
    _one_dtype([*outputs, *inputs])
    if place.team is None:
        if outputs[0].shape != inputs[0].shape:
            raise RuntimeError(f"ProcessGroupGloo::alltoall: invalid tensor size at index 0 (expected "
                               f"{sizes(inputs[0])}, got {sizes(outputs[0])})")
        copy(outputs[0], inputs[0])
        return done(async_op, outputs)
    given = Buffer(np.concatenate([sendable(each).reshape(-1) for each in inputs]))
    into = Buffer(np.empty(sum(each.numel() for each in outputs), given.array.dtype))
    counts = [each.numel() for each in outputs]

    def finish() -> None:
        start = 0
        for tensor, count in zip(outputs, counts):
            np.copyto(tensor._array, into.flat[start:start + count].reshape(tensor.shape))
            start += count

    return _exchanged(place.team, "all_to_all", given, into, [each.numel() for each in inputs], counts, finish,
                      async_op, outputs)


def _one_dtype(tensors: Sequence[Tensor]) -> None:
    for each in tensors[1:]:
        if each.dtype is not tensors[0].dtype:
            raise ValueError("Invalid usage of tensors with different dtypesFound "
                             f"{tensors[0].dtype} and  {each.dtype}")
    sendable(tensors[0])


def _exchanged(team: Team, name: str, given: Buffer, into: Buffer, sent: list[int], received: list[int],
               finish: Callable[[], None], async_op: bool, results: Any) -> Work | None:
    """Exchange how many elements go from each process to each, and then the elements."""
    said = np.stack([sent, received], axis=1).astype(np.int64)
    heard = np.empty_like(said)

    def compare() -> Any:
        wrong = _unequal(team, said, heard)
        if wrong:
            team.give_up(f"{name}: {wrong}")
            raise DistBackendError(f"Detected mismatch between the sizes of {name} on ranks.\n  {wrong}")
        return move, finish

    def move() -> Any:
        kind = mpi().BYTE
        size = given.wire.itemsize
        places = [(np.array(counts) * size, np.concatenate(([0], np.cumsum(counts)[:-1])) * size)
                  for counts in (sent, received)]
        return team.comm.Ialltoallv([given.wire, *places[0], kind], [into.wire, *places[1], kind])

    return team.run(name, (dtype.of[given.array.dtype].name,), lambda: team.comm.Ialltoall(said, heard), compare,
                    async_op, results)


def _unequal(team: Team, said: Array, heard: Array) -> str:
    """Which process sends this one another number of elements than it expects, or the reverse; empty if none does.

    `said` has how many elements go to each process and come from there, and `heard` what these processes say.
    """
    own = team.ranks[team.rank]
    for rank, mine, theirs in zip(team.ranks, said.tolist(), heard.tolist()):
        for sender, receiver, count, expected in ((own, rank, mine[0], theirs[1]), (rank, own, theirs[0], mine[1])):
            if count != expected:
                return f"rank {sender} sends {count} elements to rank {receiver}, which expects {expected}"
    return ""


def _splits(tensor: Tensor, sizes: Any, group: int) -> list[int]:
    """How many rows go to each process, or come from it. Raises RuntimeError for wrong numbers, IndexError for no rows.
    """
    if not tensor.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    if sizes is None or len(sizes) == 0:
        if tensor.shape[0] % group:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [tensor.shape[0] // group] * group
    if len(sizes) != group:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != tensor.shape[0] or min(sizes) < 0:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [*sizes]


def all_to_all_single(output: Tensor, input: Tensor, output_split_sizes: Any = None, input_split_sizes: Any = None,
                      group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """`all_to_all` of one tensor, whose rows are for all processes one after the other, by default equally many."""
    checked(output, "output")
    checked(input, "input")
    if outside(group, "all_to_all_single"):
        return None
    place = member(group)
    _one_dtype([output, input])
    sent, received = _splits(input, input_split_sizes, place.size()), _splits(output, output_split_sizes, place.size())
    if place.team is None:
        copy(output, input)
        return done(async_op, [output])
    given, into = Buffer(sendable(input)), Buffer(sendable(output))
    row = [int(np.prod(each.shape[1:])) for each in (input, output)]
    return _exchanged(place.team, "all_to_all_single", given, into, [n * row[0] for n in sent],
                      [n * row[1] for n in received], into.unpack, async_op, [output])
