"""Settings of the whole process: the device of new tensors, and how kernels may compute.

Numbers are on the CPU, and kernels give the same numbers in every run. So the settings are remembered and returned,
but change no number.
"""

from __future__ import annotations

from typing import Any

from ...foundations.devices import META, Chosen, DeviceLike, Meta, checked, device as Device, on_meta
from ...foundations.dtypes import set_default_dtype
from ...foundations.errors import warn
from ..recording.public import public
from .legacy import BY_NAME, tensortype

_LEVELS = {"default": 0, "warn": 1, "error": 2}


class _Chosen:
    """The settings in force, one set for the process, as in PyTorch."""

    deterministic = warn_only = False
    precision = "highest"
    outer_threads = 1
    outer_threads_set = False


def get_default_device() -> Device:
    """The device on which new tensors are made: the CPU, unless a program chose `meta`.

    >>> import retrograd as torch
    >>> torch.get_default_device()
    device(type='cpu')
    """
    return Chosen.device


def set_default_device(device: DeviceLike | None) -> None:
    """Set the device of new tensors: the CPU, which None stands for, or `meta`.

    Raises AssertionError or RuntimeError for any other device.
    """
    place = META if on_meta(device) else checked(device)
    if place != Chosen.device:
        Meta.tools().choose(place)


@public()
def set_default_tensor_type(t: Any, /) -> None:
    """The old `set_default_dtype`, for a type such as `torch.DoubleTensor` or its name."""
    warn("torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
         "torch.set_default_device() as alternatives.", UserWarning)
    if isinstance(t, str):
        if t not in BY_NAME:
            raise TypeError(f"invalid type object: {t!r} names no type of tensors")
        set_default_dtype(BY_NAME[t])
    elif isinstance(t, tensortype):
        set_default_dtype(t.dtype)
    else:
        raise TypeError("invalid type object: only floating-point types are supported as the default type")


@public()
def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same numbers in every run. The kernels always give the same numbers."""
    for position, (argument, value) in enumerate((("mode", mode), ("warn_only", warn_only)), 1):
        if not isinstance(value, bool):
            raise TypeError(f"_set_deterministic_algorithms(): argument '{argument}' (position {position}) must be "
                            f"bool, not {type(value).__name__}")
    _Chosen.deterministic, _Chosen.warn_only = mode, warn_only


@public()
def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was switched on."""
    return _Chosen.deterministic


@public()
def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether `use_deterministic_algorithms` was asked to warn instead of raising."""
    return _Chosen.warn_only


@public()
def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Call `use_deterministic_algorithms` by a word or its number: "default" (0), "warn" (1) or "error" (2)."""
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str) and debug_mode not in _LEVELS:
        raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                           f"{debug_mode}")
    level = _LEVELS[debug_mode] if isinstance(debug_mode, str) else debug_mode
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {level}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


@public()
def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: the present setting, as a number for `set_deterministic_debug_mode`."""
    return 0 if not _Chosen.deterministic else 1 if _Chosen.warn_only else 2


@public()
def set_float32_matmul_precision(precision: str) -> None:
    """Set how exact products of float32 matrices must be: "highest", "high" or "medium". They always are the "highest".

    Any other word changes nothing, with a warning.
    """
    if precision in ("highest", "high", "medium"):
        _Chosen.precision = precision
    else:
        warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the current setFloat32MatmulPrecision call "
             "has no effect.", UserWarning)


@public()
def get_float32_matmul_precision() -> str:
    """The word that was given to `set_float32_matmul_precision`."""
    return _Chosen.precision


@public()
def compiled_with_cxx11_abi() -> bool:
    """Whether compiled extensions would need the present interface of C++: yes, as for PyTorch."""
    return True


def is_vulkan_available() -> bool:
    """Whether a GPU can be reached by Vulkan: no."""
    return False


def set_flush_denormal(mode: bool) -> bool:
    """Ask for 0 in place of denormal numbers. Returns False, since NumPy keeps them."""
    return False


@public()
def get_num_interop_threads() -> int:
    """How many operations may run in parallel: 1, unless it was set. They always run one after another."""
    return _Chosen.outer_threads


@public()
def set_num_interop_threads(count: int, /) -> None:
    """Set the number that `get_num_interop_threads` returns, once. Raises RuntimeError unless it is a positive int."""
    if not isinstance(count, int) or isinstance(count, bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _Chosen.outer_threads_set:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or "
                           "set_num_interop_threads called")
    _Chosen.outer_threads, _Chosen.outer_threads_set = count, True
