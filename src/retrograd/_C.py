"""The names of PyTorch's compiled core that programs use, such as the switches of `__torch_function__`."""

from .errors import _LinAlgError
from .tensors.recording.overriding import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    disabled_torch_function_impl as _disabled_torch_function_impl,
)

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_LinAlgError", "_disabled_torch_function_impl"]
