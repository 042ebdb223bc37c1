"""PyTorch's modes below autograd. retrograd has none: a mode can be defined, but not entered."""

from __future__ import annotations

from typing import Any, NoReturn


class TorchDispatchMode:
    """PyTorch hands each call of an operator to the mode that is entered. To enter a mode raises RuntimeError here."""

    def __enter__(self) -> NoReturn:
        raise RuntimeError("retrograd has no dispatch below autograd, so a TorchDispatchMode cannot be entered. Derive "
                           "the mode from torch.overrides.TorchFunctionMode.")

    def __exit__(self, *error: object) -> None:
        pass


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """False: no mode can be entered."""
    return False


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether a tensor is made of other tensors: it has `__tensor_flatten__` and `__tensor_unflatten__`."""
    return is_traceable_wrapper_subclass_type(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether the tensors of a class are made of other tensors."""
    return hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")
