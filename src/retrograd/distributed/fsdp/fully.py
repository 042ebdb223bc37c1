"""`fully_shard`: each process keeps a part of each parameter, of its gradient and of the state of its optimizer.

The parameters are DTensors that are cut along a dim. Before a module computes, its parameters are gathered, and the
module sees the whole tensors as its attributes. Afterwards the module has its DTensors again. What the graph saves of a
whole parameter is forgotten, too, and gathered again in the backward pass. There, the gradients of all processes are
averaged, and each process gets its part of the average.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any, NoReturn

from ...autograd.grad_mode import no_grad
from ...autograd.saved_tensors import saved_tensors_hooks
from ...foundations.errors import noted
from ...kernels.layout import owner_of, steps
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...tensors.functions.shapes.geometry import as_strided
from ...utils._pytree import tree_map
from ..device_mesh import DeviceMesh, init_device_mesh
from ..groups import get_world_size, is_initialized
from ..tensor.dtensor import DTensor
from ..tensor.making import distribute_tensor
from ..tensor.placement_types import Partial, Replicate, Shard, _StridedShard


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes that a module computes in: of its parameters and inputs, and of its outputs."""

    param_dtype: Any = None
    reduce_dtype: Any = None
    output_dtype: Any = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Where parts lie while they are not used: where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parts lie on the CPU, where everything lies here."""

    pin_memory: bool = True


class UnshardHandle:
    """What `unshard(async_op=True)` returns. The parameters are whole already."""

    def wait(self) -> None:
        """Returns at once."""


class _Group:
    """The parameters that `fully_shard` cut in one call: their modules and names."""

    def __init__(self, mesh: DeviceMesh, policy: MixedPrecisionPolicy, reshard: bool) -> None:
        self.mesh, self.policy, self.reshard = mesh, policy, reshard
        self.owners: dict[Any, list[tuple[Module, str]]] = {}
        self.split: dict[Any, DeviceMesh] = {}             # of the parameters of layers that were split before
        self.whole: dict[Any, Any] = {}
        self.depth = 0

    def gather(self) -> None:
        """Give the modules the whole parameters."""
        if not self.whole:
            for parameter, places in self.owners.items():
                full = self._gathered(parameter)
                if self.policy.param_dtype is not None:
                    full = full.to(self.policy.param_dtype)
                full._is_param = True                      # so that it is a Parameter among the others
                self.whole[parameter] = full
                for module, name in places:
                    module._parameters[name] = full

    def _gathered(self, parameter: Any) -> Any:
        """The whole of a parameter. Of a layer that was split before, it is the whole part, as a DTensor."""
        dims = self.mesh.ndim
        average, inner = (Partial("avg"),) * dims, parameter.placements[dims:]
        if not inner:
            return parameter.full_tensor(grad_placements=average)
        moved = parameter.redistribute(placements=(*(Replicate(),) * dims, *inner))
        return DTensor.from_local(moved.to_local(grad_placements=(*average, *inner)), self.split[parameter], inner,
                                  shape=parameter.shape, stride=parameter.stride())

    def scatter(self) -> None:
        """Give the modules their DTensors again."""
        for parameter, places in self.owners.items():
            for module, name in places if parameter in self.whole else ():
                module._parameters[name] = parameter
        self.whole = {}

    @contextmanager
    def gathered(self) -> Iterator[None]:
        """The parameters are whole inside. What is saved of them is gathered again when it is used."""
        self.gather()
        self.depth += 1
        try:
            if self.reshard:
                owners = {id(owner_of(full._array)): parameter for parameter, full in self.whole.items()}
                with saved_tensors_hooks(lambda saved: self._pack(saved, owners), self._unpack):
                    yield
            else:
                yield
        finally:
            self.depth -= 1
            if not self.depth:
                self.scatter()

    def _pack(self, saved: Any, owners: dict[int, Any]) -> Any:
        """In the place of a view of a whole parameter: which parameter it is, and its geometry.

        A DTensor stays as it is: it has the part of a split layer.
        """
        array = saved._array
        parameter = owners.get(id(owner_of(array)))
        if parameter is None or isinstance(saved, DTensor):
            return saved
        return parameter, array.shape, steps(array), saved.storage_offset()

    def _unpack(self, packed: Any) -> Any:
        if not isinstance(packed, tuple):
            return packed
        parameter, shape, strides, offset = packed
        with no_grad():
            full = parameter.detach().full_tensor()
            full = full if self.policy.param_dtype is None else full.to(self.policy.param_dtype)
            return as_strided(full, shape, strides, offset)


class FSDPModule:
    """What a module has after `fully_shard`: a class of its own, which is derived from its former class and from this.
    """

    _sharded: _Group

    def state_dict(self, *args: Any, **kwargs: Any) -> Any:
        """The state, with the parts of the parameters. Outside of a call, the module gets its DTensors again first."""
        if not self._sharded.depth:
            self._sharded.scatter()
        return super().state_dict(*args, **kwargs)  # type: ignore[misc]

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Give the module whole parameters until `reshard`, or until it has computed."""
        self._sharded.gather()
        return UnshardHandle() if async_op else None

    def reshard(self) -> None:
        """Give the module its DTensors again."""
        self._sharded.scatter()

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Whether whole parameters are forgotten after the forward pass, and gathered again in the backward pass."""
        for group in self._groups(recurse):
            group.reshard = reshard_after_forward

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise noted(
            AssertionError("FSDP does not support deepcopy. Please use state dict for serialization."),
            because="the copy would compute with the parameters of the module",
            instead="copy the module before fully_shard, and load the state")

    def _groups(self, recurse: bool) -> list[_Group]:
        modules = self.modules() if recurse else [self]  # type: ignore[attr-defined]
        return [module._sharded for module in modules if isinstance(module, FSDPModule)]

    def set_requires_gradient_sync(self, requires_gradient_sync: bool, *, recurse: bool = True) -> None:
        """Gradients are averaged in each backward pass, since only parts have a place for them. The sums are the same.
        """

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """As `set_requires_gradient_sync`."""

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """As `set_requires_gradient_sync`."""


def fully_shard(module: Any, *, mesh: DeviceMesh | None = None, reshard_after_forward: bool | int | None = None,
                shard_placement_fn: Callable[[Any], Shard | None] | None = None,
                mp_policy: MixedPrecisionPolicy | None = None, offload_policy: OffloadPolicy | None = None,
                ignored_params: set[Any] | None = None) -> Any:
    """Cut the parameters of a module over the processes of a mesh, by default over all. Returns the module.

    Parameters of a module inside to which `fully_shard` was applied first stay as they are. The parts of a layer that
    `parallelize_module` has split are cut again: both meshes are then dims of one mesh. Of a mesh with two dims, the
    processes along the first have the same parts. `shard_placement_fn(parameter)` says along which dim to cut, by
    default the first. An optimizer is made afterwards, with the new parameters.

    Raises ValueError for a list or dict of modules, which has no forward pass, and NotImplementedError for a dtype to
    average gradients in.
    """
    modules = [*module] if isinstance(module, (list, tuple)) else [module]
    for each in modules:
        if type(each).__name__ in ("ModuleList", "ModuleDict"):
            raise ValueError(f"fully_shard does not support containers that do not implement forward: {each}")
        if isinstance(each, FSDPModule):
            raise AssertionError("Each distinct composable distributed API can only be applied to a module once. "
                                 f"fully_shard has already been applied to the following module:\n{each}")
    policy = mp_policy or MixedPrecisionPolicy()
    if policy.reduce_dtype not in (None, policy.param_dtype):
        raise NotImplementedError("MixedPrecisionPolicy(reduce_dtype=...): gradients are averaged in the dtype of the "
                                  "parameters. Leave it out.")
    found = mesh or _usual_mesh()
    if found.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {found}")
    group = _Group(found, policy, bool(reshard_after_forward is None or reshard_after_forward))
    _distribute(modules, group, shard_placement_fn, ignored_params or set())
    for each in modules:
        each.__class__ = type(f"FSDP{type(each).__name__}", (FSDPModule, type(each)), {})
        each._sharded = group
        each.forward = _computing(each.forward, group)
    return module


def _usual_mesh() -> DeviceMesh:
    """The mesh of all processes."""
    if not is_initialized():
        return init_device_mesh("cpu", (1,))
    return init_device_mesh("cpu", (get_world_size(),))


def _distribute(modules: Sequence[Module], group: _Group, place: Callable[[Any], Shard | None] | None,
                ignored: set[Any]) -> None:
    """Cut the parameters of modules, and tell the group where each is used. Parameters may be shared."""
    made: dict[int, Any] = {}
    inside = dict.fromkeys([inner for module in modules for inner in module.modules()])
    cut_before = {id(parameter) for inner in inside if isinstance(inner, FSDPModule)
                  for parameter in inner._sharded.owners}
    for owner in inside:
        for name, parameter in [*owner._parameters.items()]:
            if parameter is None or id(parameter) in cut_before or parameter in ignored:
                continue
            if id(parameter) not in made:
                chosen = place and place(parameter)
                _check_parameter(name, parameter, chosen)
                dim = 0 if chosen is None else chosen.dim % parameter.ndim
                made[id(parameter)] = cut = Parameter(_cut(parameter, group.mesh, dim), parameter.requires_grad)
                cut_before.add(id(cut))
                if isinstance(parameter, DTensor):
                    group.split[cut] = parameter.device_mesh
            owner._parameters[name] = made[id(parameter)]
            group.owners.setdefault(made[id(parameter)], []).append((owner, name))


def _cut(parameter: Any, mesh: DeviceMesh, dim: int) -> DTensor:
    """A parameter, or the part of it that this process has of a split layer, cut along the last dim of a mesh."""
    outer = (Replicate(),) * (mesh.ndim - 1)
    if not isinstance(parameter, DTensor):
        return distribute_tensor(parameter.detach(), mesh, (*outer, Shard(dim)), src_data_rank=None)
    inner = parameter.placements
    count = math.prod([parameter.device_mesh.size(i) for i, each in enumerate(inner) if each.is_shard(dim)])
    both = DeviceMesh._concatenate([mesh, parameter.device_mesh])
    part = DTensor.from_local(parameter.detach().to_local(), both, (*outer, Replicate(), *inner),
                              shape=parameter.shape, stride=parameter.stride())
    return part.redistribute(placements=(*outer, _StridedShard(dim, count) if count > 1 else Shard(dim), *inner))


def _check_parameter(name: str, parameter: Any, cut: Any) -> None:
    """Raise an error for a parameter that is not cut, or not along this dim."""
    if not parameter.ndim:
        raise ValueError(f"fully_shard doesn't support scalar parameters. Change {name} to a 1D tensor with numel "
                         "equal to 1.")
    if cut is not None and not isinstance(cut, Shard):
        raise ValueError(f"Invalid shard_placement_fn result: {cut}")
    if cut is not None and not -parameter.ndim <= cut.dim < parameter.ndim:
        raise AssertionError(f"Shard dim {cut.dim} is invalid for {parameter.ndim}D tensor: {parameter.shape}")
    if not parameter.is_contiguous():
        raise NotImplementedError(f"FSDP does not support non-contiguous parameters yet: param.shape={parameter.shape} "
                                  f"param.stride()={parameter.stride()}")


def _cast(value: Any, dtype: Any) -> Any:
    """A value with its floating-point tensors in another dtype."""
    return tree_map(lambda x: x.to(dtype) if hasattr(x, "is_floating_point") and x.is_floating_point() else x, value)


def _computing(function: Callable[..., Any], group: _Group) -> Callable[..., Any]:
    """The function, which computes with whole parameters."""
    policy = group.policy

    @wraps(function)
    def compute(*args: Any, **options: Any) -> Any:
        if policy.param_dtype is not None and policy.cast_forward_inputs:
            args, options = _cast(args, policy.param_dtype), _cast(options, policy.param_dtype)
        with group.gathered():
            found = function(*args, **options)
        return found if policy.output_dtype is None else _cast(found, policy.output_dtype)

    return compute


def register_fsdp_forward_method(module: Any, method_name: str) -> None:
    """Have a method compute with whole parameters, too. A module without `fully_shard` stays as it is."""
    if isinstance(module, FSDPModule):
        setattr(module, method_name, _computing(getattr(module, method_name), module._sharded))
