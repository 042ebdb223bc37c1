"""The old names of autocast's switches for Graphcore's devices (ipu) and for XLA. There are no such devices here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.errors import warn
from .switches import get_autocast_dtype, is_autocast_enabled, set_autocast_dtype, set_autocast_enabled


def _warn(old: str, new: str) -> None:
    warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning)


def _switches(kind: str) -> tuple[Callable[..., Any], ...]:
    """The four functions of one type of devices."""

    def is_enabled() -> bool:
        _warn(f"is_autocast_{kind}_enabled()", f"is_autocast_enabled('{kind}')")
        return is_autocast_enabled(kind)

    def set_enabled(enabled: bool, /) -> None:
        _warn(f"set_autocast_{kind}_enabled(enabled)", f"set_autocast_enabled('{kind}', enabled)")
        if not isinstance(enabled, bool):
            raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
        set_autocast_enabled(kind, enabled)

    def get_dtype() -> torch_dtype:
        _warn(f"get_autocast_{kind}_dtype()", f"get_autocast_dtype('{kind}')")
        return get_autocast_dtype(kind)

    def set_dtype(dtype: torch_dtype, /) -> None:
        _warn(f"set_autocast_{kind}_dtype(dtype)", f"set_autocast_dtype('{kind}', dtype)")
        set_autocast_dtype(kind, dtype)

    made: dict[str, Callable[..., Any]] = {
        f"is_autocast_{kind}_enabled": is_enabled, f"set_autocast_{kind}_enabled": set_enabled,
        f"get_autocast_{kind}_dtype": get_dtype, f"set_autocast_{kind}_dtype": set_dtype}
    for name, function in made.items():
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"The old form of the switch of autocast for the devices {kind}, with a warning."
    return tuple(made.values())


is_autocast_ipu_enabled, set_autocast_ipu_enabled, get_autocast_ipu_dtype, set_autocast_ipu_dtype = _switches("ipu")
is_autocast_xla_enabled, set_autocast_xla_enabled, get_autocast_xla_dtype, set_autocast_xla_dtype = _switches("xla")
