"""`autocast`: products of matrices in lower precision, losses in float32; and decorators for custom Functions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..foundations.devices import device as Device
from ..foundations.dtypes import F64, bfloat16, dtype as torch_dtype, float16, letter
from ..foundations.errors import warn
from ..tensors.face.conversion import to
from ..tensors.state.base import TensorBase
from . import switches

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

# The devices that PyTorch's autocast knows.
_AVAILABLE = frozenset(("cpu", "cuda", "ipu", "xpu", "maia", "xla", "mps", "hpu", "mtia", "privateuseone"))


def is_autocast_available(device_type: str) -> bool:
    """Whether there is an autocast for a type of devices. Raises RuntimeError for an unknown type."""
    return switches.kind_of_device("_is_autocast_available", 1, device_type) in _AVAILABLE


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, run inside the autocast."""

    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return decorate_autocast


class autocast:
    """A context, or a decorator, in which some functions choose the precision that they compute in.

    Products of matrices and convolutions compute in `dtype`, which is bfloat16 by default, and losses and some other
    functions compute in float32. All other functions compute in the types of their arguments. Use it for the forward
    pass and the loss; the backward pass then computes in the same types.

    >>> import retrograd as torch
    >>> with torch.autocast("cpu"):
    ...     (torch.ones(1, 2) @ torch.ones(2, 1)).dtype
    torch.bfloat16

    There is only the CPU. For "cuda" it warns and does nothing. Raises ValueError if `device_type` is no string.
    """

    def __init__(self, device_type: str, dtype: torch_dtype | None = None, enabled: bool = True,
                 cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if Device(device_type).type not in _AVAILABLE:
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device, self.custom_backend_name = Device(device_type).type, "privateuseone"
        self.fast_dtype = switches.get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = switches.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if device_type == "cuda" and enabled:
            warn("CUDA is not available or torch_xla is imported. Disabling autocast.", UserWarning)
            enabled = False
        elif device_type == "cpu" and enabled and self.fast_dtype not in (bfloat16, float16):
            warn("In CPU autocast, but the target dtype is not supported. Disabling autocast.\nCPU Autocast only "
                 "supports dtypes of torch.bfloat16, torch.float16 currently.", UserWarning)
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        self._before = (switches.is_autocast_cache_enabled(), switches.is_autocast_enabled(self.device),
                        switches.get_autocast_dtype(self.device))
        switches.switch(self.device, bool(self._enabled))
        switches.set_autocast_dtype(self.device, self.fast_dtype)
        switches.autocast_increment_nesting()
        switches.set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *error: object) -> None:
        if switches.autocast_decrement_nesting() == 0:
            switches.clear_autocast_cache()
        caching, enabled, dtype = self._before
        switches.switch(self.device, enabled)
        switches.set_autocast_dtype(self.device, dtype)
        switches.set_autocast_cache_enabled(caching)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return autocast_decorator(self, func)


def cast(value: Any, device_type: str, dtype: torch_dtype) -> Any:
    """A value with its floating-point tensors in a type, also those in containers. float64 stays as it is."""
    if isinstance(value, TensorBase):
        d = value._array.dtype
        return to(value, dtype) if device_type == "cpu" and letter(d) == "f" and d is not F64 else value
    if isinstance(value, (str, bytes, np.ndarray)):
        return value
    if isinstance(value, Mapping):
        return {cast(k, device_type, dtype): cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([cast(v, device_type, dtype) for v in value])
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: torch_dtype | None = None) -> Any:
    """A decorator of the `forward` of a custom Function.

    With `cast_inputs`, `forward` runs without autocast, and its floating-point tensors are cast to this type if
    autocast is on. Without it, `forward` runs as it is called. `custom_bwd` restores the setting for `backward`.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = switches.get_autocast_dtype(device_type)
        if cast_inputs is None:
            args[0]._fwd_used_autocast = switches.is_autocast_enabled(device_type)
            return fwd(*args, **kwargs)
        was_on = switches.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = False
        if not was_on:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*cast(args, device_type, cast_inputs), **cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """A decorator of the `backward` of a custom Function: it runs with autocast as `forward` ran."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
