"""torch._dynamo.utils: what packages ask about PyTorch's compiler."""

from typing import TYPE_CHECKING, Any

from ..foundations.names import missing

__all__ = ["is_compile_supported"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def is_compile_supported(device_type: Any) -> bool:
    """Whether functions of tensors on a kind of device can be compiled: on the CPU."""
    return str(device_type) == "cpu"
