"""torch.nn.utils.memory_format: the order in memory of the weights of convolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

if TYPE_CHECKING:
    from ...nn.modules.module import Module

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module: Module, memory_format: Any, kinds: tuple[type[Any], ...]) -> Any:
    if isinstance(module, kinds):
        module.weight.data = module.weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        _convert(child, memory_format, kinds)
    return module


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Any:
    """Give the weights of all `Conv2d` and `ConvTranspose2d` in a module this order in memory. Returns the module."""
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Any:
    """Give the weights of all `Conv3d` and `ConvTranspose3d` in a module this order in memory. Returns the module."""
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
