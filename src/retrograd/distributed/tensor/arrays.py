"""Arrays that lie on several processes: the part of this process, the mesh, and how the whole is made of all parts.

A `DistributedArray` shows the shape, the dtype and the strides of the whole. The seam hands calls with such arrays to
`calls.carry_out`, so operators, rules and optimizers work with them as they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from ...foundations.dtypes import Array
from ...foundations.errors import noted
from ...kernels.kinds import Geometry
from ...kernels.layout import owner_of, steps
from ...kernels.meta import MetaArray, without_memory
from ..device_mesh import DeviceMesh
from .moving import moved
from .placement_types import Cut, Partial, Placement, Replicate


class Origin(NamedTuple):
    """What a view was taken of: the viewed array, the operator, its options, and which of several results it is."""

    viewed: DistributedArray
    op: Any
    options: tuple[Any, ...]
    place: int | None


class DistributedArray(Geometry):
    """The part `local` of an array whose parts lie on the processes of `mesh`, one placement for each of its dims.

    `whole` is the geometry of the whole array. A view has an `origin` if its part is no part of what it views, since
    other processes have that. What is written over such a view is written over what it views, too, and counts as a
    write there. After a write over what it views, the view is taken again: `renewed` is the number of the last write
    that the part knows of.
    """

    __slots__ = ("__weakref__", "local", "mesh", "origin", "placements", "renewed", "whole")
    __array_ufunc__ = None
    in_rows = False                                      # so that each tensor over such an array gets its class
    # The class of a tensor over such an array, given its class over another array. The tensors fill it in.
    face: ClassVar[Callable[[type[Any]], type[Any]]]
    # Takes a view again after a write over what it views. The calls fill it in.
    renew: ClassVar[Callable[[DistributedArray], None]]

    def __init__(self, local: Array, mesh: DeviceMesh, placements: Sequence[Placement], whole: MetaArray) -> None:
        self.local, self.mesh, self.placements, self.whole = local, mesh, tuple(placements), whole
        self.origin: Origin | None = None
        self.renewed = 0

    like = property(lambda self: self.whole.like)
    base = property(lambda self: owner_of(self.local if self.origin is None else self.origin.viewed))
    offset = property(lambda self: self.whole.offset)
    nbytes = property(lambda self: self.local.nbytes)

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise noted(
            RuntimeError(".numpy() is not supported for tensor subclasses."),
            instead="x.to_local() for the part of this process, or x.full_tensor() for the whole")

    def __bool__(self) -> bool:
        """The truth of the one number, which all processes of the mesh ask for together."""
        return bool(self.full())

    def tolist(self) -> Any:
        """The numbers of the whole, which all processes of the mesh ask for together."""
        return self.full().tolist()

    def item(self) -> Any:
        """The number of the whole, which all processes of the mesh ask for together."""
        return self.full().item()

    def to(self, placements: Sequence[Placement]) -> DistributedArray:
        """The array in other placements: itself if it is there."""
        DistributedArray.renew(self)
        placements = tuple(placements)
        if placements == self.placements:
            return self
        local = moved(self.local, self.shape, self.mesh, self.placements, placements)
        return DistributedArray(local, self.mesh, placements, self.whole)

    def full(self) -> Array:
        """The whole array, which each process of the mesh gets."""
        return self.to((Replicate(),) * self.mesh.ndim).local

    def resized(self, shape: Sequence[int]) -> DistributedArray:
        """The same elements in another shape, row by row, and zeros behind them. What cannot be cut is whole."""
        old, new = np.ravel(self.full()), np.zeros(tuple(shape), self.dtype)
        count = min(old.size, new.size)
        new.reshape(-1)[:count] = old[:count]
        places = tuple([each if isinstance(each, Cut) and each.dim < new.ndim else Replicate()
                        for each in self.placements])
        local = moved(new, new.shape, self.mesh, (Replicate(),) * self.mesh.ndim, places)
        return distributed(local, self.mesh, places, new.shape)

    def copy(self, order: Any = "K") -> DistributedArray:
        """An array like this one, with memory of its own."""
        return DistributedArray(self.local.copy(order), self.mesh, self.placements, self.whole)


def distributed(local: Array, mesh: DeviceMesh, placements: Sequence[Placement], shape: Sequence[int],
                strides: Any = None) -> DistributedArray:
    """The array whose part in this process is `local`. `strides`, in elements, are those of the whole."""
    return DistributedArray(local, mesh, placements, without_memory(tuple(shape), local.dtype, strides))


def shown(array: DistributedArray) -> Array:
    """The part of this process. Outside of the mesh there is none: it is empty, or zero if there are no dims."""
    inside = array.mesh.get_coordinate() is not None
    return array.local if inside else np.zeros((0,) if array.ndim else (), array.dtype)


def whole_strides(part: Array, mesh: DeviceMesh, placements: Sequence[Placement]) -> tuple[int, ...]:
    """The strides of the whole, in elements, if all processes have a part that lies as this one does."""
    found = [*steps(part)]
    for i, placement in enumerate(placements):
        if isinstance(placement, Cut):
            inner = found[placement.dim]
            found = [step * mesh.size(i) if dim != placement.dim and step >= inner else step
                     for dim, step in enumerate(found)]
    return tuple(found)


def whole_shape(shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]) -> tuple[int, ...]:
    """The shape of the whole, if all processes have a part of this shape."""
    found = [*shape]
    for i, placement in enumerate(placements):
        if isinstance(placement, Cut):
            found[placement.dim] *= mesh.size(i)
    return tuple(found)


def checked_placements(mesh: DeviceMesh, placements: Sequence[Any] | None, rank: int) -> tuple[Placement, ...]:
    """The placements, with dims that count from the front. By default each process has the whole array.

    Raises ValueError if there is not one placement for each dim of the mesh, RuntimeError for what is no placement,
    and IndexError for a dim that a tensor of `rank` dims has not.
    """
    if placements is None:
        return (Replicate(),) * mesh.ndim
    if len(placements) != mesh.ndim:
        raise ValueError("`placements` must have the same length as `device_mesh.ndim`! Found placements length: "
                         f"{len(placements)}, and device_mesh.ndim: {mesh.ndim}.")
    for i, each in enumerate(placements):
        if not isinstance(each, Placement):
            raise RuntimeError(f"Trying to distribute tensor with unsupported placements {each} on device mesh "
                               f"dimension {i}!")
        if isinstance(each, Cut) and not -rank <= each.dim < rank:
            raise noted(
                IndexError(f"Dimension out of range (expected to be in range of [{-max(rank, 1)}, {max(rank, 1) - 1}], "
                           f"but got {each.dim})"),
                given=f"{each!r} for a tensor with {rank} dims")
    reductions = {each.reduce_op for each in placements if isinstance(each, Partial)}
    if len(reductions) > 1 and reductions != {"sum", "avg"}:
        raise ValueError("Mixed Partial reduce types are not supported in the same placement list. Found reduce ops: "
                         f"{reductions}. Please ensure all Partial placements use the same reduce operation.")
    return tuple([replace(each, dim=each.dim + rank) if isinstance(each, Cut) and each.dim < 0 else each
                  for each in placements])
