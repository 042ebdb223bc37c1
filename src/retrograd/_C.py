"""The names of PyTorch's compiled core that programs use, such as the switches of `__torch_function__`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import _LinAlgError
from .names import missing
from .tensors.recording.overriding import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    disabled_torch_function_impl as _disabled_torch_function_impl,
)

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_LinAlgError", "_disabled_torch_function_impl"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
