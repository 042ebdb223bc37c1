"""The borders between DTensors and tensors of one process, and moves. PyTorch's nodes have these names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.modes import local as state
from ...graph.crossings import Crossing, lasting
from ...tensors.state.base import CUSTOM, edge_of, make_view, plain, with_edge
from ..device_mesh import DeviceMesh
from .arrays import checked_placements, distributed, shown, whole_shape, whole_strides
from .calls import carry_out
from .placement_types import Partial, Placement, Replicate


def over(array: Any, mesh: DeviceMesh, placements: Sequence[Placement], shape: Any, stride: Any, edge: Any) -> Any:
    """The tensor whose part in this process is `array`."""
    found = whole_shape(array.shape, mesh, placements) if shape is None else shape
    return with_edge(distributed(array, mesh, placements, found, stride), edge)  # type: ignore[arg-type]


def _recorded(kind: type[_Border], x: Any, shape: tuple[int, ...], *facts: Any) -> Any:
    """The node of a border behind a tensor; None if nothing is recorded."""
    edge = edge_of(x) if state.thread.grad else None
    if edge is None:
        return None
    node = kind(None, (edge,), shape, x._array.dtype)
    node.facts = facts
    return node


class _Border(Crossing):
    """A border. `facts` are what its backward pass needs."""

    __slots__ = ("facts",)
    facts: tuple[Any, ...]


class _FromTorchTensorBackward(_Border):
    """From the part of this process to a DTensor."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        return (part_of(redistributed(cotangents[0], self.facts[0]), None),)


class _ToTorchTensorBackward(_Border):
    """From a DTensor to the part of this process. The pass meets DTensors from here on."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        state.thread.transform = carry_out                 # the end of the pass restores the former transform
        mesh, placements, shape = self.facts
        if mesh.get_coordinate() is None:                  # the part that was shown was empty
            cotangents = [plain(np.zeros(shape, cotangents[0]._array.dtype))]
        return (from_part(cotangents[0], mesh, placements, shape, None, None),)


class RedistributeBackward(_Border):
    """From some placements to others, and perhaps from one dtype to another."""

    __slots__ = ()

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        placements, moves_in, given = self.facts
        return (redistributed(cotangents[0].to(moves_in or given), placements).to(given),)


def _of_gradient(placements: Sequence[Placement]) -> tuple[Placement, ...]:
    """How the gradient of a tensor lies: as the tensor, and whole for parts of a sum."""
    return tuple([Replicate() if isinstance(each, Partial) else each for each in placements])


def from_part(x: Any, mesh: DeviceMesh, placements: tuple[Placement, ...], shape: Any, stride: Any,
              grad_placements: Sequence[Placement] | None) -> Any:
    """The tensor whose part in this process is the tensor `x`."""
    found = whole_shape(x._array.shape, mesh, placements) if shape is None else tuple(shape)
    node = _recorded(_FromTorchTensorBackward, x, found, tuple(grad_placements or _of_gradient(placements)))
    lain = whole_strides(x._array, mesh, placements) if shape is None else stride
    return over(x._array, mesh, placements, found, lain, node)


def part_of(x: Any, grad_placements: Sequence[Placement] | None) -> Any:
    """The part of this process as a tensor over the same memory.

    If the part has a history, it is a view that allows no write: the history of the whole would not know of the write.
    """
    array = x._array
    lie = (_of_gradient(array.placements) if grad_placements is None else
           checked_placements(array.mesh, grad_placements, array.ndim))
    array.renew(array)
    part = shown(array)
    node = _recorded(_ToTorchTensorBackward, x, part.shape, array.mesh, tuple(lie), array.shape)
    found = with_edge(part, node)
    if node is not None:
        make_view(found, plain(part), _same, CUSTOM)
    return found


def _same(array: Any) -> Any:
    return array.view()


def redistributed(x: Any, placements: tuple[Placement, ...], forward: Any = None, backward: Any = None) -> Any:
    """A tensor in other placements, and in the dtype `forward`. Its gradient moves back in the dtype `backward`."""
    given = x._array
    array = given if forward is None else x.detach().to(forward)._array
    node = _recorded(RedistributeBackward, x, given.shape, _of_gradient(given.placements), backward,
                     torch_dtype.of[given.dtype])
    if node is not None:
        node.dtype = array.dtype
    return with_edge(array.to(placements), node)


lasting.add(carry_out)
