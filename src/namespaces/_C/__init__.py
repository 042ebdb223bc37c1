"""The names of PyTorch's compiled core that programs use, such as the switches of `__torch_function__`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import ref

from .. import _VF as _VariableFunctions, _VF as _VariableFunctionsClass
from ..autograd.grad_mode import is_grad_enabled
from ..foundations.devices import device
from ..foundations.dtypes import dtype
from ..foundations.errors import _LinAlgError
from ..foundations.modes import local
from ..foundations.names import inside, late, refused_class
from ..tensors.arguments.generator import Generator
from ..tensors.arguments.options import layout, memory_format
from ..tensors.arguments.size import Size
from ..tensors.recording.overriding import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    disabled_torch_dispatch_impl as _disabled_torch_dispatch_impl,
    disabled_torch_function_impl as _disabled_torch_function_impl,
    local as _overriding,
)
from ..tensors.state.base import TensorBase

_TensorBase = TensorBase
_TensorMeta = type(TensorBase)
PyTorchFileReader = refused_class("torch._C.PyTorchFileReader")
__all__ = [
    "DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "PyTorchFileReader", "Size",
    "TensorBase", "_LinAlgError", "_WeakTensorRef", "_TensorBase", "_TensorMeta", "_VariableFunctions",
    "_VariableFunctionsClass", "_are_functorch_transforms_active", "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl", "_get_tracing_state", "_is_torch_function_mode_enabled", "_is_tracing",
    "_jit_override_can_fuse_on_cpu", "_jit_override_can_fuse_on_gpu",
    "_jit_set_bailout_depth", "_jit_set_nvfuser_enabled",
    "_jit_set_profiling_executor", "_jit_set_profiling_mode", "_jit_set_texpr_fuser_enabled",
    "_log_api_usage_once", "device", "dtype", "is_grad_enabled", "layout", "memory_format",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, {
        **inside({"": "_functions _functorch _nn", "_keys": "DispatchKey DispatchKeySet _ExcludeDispatchKeyGuard"},
                 __name__),
        **inside({"dispatch.modes": "_DisableTorchDispatch"})})


class _WeakTensorRef:
    """A reference that does not keep a tensor alive.

    >>> import retrograd as torch
    >>> x = torch.zeros(2)
    >>> reference = _WeakTensorRef(x)
    >>> reference.expired()
    False
    >>> del x
    >>> reference.expired()
    True
    """

    def __init__(self, tensor: TensorBase) -> None:
        self._reference = ref(tensor)

    def expired(self) -> bool:
        """Whether the tensor is gone."""
        return self._reference() is None


def _log_api_usage_once(event: str) -> None:
    """Note that a program uses a part of PyTorch. Nothing is noted."""


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of functions runs."""
    return local.thread.functions > 0


def _is_torch_function_mode_enabled() -> bool:
    """Whether a `TorchFunctionMode` handles the calls of this thread. A device that is entered is no such mode here."""
    return bool(_overriding.thread.modes)


def _get_tracing_state() -> Any:
    """The state of a trace: None, because no program is traced."""
    return None


def _is_tracing() -> bool:
    """Whether TorchScript traces a program: never."""
    return False


def _jit_set_profiling_executor(profiling_flag: bool) -> bool:
    """Set a switch of TorchScript's compiler. Returns its value before: True. It changes nothing."""
    return True


_jit_set_profiling_mode = _jit_set_profiling_executor


def _jit_set_nvfuser_enabled(enabled: bool) -> bool:
    """Set a switch of TorchScript's compiler. Returns its value before: False. It changes nothing."""
    return False


def _jit_set_bailout_depth(depth: int) -> int:
    """Set a number of TorchScript's compiler. Returns its value before. It changes nothing."""
    return 20


def _jit_override_can_fuse_on_cpu(override: bool) -> None:
    """Set a switch of TorchScript's compiler. It changes nothing."""


_jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_cpu
