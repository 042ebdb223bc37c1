"""The class of tensors whose parts lie on several processes, and how calls of public functions with them run.

A DTensor is a tensor over a `DistributedArray`. Operators, gradients and writes are those of all tensors: the seam
hands each call to `calls.carry_out`. Here is what only a DTensor has, and the borders to tensors of one process.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, NoReturn

from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.errors import noted, warn
from ...foundations.modes import local as state, standing
from ...kernels.layout import steps
from ...nn.parameter import Parameter
from ...tensors.arguments.size import Size, size_of
from ...tensors.face.data import incompatible
from ...tensors.face.other_arrays import OtherArrayMethods
from ...tensors.recording.overriding import tensors_in
from ...tensors.state.base import TensorBase, meta_of, plain
from ...tensors.state.dispatch import DISPATCH, UNHANDLED
from ...tensors.tensor import Tensor
from .. import collectives, objects
from ..device_mesh import DeviceMesh
from .arrays import DistributedArray, checked_placements, shown
from .borders import from_part, over, part_of, redistributed
from .calls import carry_out
from .placement_types import Cut, Partial, Placement, Replicate, Shard

_AS_TENSOR_FIRST = "x.full_tensor() for the whole, or x.to_local() for the part of this process"


class TensorMeta(NamedTuple):
    """The shape, the strides and the dtype of a whole tensor."""

    shape: Size
    stride: tuple[int, ...]
    dtype: torch_dtype


class DTensorSpec(NamedTuple):
    """How a tensor lies on a mesh."""

    mesh: DeviceMesh
    placements: tuple[Placement, ...]
    tensor_meta: TensorMeta | None = None

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh."""
        return self.mesh


class DTensor(OtherArrayMethods, Tensor):
    """A tensor whose parts lie on the processes of a mesh. It has the shape and the methods of the whole tensor.

    `distribute_tensor` makes one from a whole tensor, and `DTensor.from_local` from the parts. Operators of DTensors
    give DTensors. All processes of the mesh make the same calls in the same order.
    """

    __module__ = "retrograd.distributed.tensor"
    __slots__ = ()
    _array: Any

    def __new__(cls, local_tensor: Any, spec: DTensorSpec, *, requires_grad: bool = False) -> Any:
        shape, stride = (spec.tensor_meta.shape, spec.tensor_meta.stride) if spec.tensor_meta else (None, None)
        made = over(local_tensor._array, spec.mesh, spec.placements, shape, stride, None)
        meta_of(made).leaf = requires_grad
        return made

    def __init__(self, *args: Any, **options: Any) -> None:
        """Does nothing: `__new__` does all."""

    # Where it lies

    @property
    def device_mesh(self) -> DeviceMesh:
        """The mesh of processes."""
        mesh: DeviceMesh = self._array.mesh
        return mesh

    @property
    def placements(self) -> tuple[Placement, ...]:
        """How the tensor lies, along each dim of the mesh."""
        found: tuple[Placement, ...] = self._array.placements
        return found

    @property
    def _local_tensor(self) -> Tensor:
        found: Tensor = plain(shown(self._array))
        return found

    @property
    def _spec(self) -> DTensorSpec:
        array = self._array
        return DTensorSpec(array.mesh, array.placements, TensorMeta(
            size_of(array.shape), steps(array.like), torch_dtype.of[array.dtype]))

    @staticmethod
    def from_local(local_tensor: Tensor, device_mesh: DeviceMesh | None = None,
                   placements: Sequence[Placement] | None = None, *, run_check: bool = False, shape: Any = None,
                   stride: Any = None, grad_placements: Sequence[Placement] | None = None) -> DTensor:
        """The DTensor whose part in this process is `local_tensor`. Gradients flow to the parts.

        All parts have one shape, unless `shape` and `stride` name those of the whole. With `run_check`, the processes
        compare their parts, and the first process along a dim of the mesh sends its part to those that should have the
        same. The gradient of a part lies as the part does, and is whole for a part of a sum; `grad_placements` says
        otherwise. A process outside of the mesh has an empty part.

        Raises RuntimeError for a DTensor and for dims that the part has not, and ValueError if the parts differ.
        """
        if isinstance(local_tensor, DTensor):
            raise RuntimeError("the local_tensor argument only accepts torch.Tensor but got "
                               f"{type(local_tensor)} value.")
        if not isinstance(local_tensor, TensorBase):
            raise noted(
                AttributeError(f"'{type(local_tensor).__name__}' object has no attribute 'device'"),
                instead="a tensor, such as torch.tensor(...)")
        if (shape is None) != (stride is None):
            raise RuntimeError(f"Found shape:{shape}, stride:{stride}.",
                               "Please pass both shape and stride at the same time.")
        mesh = device_mesh or DeviceMesh.entered()
        _check_dims(placements, local_tensor.ndim)
        places = checked_placements(mesh, placements, local_tensor.ndim)
        if run_check and mesh.get_coordinate() is not None:
            _check_alike(local_tensor, mesh, shape is None)
            for i, placement in enumerate(places):
                if isinstance(placement, Replicate):
                    local_tensor = local_tensor.contiguous()
                    collectives.broadcast(local_tensor.detach(), group_src=0, group=mesh.get_group(i))
        given = None if grad_placements is None else checked_placements(mesh, grad_placements, local_tensor.ndim)
        found: DTensor = from_part(local_tensor, mesh, places, shape, stride, given)
        return found

    def to_local(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The part of this process, over the same memory. Gradients flow to the whole.

        The part of a Parameter counts as a Parameter. A part with a history allows no writes.
        `grad_placements` says how the gradients of the parts lie, if not as the parts do.
        """
        found: Tensor = part_of(self, grad_placements)
        if isinstance(self, Parameter):
            found._is_param = True  # type: ignore[attr-defined]
        return found

    def redistribute(self, device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None, *,
                     async_op: bool = False, forward_dtype: Any = None, backward_dtype: Any = None) -> DTensor:
        """The same tensor in other placements, which moves in `forward_dtype`. Its gradient moves in `backward_dtype`.

        Raises RuntimeError if placements are missing, or are parts of a sum, and NotImplementedError for another mesh.
        """
        if device_mesh is not None and device_mesh != self.device_mesh:
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        places = checked_placements(self.device_mesh, placements, self.ndim)
        for now, wanted in zip(self.placements, places):
            if isinstance(wanted, Partial) and now != wanted:
                raise RuntimeError(f"Can not redistribute from {now} to {wanted}, redistributing to Partial is for "
                                   "internal use only!")
        found: DTensor = redistributed(self, places, forward_dtype, backward_dtype)
        return found

    def full_tensor(self, *, grad_placements: Sequence[Placement] | None = None) -> Tensor:
        """The whole tensor, which each process of the mesh gets."""
        whole = redistributed(self, (Replicate(),) * self.device_mesh.ndim)
        found: Tensor = part_of(whole, grad_placements)
        return found

    # What it has as every tensor has it

    def numpy(self, *, force: bool = False) -> NoReturn:
        """Raises RuntimeError: a DTensor is no array of this process."""
        raise noted(RuntimeError(".numpy() is not supported for tensor subclasses."), instead=_AS_TENSOR_FIRST)

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        self.numpy()

    def tolist(self) -> NoReturn:
        """Raises RuntimeError: a DTensor is no list of this process."""
        raise noted(
            RuntimeError(".tolist() is not supported for tensor subclasses, got DTensor"), instead=_AS_TENSOR_FIRST)

    @property
    def data(self) -> Any:
        """A tensor over the same parts without history."""
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, DTensor):
            raise incompatible("one of them is a DTensor")
        self._array = value._array

    def untyped_storage(self) -> Any:
        """The storage of the part of this process."""
        return self._local_tensor.untyped_storage()

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements of the whole."""
        return int(self._array.size * self._array.itemsize)

    def data_ptr(self) -> int:
        """The address of the part of this process."""
        return int(self._local_tensor.data_ptr())

    def _text(self) -> str:
        return repr(self)

    def __repr__(self, **options: Any) -> str:
        return (f"DTensor(local_tensor={self._local_tensor}, device_mesh={self.device_mesh}, "
                f"placements={self.placements})")

    __str__ = __repr__

    def _copied(self) -> Any:
        return self._array.copy()

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        array = self._array
        return rebuilt, (plain(array.local), array.mesh, array.placements, [*array.shape], [*steps(array.like)],
                         self.requires_grad, isinstance(self, Parameter))


def rebuilt(local: Any, mesh: DeviceMesh, placements: tuple[Placement, ...], shape: list[int], stride: list[int],
            requires_grad: bool, parameter: bool) -> Any:
    """A DTensor from its pickle, which has the part of the process that made the pickle, and no history."""
    found = over(local._array, mesh, placements, tuple(shape), tuple(stride), None)
    if parameter:
        return Parameter(found, requires_grad)
    meta_of(found).leaf = requires_grad
    return found


@cache
def _face(kind: type[Any]) -> type[Any]:
    """The class of a tensor over a distributed array that would be an instance of `kind` otherwise."""
    if kind is Tensor or issubclass(kind, DTensor):
        return DTensor if kind is Tensor else kind
    return types.new_class("DTensor", (DTensor, kind), {}, lambda body: body.update(
        __slots__=(), __module__=DTensor.__module__, __qualname__="DTensor", _plain_class=kind,
        __new__=kind.__new__, __repr__=DTensor.__repr__, __deepcopy__=DTensor.__deepcopy__))


def _check_dims(placements: Sequence[Placement] | None, rank: int) -> None:
    """Raise RuntimeError for a dim that a part with so many dims has not."""
    for i, each in enumerate(placements or ()):
        if isinstance(each, Cut) and each.dim >= rank:
            raise RuntimeError(f"Sharding dim {each.dim} greater than tensor ndim {rank} for placement number {i}")
        if isinstance(each, Cut) and each.dim < -rank:
            raise RuntimeError("Shard placements should have negative dims normalized in the user-facing APIs: "
                               f"{Shard(each.dim + rank)}")


def _check_alike(part: Tensor, mesh: DeviceMesh, geometry: bool) -> None:
    """Raise ValueError in all processes of the mesh unless their parts have one dtype, and one geometry if asked."""
    own = [str(part.dtype), part.requires_grad, *([[*part.shape], [*part.stride()]] if geometry else [])]
    for group in mesh.get_all_groups():
        said: list[Any] = [None] * group.size()
        objects.all_gather_object(said, own, group)
        alike = all([each == own for each in said])
        own = own if alike else []                       # so that the groups of other dims hear of it
    if not own:
        raise ValueError("Inconsistent tensor metadata (including shape and stride) across ranks.")


# Calls of public functions

def faced(result: Any) -> Any:
    """The result of a call. Each tensor over a distributed array in it gets the class of such tensors."""
    for tensor in tensors_in([result]):
        array: Any = tensor._array
        if type(array) is DistributedArray and not isinstance(tensor, DTensor):
            kind: Any = type(tensor)
            tensor.__class__ = _face(kind)
    return result


class Implicit:
    """Whether tensors of one process count as tensors that all processes have, in calls with DTensors."""

    allowed = False


# Functions that take DTensors and tensors of one process together.
_MIXED = frozenset(("backward", "grad", "__set__", "is_set_to", "swap_tensors", "is_same_size"))


def dispatch(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a public function that was called with a DTensor; UNHANDLED if no argument is one."""
    given = tensors_in((*args, *kwargs.values()))
    if state.thread.transform is carry_out or not any([isinstance(x, DTensor) for x in given]):
        return UNHANDLED
    name: str = function.__name__
    if name == "set_":
        raise noted(
            NotImplementedError("Operator aten.set_.default does not have a sharding strategy registered."),
            instead="x.data = another DTensor")
    if name not in _MIXED and not Implicit.allowed and any(
            [not isinstance(x, DTensor) and x._array.size != 1 for x in given]):
        raise noted(
            RuntimeError(f"aten.{name} got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to DTensor "
                         "before calling distributed operators!"),
            instead="distribute_tensor, or torch.distributed.tensor.experimental.implicit_replication()")
    if name not in _MIXED and any([not isinstance(x, DTensor) and x._array.shape == (1,) for x in given]):
        warn("Found a non-scalar tensor with numel=1 and ndim!=0, we are implicitly creating a replicated DTensor for "
             "it. However, please consider changing it to a scalar tensor or explicitly create a DTensor under "
             "distributed environment.", UserWarning)
    with standing(carry_out):
        return faced(function(*args, **kwargs))


DistributedArray.face = staticmethod(partial(_face))
DISPATCH.add_fallback(dispatch)
