"""How programs make DTensors: from whole tensors, from sizes, and for all parameters of a module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np

from ...foundations.dtypes import FLOATING, category, default_floating
from ...kernels.layout import steps
from ...nn.modules.module import Module
from ...nn.parameter import Parameter
from ...tensors.face.subclassing import leaf_of
from ...tensors.functions.creation.creation import (
    empty as new_empty,
    full as new_full,
    ones as new_ones,
    zeros as new_zeros,
)
from ...tensors.functions.creation.random import rand as new_rand, randn as new_randn
from ...tensors.state.base import plain
from ...tensors.tensor import Tensor
from .. import collectives
from ..device_mesh import DeviceMesh
from .arrays import checked_placements, distributed
from .dtensor import DTensor
from .moving import local_bounds, moved
from .placement_types import Partial, Placement, Replicate

__all__ = ["distribute_module", "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros"]


def distribute_tensor(tensor: Tensor, device_mesh: DeviceMesh | None = None,
                      placements: Sequence[Placement] | None = None, *, src_data_rank: int | None = 0) -> DTensor:
    """The DTensor of a whole tensor, which is a leaf. By default each process gets the whole.

    The process `src_data_rank` along each dim of the mesh sends its numbers to the others; with None, each process
    takes its part of its own numbers. Raises RuntimeError for a tensor that was computed, and ValueError if there is
    not one placement for each dim of the mesh.
    """
    mesh = device_mesh or DeviceMesh.entered()
    if not tensor.is_leaf:
        raise RuntimeError("`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf tensor!")
    places = checked_placements(mesh, placements, tensor.ndim)
    if isinstance(tensor, DTensor):
        return _checked_again(tensor, mesh, places, placements)
    array = np.array(tensor._array, order="C")
    if Partial() in places and category(array.dtype) < FLOATING:
        array = array.astype(default_floating())         # summands of integers are fractions
    for i in range(mesh.ndim if src_data_rank is not None and mesh.get_coordinate() is not None else 0):
        collectives.broadcast(plain(array), group_src=src_data_rank, group=mesh.get_group(i))
    local = moved(array, array.shape, mesh, (Replicate(),) * mesh.ndim, places)
    whole = distributed(local, mesh, places, array.shape, steps(tensor._array))
    return leaf_of(Tensor, whole, tensor.requires_grad)  # type: ignore[no-any-return]


def _checked_again(tensor: DTensor, mesh: DeviceMesh, places: tuple[Placement, ...], said: Any) -> DTensor:
    """The tensor itself. Raises ValueError if it lies otherwise."""
    if tensor.device_mesh != mesh:
        raise ValueError(f"Cannot distribute a DTensor with device mesh {tensor.device_mesh} to a different device "
                         f"mesh {mesh}.")
    if tensor.placements != places:
        raise ValueError(f"Cannot distribute a DTensor with placements {tensor.placements} to a different placements "
                         f"{said}. do you want to call `redistribute` instead?")
    return tensor


def _made(create: Callable[..., Any], size: tuple[Any, ...], mesh: DeviceMesh | None, placements: Any,
          requires_grad: bool, **options: Any) -> DTensor:
    """A DTensor of the numbers that `create` makes, of which each process keeps its part."""
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    found = mesh or DeviceMesh.entered()
    if placements is not None and len(placements) != found.ndim:
        raise AssertionError("mesh dimension does not match the length of placements")
    places = checked_placements(found, placements, len(shape))
    mine = [end - begin for begin, end in local_bounds(shape, found, places)]
    local = create(mine, **options)._array
    return leaf_of(Tensor, distributed(local, found, places, shape), requires_grad)  # type: ignore[no-any-return]


def zeros(*size: Any, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
          device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """Zeros. `size` is that of the whole."""
    return _made(new_zeros, size, device_mesh, placements, requires_grad, dtype=dtype)


def ones(*size: Any, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
         device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """Ones. `size` is that of the whole."""
    return _made(new_ones, size, device_mesh, placements, requires_grad, dtype=dtype)


def empty(*size: Any, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
          device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """Memory with any numbers in it. `size` is that of the whole."""
    return _made(new_empty, size, device_mesh, placements, requires_grad, dtype=dtype)


def full(size: Any, fill_value: Any, *, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
         device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """One number everywhere. `size` is that of the whole."""
    return _made(new_full, (size,), device_mesh, placements, requires_grad, dtype=dtype, fill_value=fill_value)


def _random(create: Callable[..., Any], size: tuple[Any, ...], mesh: DeviceMesh | None, placements: Any,
            requires_grad: bool, dtype: Any) -> DTensor:
    """Random numbers. Each process draws all of them, and keeps its part."""
    shape = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    made = distribute_tensor(create(shape, dtype=dtype), mesh, placements, src_data_rank=None)
    made.requires_grad = requires_grad
    return made


def rand(*size: Any, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
         device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """Random numbers between 0 and 1: those of one process with the same seed."""
    return _random(new_rand, size, device_mesh, placements, requires_grad, dtype)


def randn(*size: Any, requires_grad: bool = False, dtype: Any = None, layout: Any = None,
          device_mesh: DeviceMesh | None = None, placements: Sequence[Placement] | None = None) -> DTensor:
    """Normal random numbers: those of one process with the same seed."""
    return _random(new_randn, size, device_mesh, placements, requires_grad, dtype)


def distribute_module(module: Module, device_mesh: DeviceMesh | None = None,
                      partition_fn: Callable[[str, Module, DeviceMesh], None] | None = None,
                      input_fn: Callable[..., Any] | None = None,
                      output_fn: Callable[..., Any] | None = None) -> Module:
    """Make the parameters and buffers of a module DTensors. Returns the module.

    `partition_fn(name, module, mesh)` distributes those of each module inside as it likes; each process gets the whole
    of the others. `input_fn(module, inputs, mesh)` and `output_fn(module, outputs, mesh)` make DTensors of what goes
    in, and tensors of what comes out. Raises RuntimeError if this was done before.
    """
    mesh = device_mesh or DeviceMesh.entered()
    if getattr(module, "_distribute_module_applied", False):
        raise RuntimeError("distribute_module should only be called once on a module, but it has already been called "
                           "on this module!")
    for name, part in module.named_modules():
        if partition_fn is not None:
            partition_fn(name, part, mesh)
        _replicate(part, mesh)
    if input_fn is not None:
        _check_arguments("input_fn", input_fn)
        module.register_forward_pre_hook(lambda owner, inputs: input_fn(owner, inputs, mesh))
    if output_fn is not None:
        _check_arguments("output_fn", output_fn)
        module.register_forward_hook(lambda owner, _, outputs: output_fn(owner, outputs, mesh))
    module._distribute_module_applied = True
    return module


def _check_arguments(name: str, function: Callable[..., Any]) -> None:
    count = len(signature(function).parameters)
    if count != 3:
        raise ValueError(f"{name} should take in 3 arguments, but got {count} arguments!")


def _replicate(module: Module, mesh: DeviceMesh) -> None:
    """Give each process the whole of the parameters and buffers of one module that are no DTensors yet."""
    for name, parameter in module._parameters.items():
        if parameter is not None and not isinstance(parameter, DTensor):
            module.register_parameter(name, Parameter(distribute_tensor(parameter.detach(), mesh),
                                                      parameter.requires_grad))
    for name, buffer in module._buffers.items():
        if buffer is not None and not isinstance(buffer, DTensor):
            module._buffers[name] = distribute_tensor(buffer, mesh)
