"""Making tensors on the device `meta`: no memory is taken, and no random numbers are drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.dtypes import Shape
from ...foundations.modes import local
from ...kernels.meta import MetaArray, without_memory, without_memory_like
from ...ops.basic import cast
from ..arguments.generator import stream_restored
from ..arguments.options import asked, element_type, filled_type, order_of_shape, require_grad, shape_of
from ..face.storage import UntypedStorage
from ..recording.calls import recorded
from ..state.base import TensorBase, as_leaf, edge_of, plain, requires
from .face import MetaStorage, faced
from .inference import inferring

# Functions that are given only a size; and functions that fill a size, with the position of the size.
_OF_SIZES = ("empty", "zeros", "ones", "rand", "randn")


def _new(shape: tuple[int, ...], dtype: np.dtype[Any], requires_grad: bool = False,
         strides: Shape | None = None) -> Any:
    """A new meta tensor."""
    tensor = faced(plain(without_memory(shape, dtype, strides)))  # type: ignore[arg-type]
    if requires_grad is not False and asked(requires_grad):
        require_grad(tensor)
    return tensor


def create(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a function that was called with `device="meta"`."""
    name, options = function.__name__, {key: value for key, value in kwargs.items() if key != "device"}
    grad = options.get("requires_grad", False)
    if name in _OF_SIZES and options.get("out") is None:
        return _sized(name, args, options)
    if name == "full" and options.get("out") is None:
        value = options.get("fill_value", args[1] if len(args) > 1 else None)
        return _new(_size(name, args, options), filled_type(options.get("dtype"), value), grad)
    if name == "randint":
        return _new(tuple(options.get("size", args[-1])), element_type(name, options.get("dtype", int)), grad)
    if name == "empty_strided":
        return _new(tuple(args[0]), element_type(name, options.get("dtype")), grad, tuple(args[1]))
    if name == "to":
        return moved(args[0], *[options.get(key) for key in ("dtype", "copy", "memory_format")])
    if args and isinstance(args[0], TensorBase) and (name.endswith("_like") or name.startswith("new_")):
        x = args[0]
        beside = faced(plain(without_memory_like(x._array)))  # type: ignore[arg-type]
        return function(beside, *args[1:], **options)
    with stream_restored():
        made = function(*args, **options)
    return moved(made) if isinstance(made, TensorBase) else made


def _size(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[int, ...]:
    return shape_of(name, (args[0],) if args else (), options.get("size"))


def _sized(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """A tensor of a size."""
    shape, strides = shape_of(name, args, options.get("size")), None
    memory_format = options.get("memory_format")
    if memory_format is not None:
        order = order_of_shape(name, memory_format, shape)
        strides = order if isinstance(order, tuple) else None
    return _new(shape, element_type(name, options.get("dtype")), options.get("requires_grad", False), strides)


def emptied(storage: UntypedStorage) -> MetaStorage:
    """A storage of the same size without memory."""
    return MetaStorage.of(np.empty(0, np.uint8), storage.nbytes())


_cast: Callable[..., Any] = recorded(cast)


def moved(x: Any, dtype: Any = None, copy: Any = False, memory_format: Any = None) -> Any:
    """A tensor on the device `meta`: `x` itself if it is there already. The move of a tensor is recorded."""
    if type(x._array) is MetaArray:
        with inferring():
            return faced(x.to(dtype=dtype, copy=bool(copy), memory_format=memory_format))
    source = x.detach()
    result = faced(plain(without_memory_like(source._array)))  # type: ignore[arg-type]
    target = x._array.dtype if dtype is None else element_type("to", dtype)
    with inferring():
        copied = _recorded_move(x, result, target)
        return faced(copied if memory_format is None else copied.contiguous(memory_format=memory_format))


def _recorded_move(x: TensorBase, result: TensorBase, target: np.dtype[Any]) -> Any:
    """The meta tensor `result` as a copy of `x` in another type, with the node of that copy."""
    if not (requires(x) and local.thread.grad):
        return _cast(result, target) if target != result._array.dtype else result
    copied: Any = _cast(as_leaf(result), target)
    copied._edge.edges = (edge_of(x),)
    return copied
