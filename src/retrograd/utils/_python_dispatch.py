"""torch.utils._python_dispatch: modes below autograd, and what libraries ask about wrappers of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..dispatch.aliasing import return_and_correct_aliasing, transform_subclass
from ..dispatch.modes import (
    TorchDispatchMode,
    _disable_current_modes as _disable_current_modes,
    _get_current_dispatch_mode as _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack as _get_current_dispatch_mode_stack,
    _pop_mode as _pop_mode,
    _pop_mode_temporarily as _pop_mode_temporarily,
    _push_mode as _push_mode,
)
from ..foundations.names import missing

__all__ = ["TorchDispatchMode", "is_in_any_mode_without_ignore_compile_internals", "is_in_torch_dispatch_mode",
           "is_traceable_wrapper_subclass", "is_traceable_wrapper_subclass_type", "return_and_correct_aliasing",
           "transform_subclass"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

TorchDispatchMode.__module__ = __name__


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that runs each operator as it is."""

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether a mode is entered in this thread."""
    return _get_current_dispatch_mode() is not None


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Whether a mode is entered in this thread. No mode ignores a compiler."""
    return is_in_torch_dispatch_mode()


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor is made of other tensors: it has `__tensor_flatten__` and `__tensor_unflatten__`."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether the tensors of a class are made of other tensors."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
