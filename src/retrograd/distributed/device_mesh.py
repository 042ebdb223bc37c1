"""torch.distributed.device_mesh: processes in rows, columns and higher dims, with a group along each dim.

A mesh is an array of ranks. The processes that differ in one dim only form the group of that dim. Each dim may have a
name, and a program takes out dims by their names: `mesh["rows"]`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np

from ..foundations.errors import noted, warn
from ..foundations.names import missing
from ..tensors.state.base import TensorBase, plain
from .distributed_c10d import init_process_group, new_group
from .groups import ProcessGroup, get_rank, get_world_size, is_initialized, member

__all__ = ["DeviceMesh", "init_device_mesh"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Ranks = np.ndarray[Any, Any]


class DeviceMesh:
    """Processes in an array of any number of dims. `mesh` has their ranks among all processes.

    All processes make the same meshes in the same order, since each mesh makes groups. The device is the CPU, whatever
    `device_type` says. Inside of `with mesh:`, functions that take a mesh use this mesh if none is given.

    Raises RuntimeError for more ranks than there are processes, or if a rank comes twice.
    """

    _entered: ClassVar[list[DeviceMesh]] = []
    # The groups of the meshes that there are, by their ranks.
    _known: ClassVar[WeakValueDictionary[tuple[int, ...], ProcessGroup]] = WeakValueDictionary()

    def __init__(self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None,
                 backend_override: Any = None, _init_backend: bool = True) -> None:
        if not is_initialized():
            init_process_group()
        if mesh is None:
            raise TypeError("The mesh argument is required except for PRIVATE USAGE ONLY!")
        ranks = np.array(mesh._array if isinstance(mesh, TensorBase) else mesh, np.int32)
        if ranks.size > get_world_size():
            raise RuntimeError(f"Mesh should not be bigger than default world size {get_world_size()}, but found "
                               f"{ranks.size} ranks!")
        if np.unique(ranks).size != ranks.size:
            raise noted(
                RuntimeError("DeviceMesh cannot have duplicate ranks."), because="each process has one place in a mesh")
        groups = [_own_group(ranks, dim) for dim in range(ranks.ndim)] if _init_backend else []
        self._fill(device_type, ranks, mesh_dim_names, groups, self, _row_steps(ranks.shape))

    def _fill(self, device_type: str, ranks: Ranks, names: Sequence[str] | None, groups: list[Any],
              root: DeviceMesh, steps: Sequence[Any]) -> None:
        self.device_type, self._ranks, self._groups, self._root = device_type, ranks, groups, root
        self._steps = tuple(steps)                         # from one process to the next in the root, along each dim
        self.mesh_dim_names = None if names is None else tuple(names)
        self._flattened: dict[str, DeviceMesh] = {}
        self._behind: tuple[str, ...] = ()                 # the dims of the root that were flattened to this mesh
        self._known.update({tuple(group.ranks): group for group in groups if isinstance(group, ProcessGroup)})
        found = np.argwhere(ranks == get_rank())
        self._coordinate = tuple(map(int, found[0])) if len(found) else None

    @property
    def mesh(self) -> Any:
        """The ranks, as a tensor."""
        return plain(self._ranks)

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return self._ranks.ndim

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of processes along each dim."""
        found: tuple[int, ...] = self._ranks.shape
        return found

    def size(self, mesh_dim: int | None = None) -> int:
        """The number of processes, along one dim or of the mesh."""
        return self._ranks.size if mesh_dim is None else self._ranks.shape[mesh_dim]

    def get_rank(self) -> int:
        """The rank of this process among all."""
        return get_rank()

    def _get_root_mesh(self) -> DeviceMesh:
        """The mesh that this one was taken from; the mesh itself if it was not."""
        return self._root

    def _is_current_rank_part_of_mesh(self) -> bool:
        """Whether this process is in the mesh."""
        return self._coordinate is not None

    def get_coordinate(self) -> tuple[int, ...] | None:
        """The place of this process along each dim; None if the process is not in the mesh."""
        return self._coordinate

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """The place of this process along one dim, which a mesh of one dim need not name."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to "
                               "be specified when device_mesh.ndim > 1.")
        return get_rank(self.get_group(mesh_dim))

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """The group along one dim, which a mesh of one dim need not name. Raises RuntimeError if it must be named."""
        if self.ndim > 1 and mesh_dim is None:
            raise RuntimeError(f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to "
                               "be specified when device_mesh.ndim > 1. If you want to get the list of all the "
                               "ProcessGroups in the DeviceMesh, please use `get_all_groups()` instead.")
        if not self._groups:
            raise RuntimeError("DeviceMesh process groups not initialized!")
        if isinstance(mesh_dim, str) and mesh_dim in self._root._flattened:
            return self._root._flattened[mesh_dim].get_group()
        found = self._groups[self._place(mesh_dim or 0)]
        if not isinstance(found, ProcessGroup):
            raise noted(
                IndexError("list index out of range"),
                because="this process is not in the mesh, so it has no group there",
                instead="ask mesh.get_coordinate() first: it is None in such a process")
        return found

    def get_all_groups(self) -> list[ProcessGroup]:
        """The groups along all dims."""
        return [self.get_group(dim) for dim in range(self.ndim)]

    def _place(self, dim: int | str) -> int:
        """The number of a dim. Raises KeyError for a name that the mesh has not."""
        if isinstance(dim, int):
            return dim
        if not self.mesh_dim_names:
            raise KeyError("No `mesh_dim_names` found.")
        if dim not in self.mesh_dim_names:
            raise KeyError(f"Mesh dimension '{dim}' does not exist.",
                           f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}")
        return self.mesh_dim_names.index(dim)

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """The mesh of some dims, at the place of this process along all others. Its groups are those of this mesh.

        Raises RuntimeError for a mesh without names, and KeyError for a name that the mesh has not.
        """
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        flattened = self._flattened if self._root is self else {}
        valid = [*self.mesh_dim_names, *flattened]
        if not {*names} <= {*valid}:
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are {valid}.")
        if {*names} & {*flattened}:
            warn("Slicing a flattened dim from root mesh will be deprecated in PT 2.11. Users need to bookkeep the "
                 "flattened mesh directly. ", UserWarning)
        if len(names) == 1 and names[0] in flattened:
            return flattened[names[0]]
        self._check_order(names, [dim for name in names for dim in self._dims_behind(name)])
        return self._taken(names)

    def _taken(self, names: tuple[str, ...]) -> DeviceMesh:
        """The mesh of dims that the mesh has, in any order, at the place of this process along all others."""
        flattened = self._flattened if self._root is self else {}
        dims = [self._dims_behind(name) for name in names]
        at, kept = self._coordinate or (0,) * self.ndim, [dim for part in dims for dim in part]
        part = self._ranks[tuple([slice(None) if dim in kept else at[dim] for dim in range(self.ndim)])]
        part = part.transpose(np.argsort(np.argsort(kept))).reshape([self._size_of(each) for each in dims])
        return self._derived(part, names, [
            flattened[name]._groups[0] if name in flattened else self._groups[each[0]]
            for name, each in zip(names, dims)], [_inner_step([self._steps[dim] for dim in each]) for each in dims])

    @staticmethod
    def _concatenate(device_mesh_list: Sequence[DeviceMesh]) -> DeviceMesh:
        """The mesh of the dims of several meshes that were taken from one. Raises RuntimeError for other meshes."""
        root = device_mesh_list[0]._root
        if any([not np.array_equal(mesh._root._ranks.ravel(), root._ranks.ravel()) for mesh in device_mesh_list]):
            raise noted(
                RuntimeError("Cannot concatenate DeviceMeshes derived from different device meshs"),
                instead='take all meshes from one mesh, by the names of its dims: mesh["dp"], mesh["tp"]')
        if any([mesh.mesh_dim_names is None for mesh in device_mesh_list]):
            raise TypeError("Invariant encountered: value was None when it should not be")
        names = tuple([name for mesh in device_mesh_list for name in mesh.mesh_dim_names or ()])
        known = all([mesh._root == root for mesh in device_mesh_list])
        dims = [dim for name in names for dim in root._dims_behind(name)] if known else []
        if not known or len({*dims}) != len(dims):
            raise RuntimeError(f"Cannot concatenate overlapping meshes: {[*device_mesh_list]}")
        return root._taken(names)

    def _dims_behind(self, name: str) -> list[int]:
        """The dims that a name stands for: several, if dims of the root were flattened."""
        names = self.mesh_dim_names or ()
        return [names.index(name)] if name in names else [names.index(each) for each in self._flattened[name]._behind]

    def _check_order(self, names: tuple[str, ...], dims: list[int]) -> None:
        """Raise KeyError for dims in another order than that of the mesh, and RuntimeError if one comes twice."""
        long = [dim for dim in dims if self._ranks.shape[dim] > 1]
        if long != sorted(long):
            raise KeyError(f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in ascending order.")
        if len({*dims}) != len(dims):
            raise RuntimeError(f"Slicing overlapping dim_names {names} is not allowed.")

    def _size_of(self, dims: Sequence[int]) -> int:
        return int(np.prod([self._ranks.shape[dim] for dim in dims]))

    def _derived(self, ranks: Ranks, names: Sequence[str] | None, groups: list[Any], steps: Sequence[Any],
                 ) -> DeviceMesh:
        made = object.__new__(DeviceMesh)
        made._fill(self.device_type, ranks, names, groups, self._root, steps)
        return made

    def _flatten(self, mesh_dim_name: str | None = None, backend_override: Any = None) -> DeviceMesh:
        """The processes of this mesh in one row. All processes call it, since it makes a group.

        Raises RuntimeError for a mesh without names, and ValueError for a name that is taken.
        """
        if not self.mesh_dim_names:
            raise RuntimeError("Cannot flatten a DeviceMesh without mesh_dim_names!")
        name, root = mesh_dim_name or "_".join(self.mesh_dim_names), self._root
        if self.mesh_dim_names == (name,):
            return self
        if name in (root.mesh_dim_names or ()):
            raise ValueError(f"{name} already exists for submesh of the {root}. The mesh_dim_names of submesh and "
                             f"flattened mesh are {root.mesh_dim_names}. Please specify another valid mesh_dim_name.")
        behind = tuple([each for one in self.mesh_dim_names for each in (
            root._flattened[one]._behind if one in root._flattened else (one,))])
        if name in root._flattened:
            if root._without_single(root._flattened[name]._behind) != root._without_single(behind):
                raise ValueError(f"Flatten mesh with mesh_dim_name {name} has been created before, Please specify "
                                 "another valid mesh_dim_name.")
            return root._flattened[name]
        dims = [(root.mesh_dim_names or ()).index(each) for each in behind]
        rest = [dim for dim in range(root.ndim) if dim not in dims]
        rows = root._ranks.transpose(*rest, *dims).reshape(-1, self.size())
        group, at = _own_group(rows, 1), np.argwhere(rows == get_rank())
        made = self._derived(rows[at[0][0] if len(at) else 0], (name,), [group], [_inner_step(self._steps)])
        made._behind = behind
        root._flattened[name] = made
        return made

    def _without_single(self, names: Sequence[str]) -> list[str]:
        """The names of the dims that have several processes: the others change nothing in a row of processes."""
        return [name for name in names if self._ranks.shape[(self.mesh_dim_names or ()).index(name)] > 1]

    @staticmethod
    def from_group(group: Any, device_type: str, mesh: Any = None, *,
                   mesh_dim_names: tuple[str, ...] | None = None) -> DeviceMesh:
        """The mesh of a group, or of a list of groups with the `mesh` whose dims they belong to."""
        made = object.__new__(DeviceMesh)
        if isinstance(group, ProcessGroup):
            if mesh is not None and (mesh.tolist() if isinstance(mesh, TensorBase) else mesh) != [*group.ranks]:
                raise ValueError(f"Invalid mesh {mesh} for ProcessGroup with ranks {[*group.ranks]}")
            ranks = np.array(group.ranks, np.int32)
            made._fill(device_type, ranks, mesh_dim_names, [group], made, _row_steps(ranks.shape))
            return made
        groups = list(group)
        if not groups:
            raise ValueError("Expects at least one ProcessGroup to be passed")
        if mesh is None:
            raise ValueError("Must pass mesh if passing multiple ProcessGroups")
        if mesh_dim_names is None:
            raise ValueError("Must pass mesh_dim_names if passing multiple ProcessGroups")
        ranks = np.array(mesh._array if isinstance(mesh, TensorBase) else mesh, np.int32)
        if ranks.ndim != len(groups):
            raise ValueError(f"Expects mesh with ndim equal to number of ProcessGroups but got mesh {ranks.tolist()} "
                             f"and {len(groups)} ProcessGroups")
        made._fill(device_type, ranks, mesh_dim_names, groups, made, _row_steps(ranks.shape))
        return made

    def __enter__(self) -> DeviceMesh:
        DeviceMesh._entered.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        DeviceMesh._entered.pop()

    @classmethod
    def entered(cls) -> DeviceMesh:
        """The mesh of the innermost `with`. Raises RuntimeError if there is none."""
        if not cls._entered:
            raise RuntimeError("No device mesh is currently active!")
        return cls._entered[-1]

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.device_type, self._ranks.tolist(), self.mesh_dim_names,
                        [[*group.ranks] if isinstance(group, ProcessGroup) else None for group in self._groups],
                        self._steps)

    def __repr__(self) -> str:
        sizes = (f"({', '.join(f'{name}={n}' for name, n in zip(self.mesh_dim_names, self.shape))})"
                 if self.mesh_dim_names else str(self.shape))
        return f"DeviceMesh({sizes}, {self.device_type!r}, stride={self._steps})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, DeviceMesh) and self.device_type == other.device_type
                                 and self.mesh_dim_names == other.mesh_dim_names
                                 and np.array_equal(self._ranks, other._ranks))

    def __hash__(self) -> int:
        return hash((self._ranks.tobytes(), self.shape, self.device_type, self.mesh_dim_names))


def _again(device_type: str, ranks: Any, names: tuple[str, ...] | None, groups: list[Any], steps: Sequence[Any],
           ) -> DeviceMesh:
    """A mesh from its pickle. Its groups are those with these ranks that this process has; it may have none of them."""
    made = object.__new__(DeviceMesh)
    found = [None if own is None else DeviceMesh._known.get(tuple(own)) for own in groups]
    made._fill(device_type, np.array(ranks, np.int32), names, [] if None in found else found, made, steps)
    return made


def _row_steps(shape: Sequence[int]) -> tuple[Any, ...]:
    """The steps from one process to the next along each dim of a mesh that was not taken from another."""
    return tuple([int(np.prod(shape[dim + 1:])) if n != 1 else () for dim, n in enumerate(shape)])


def _inner_step(steps: Sequence[Any]) -> Any:
    """The step along dims that have become one: that of the last of them with several processes."""
    return next((step for step in reversed(steps) if step != ()), ())


def _own_group(ranks: Ranks, dim: int) -> Any:
    """The group of this process along a dim. All groups along the dim are made, by all processes."""
    own: Any = None
    rows = np.moveaxis(ranks, dim, -1).reshape(-1, ranks.shape[dim])
    for row in rows.tolist():
        whole = row == [*range(get_world_size())]
        made = member() if whole else new_group(row, sort_ranks=False)
        if get_rank() in row:
            own = made
    return own


def init_device_mesh(device_type: str, mesh_shape: tuple[int, ...], *,
                     mesh_dim_names: tuple[str, ...] | None = None, backend_override: Any = None) -> DeviceMesh:
    """A mesh of all processes, rank by rank. It begins the group of all processes if the program has not.

    Raises RuntimeError if names are repeated, or if there is not one name for each dim.
    """
    if mesh_dim_names is not None:
        if len({*mesh_dim_names}) != len(mesh_dim_names):
            raise RuntimeError("Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                               f"{mesh_dim_names}")
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError("mesh_shape and mesh_dim_names should have same length! "
                               f"Found len(mesh_dim_names): {len(mesh_dim_names)} and len(mesh_shape):"
                               f"{len(mesh_shape)}.")
    if device_type and not device_type.isalpha():
        raise RuntimeError(f"Device type with index is not supported but got {device_type}. ",
                           "If you maintained a 'torch.device' object, it's recommended to pass in "
                           "'device.type'.")
    if not is_initialized():
        init_process_group("gloo" if "RANK" in os.environ else None)
    size = int(np.prod(mesh_shape))
    if size > get_world_size():
        raise RuntimeError(f"Mesh should not be bigger than default world size {get_world_size()}, but found {size} "
                           "ranks!")
    return DeviceMesh(device_type, np.arange(size).reshape(mesh_shape), mesh_dim_names=mesh_dim_names)
