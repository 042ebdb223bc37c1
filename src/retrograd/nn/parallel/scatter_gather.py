"""Tensors and modules on several GPUs. As there are no GPUs, these functions refuse tensors, as PyTorch does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ...foundations.errors import noted
from ...foundations.names import missing
from ...tensors.tensor import Tensor
from ..modules.module import Module

__all__ = ["gather", "parallel_apply", "replicate", "scatter", "scatter_kwargs"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_REMEDY = "call the module itself: there are no GPUs here"


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> Any:
    """The inputs for each GPU. Raises ValueError for a tensor, as there is no GPU; other values are repeated."""
    if isinstance(inputs, Tensor):
        raise noted(ValueError("Expected a non cpu device, but got: cpu"), instead=_REMEDY)
    if isinstance(inputs, (tuple, list)) and inputs:
        return [type(inputs)(part) for part in zip(*[scatter(value, target_gpus, dim) for value in inputs])]
    if isinstance(inputs, dict) and inputs:
        found = [scatter(value, target_gpus, dim) for value in inputs.values()]
        return [type(inputs)(zip(inputs, part)) for part in zip(*found)]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any],
                   dim: int = 0) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """`scatter` of the arguments of a call."""
    scattered = scatter(inputs, target_gpus, dim) if inputs else [() for _ in target_gpus]
    return tuple(scattered), tuple(scatter(kwargs, target_gpus, dim) if kwargs else [{} for _ in target_gpus])


def gather(outputs: Any, target_device: Any, dim: int = 0) -> NoReturn:
    """The outputs of all GPUs, joined. Raises AssertionError, as there is no GPU."""
    raise noted(AssertionError("Gather function not implemented for CPU tensors"), instead=_REMEDY)


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> NoReturn:
    """Copies of a module on all GPUs. Raises AssertionError, as there is no GPU."""
    raise noted(AssertionError("Broadcast function not implemented for CPU tensors"), instead=_REMEDY)


def parallel_apply(modules: Sequence[Module], inputs: Sequence[Any], kwargs_tup: Sequence[dict[str, Any]] | None = None,
                   devices: Sequence[Any] | None = None) -> NoReturn:
    """Calls of the copies of a module on all GPUs. Raises RuntimeError, as there is no GPU."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    raise noted(RuntimeError("Cannot access accelerator device when none is available."), instead=_REMEDY)
