"""torch.__future__: how a module exchanges its parameters when it is converted. This module must not know modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .foundations.names import missing

__all__ = [
    "get_overwrite_module_params_on_conversion", "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion", "set_swap_module_params_on_conversion",
]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


class _Ways:
    """What the functions below set."""

    overwrite = False
    swap = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Choose whether a conversion such as `module.double()` makes new parameters.

    By default a conversion gives the present parameters other memory, and an optimizer keeps them.
    """
    _Ways.overwrite = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether a conversion makes new parameters."""
    return _Ways.overwrite


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Choose whether conversions and `load_state_dict` use `torch.utils.swap_tensors` on each parameter.

    A parameter is then the same object as before, and takes the class and everything else from the new tensor.
    """
    _Ways.swap = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions and `load_state_dict` swap parameters."""
    return _Ways.swap
