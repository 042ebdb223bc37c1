"""What autocast is set to in a thread, and the casts that it makes while it is on for the CPU.

While it is on, every call of a public function comes to `handled` in `tensors.recording.overriding`, as under a mode,
and from there to `_cast`. While it is off, calls cost nothing more.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import enable_grad, inference_mode
from ..foundations.devices import device as Device
from ..foundations.dtypes import F32, F64, bfloat16, dtype as torch_dtype, float16, float32, letter
from ..foundations.errors import warn
from ..tensors.face.conversion import to
from ..tensors.recording import overriding
from ..tensors.recording.public import public
from ..tensors.state.base import TensorBase, stands_as_leaf
from ..tensors.state.dispatch import DISPATCH, UNHANDLED
from .lists import BESIDE_NUMBER, BY_STATE, COPYING, FLOAT32, LOWER, PACKED, WIDEST, WITHOUT_INDICES

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class _State:
    """The settings of one thread. `cache` keeps the casts of leaves that require grad, by the leaf's id."""

    __slots__ = ("cache", "caching", "dtypes", "enabled", "nesting")

    def __init__(self) -> None:
        self.enabled: set[str] = set()
        self.dtypes: dict[str, torch_dtype] = {"cpu": bfloat16, "xla": bfloat16, "hpu": bfloat16, "maia": bfloat16}
        self.caching, self.nesting = True, 0
        self.cache: dict[int, tuple[Any, Any]] = {}


class _Local(threading.local):
    def __init__(self) -> None:
        self.state = _State()


_local = _Local()


def kind_of_device(name: str, position: int, value: Any) -> str:
    """A type of devices. Raises TypeError unless it is a string, RuntimeError for an unknown type."""
    if not isinstance(value, str):
        raise TypeError(f"{name}(): argument 'device_type' (position {position}) must be str, not "
                        f"{type(value).__name__}")
    return Device(value).type


@public()
def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for a type of devices; for CUDA without an argument."""
    kind = "cuda" if device_type is None else kind_of_device("is_autocast_enabled", 1, device_type)
    return kind in _local.state.enabled


@public()
def set_autocast_enabled(*args: Any) -> None:
    """Switch autocast on or off in this thread: `set_autocast_enabled(device_type, enabled)`.

    With the flag alone, the call is about CUDA, whose tensors there are none of.
    """
    flag = args[-1]
    if not isinstance(flag, bool):
        raise TypeError(f"set_autocast_enabled(): argument 'enabled' (position {len(args)}) must be bool, not "
                        f"{type(flag).__name__}")
    switch(kind_of_device("set_autocast_enabled", 1, args[0]) if len(args) > 1 else "cuda", flag)


def switch(kind: str, on: bool) -> None:
    """Switch autocast on or off for a type of devices."""
    enabled = _local.state.enabled
    if on is (kind in enabled):
        return
    if on:
        enabled.add(kind)
    else:
        enabled.discard(kind)
    if kind == "cpu":
        overriding.local.thread.casting = _cast if on else None
        DISPATCH.watch(1 if on else -1)


@public()
def get_autocast_dtype(device_type: str) -> torch_dtype:
    """The lower precision of autocast for a type of devices. For the CPU it is bfloat16 at first."""
    return _local.state.dtypes.get(kind_of_device("get_autocast_dtype", 1, device_type), float16)


@public()
def set_autocast_dtype(device_type: str, dtype: torch_dtype) -> None:
    """Set the lower precision of autocast for a type of devices, in this thread."""
    if not isinstance(dtype, torch_dtype):
        raise TypeError("set_autocast_dtype(): argument 'dtype' (position 2) must be torch.dtype, not "
                        f"{type(dtype).__name__}")
    _local.state.dtypes[kind_of_device("set_autocast_dtype", 1, device_type)] = dtype


@public()
def is_autocast_cache_enabled() -> bool:
    """Whether the casts of parameters are kept until the outermost autocast ends."""
    return _local.state.caching


@public()
def set_autocast_cache_enabled(enabled: bool, /) -> None:
    """Say whether the casts of parameters are kept until the outermost autocast ends."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    _local.state.caching = enabled


@public()
def clear_autocast_cache() -> None:
    """Forget the casts that are kept."""
    _local.state.cache.clear()


class kept:
    """The context at whose end autocast is as it was at the beginning, also if Ctrl-C comes where an autocast ends."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        state = _local.state
        self.before = {*state.enabled}, {**state.dtypes}, state.nesting, state.caching

    def __exit__(self, *error: object) -> None:
        state = _local.state
        enabled, dtypes, state.nesting, state.caching = self.before
        for kind in state.enabled ^ enabled:
            switch(kind, kind in enabled)
        if state.dtypes != dtypes:
            state.dtypes.clear()
            state.dtypes.update(dtypes)
        if state.nesting == 0:
            state.cache.clear()


@public()
def autocast_increment_nesting() -> int:
    """Note that one more autocast is entered. Returns their number."""
    _local.state.nesting += 1
    return _local.state.nesting


@public()
def autocast_decrement_nesting() -> int:
    """Note that an autocast is left. Returns how many are still entered."""
    _local.state.nesting -= 1
    return _local.state.nesting


def _old(name: str, instead: str) -> None:
    warn(f"torch.{name} is deprecated. Please use torch.{instead} instead.", DeprecationWarning)


@public()
def is_autocast_cpu_enabled() -> bool:
    """The old form of `is_autocast_enabled("cpu")`."""
    _old("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


@public()
def set_autocast_cpu_enabled(enabled: bool, /) -> None:
    """The old form of `set_autocast_enabled("cpu", enabled)`."""
    _old("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


@public()
def get_autocast_cpu_dtype() -> torch_dtype:
    """The old form of `get_autocast_dtype("cpu")`."""
    _old("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


@public()
def set_autocast_cpu_dtype(dtype: torch_dtype, /) -> None:
    """The old form of `set_autocast_dtype("cpu", dtype)`."""
    _old("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


@public()
def get_autocast_gpu_dtype() -> torch_dtype:
    """The old form of `get_autocast_dtype("cuda")`."""
    _old("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


@public()
def set_autocast_gpu_dtype(dtype: torch_dtype, /) -> None:
    """The old form of `set_autocast_dtype("cuda", dtype)`."""
    _old("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


# The casts

def _cast(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call with cast arguments and without autocast; UNHANDLED if the function stands in no list."""
    name = getattr(function, "__name__", "").removeprefix("linalg_")
    target = _target(name, args, kwargs)
    if target is None:
        return UNHANDLED
    here = overriding.local.thread
    here.casting = None                                  # the function itself computes without autocast
    try:
        if kwargs.get("out") is not None:                # the caller chose the types
            return function(*args, **kwargs)
        return function(*[cast_to(target, arg) for arg in args],
                        **{key: cast_to(target, value) for key, value in kwargs.items()})
    finally:
        here.casting = _cast


def _target(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> torch_dtype | None:
    """The type to cast the arguments of a function to; None if it computes with them as they are."""
    lower = _local.state.dtypes["cpu"]
    if name in PACKED and len(args) > 2 and isinstance(args[1], TensorBase) and args[1]._array.dtype.kind == "i":
        name = PACKED[name]
    place = BY_STATE.get(name, len(args))
    if place < len(args):
        states = args[place]
        last = states[-1] if isinstance(states, (list, tuple)) else states
        return torch_dtype.of[last._array.dtype] if isinstance(last, TensorBase) else lower
    if name in LOWER:
        return lower
    if name in FLOAT32 or (name == "pad" and _copies(*args, **kwargs)):
        asked = WITHOUT_INDICES.get(name)
        indices = asked is not None and kwargs.get("return_indices", len(args) > asked and args[asked])
        return None if indices else float32
    if name in BESIDE_NUMBER and not isinstance(args[BESIDE_NUMBER[name]], TensorBase):
        return float32
    if name in WIDEST:
        return _widest(args[0] if args and isinstance(args[0], (list, tuple)) else args, lower)
    return None


def _widest(parts: Any, lower: torch_dtype) -> torch_dtype:
    """float32 if it is the type of a tensor, else the lower type. Raises RuntimeError for a third type before these."""
    target = lower
    for part in parts:
        d = part._array.dtype if isinstance(part, TensorBase) else F64
        if d is F32:
            target = float32
        elif target is lower and letter(d) == "f" and d is not F64 and d is not lower.dtype:
            raise RuntimeError("Unexpected floating ScalarType in at::autocast::prioritize")
    return target


def _copies(input: Tensor | None = None, pad: Any = (), mode: Any = "", *others: Any, **options: Any) -> bool:
    """Whether a call of `pad` is cast to float32."""
    return isinstance(mode, str) and isinstance(pad, (tuple, list)) and len(pad) // 2 <= COPYING.get(mode, -1)


def cast_to(target: torch_dtype, value: Any) -> Any:
    """An argument with its floating-point tensors in a type, also those in lists. float64 stays as it is."""
    if isinstance(value, TensorBase):
        d = value._array.dtype
        if letter(d) != "f" or d is F64 or d is target.dtype or d.itemsize == 1:
            return value
        state = _local.state
        if d is not F32 or target is float32 or not (state.caching and stands_as_leaf(value) and value.requires_grad):
            return to(value, target)
        if value._grad_meta is not None and value._grad_meta.base is not None:
            return to(value, target)
        held = state.cache.get(id(value))
        if held is None:
            with inference_mode(False), enable_grad():               # a later call may record
                held = state.cache[id(value)] = value, to(value, target)    # the leaf too, so that its id stays valid
        return held[1]
    if type(value) in (list, tuple):
        return type(value)([cast_to(target, part) for part in value])
    return value
