"""How a call reaches handlers: the function that stands on the seam, and the order of modes, classes and kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..foundations.modes import local as modes
from ..kernels.kinds import holds
from ..ops.framework import Op
from ..ops.overloads import OpOverload
from ..tensors.recording.overriding import disabled_torch_dispatch_impl, insert_handler, tensors_in
from ..tensors.state.base import TensorBase, note_kind, plain
from ..tensors.state.dispatch import UNHANDLED
from .core import arranged, schema_of
from .here import Pending, beneath, each_tensor, local
from .wrapped import WrapperArray

# Makes the calls of handlers out of a call of an operator. `translation` fills it in.
Translate = Callable[[Op, Callable[..., Any], tuple[Any, ...], bool], Any]


class Parts:
    """What the modules above this one define: the translation of operators, and what runs an overload by itself."""

    translate: Translate
    implementation: Callable[[OpOverload], Callable[..., Any]]


class Carried(Exception):
    """Carries an error that a handler has raised, past code that explains the errors of kernels, to the program."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


def dispatch(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The transform on the seam: hand a call to modes and to classes of wrappers, under the names of PyTorch's core."""
    here = local.here
    if here.disabled or not (here.modes or holds(args, WrapperArray) or _has_handler(args)):
        return compute(op, call, args, write)
    try:
        return Parts.translate(op, call, args, write)
    except (TypeError, ValueError) as error:
        raise Carried(error) from error


def watched() -> bool:
    """Whether handlers see the calls of this thread."""
    return modes.thread.transform is dispatch or bool(local.here.modes)


def _has_handler(args: Any) -> bool:
    """Whether an array among the arguments belongs to a tensor that handles calls over memory of its own."""
    tensors = local.here.tensors
    for value in args:
        kind = type(value)
        if kind is np.ndarray:
            tensor = tensors.get(id(value))
            if tensor is not None and tensor._array is value and handles(tensor):
                return True
        elif (kind is list or kind is tuple) and _has_handler(value):
            return True
    return False


def compute(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The results of a call that no handler takes, from the transform below all modes."""
    under, thread = local.here.under, modes.thread
    before, thread.transform = thread.transform, under
    try:
        return call(*args) if under is None else under(op, call, args, write)
    finally:
        thread.transform = before


# Handlers

def handles(tensor: Any) -> bool:
    """Whether the class of a tensor handles calls below autograd."""
    hook = getattr(type(tensor), "__torch_dispatch__", None)
    return hook is not None and hook is not disabled_torch_dispatch_impl


def _handlers(args: Any, kwargs: Mapping[str, Any]) -> list[Any]:
    """The first tensor of each class that handles calls. Tensors of a class come before those of its bases."""
    found: list[Any] = []
    for tensor in tensors_in((args, kwargs)):
        if handles(tensor):
            insert_handler(found, tensor)
    return found


def handled(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call from the innermost mode, or from a class of the tensors, or from the kernel.

    Raises TypeError if all of them return NotImplemented.
    """
    here = local.here
    if here.disabled:
        return by_kernel(func, args, kwargs)
    found, stack = _handlers(args, kwargs), here.modes
    types = tuple(map(type, found))
    if stack:
        with beneath(stack[:-1], dispatch):
            result = _asked(stack[-1], type(stack[-1]), func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    for tensor in found:
        with beneath(stack[:-1] if stack else stack, dispatch):
            result = _asked(type(tensor), type(tensor), func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if found or stack:
        raise _refused(func, found, stack)
    return by_kernel(func, args, kwargs)


def _asked(handler: Any, kind: type[Any], func: OpOverload, types: Any, args: Any, kwargs: Any) -> Any:
    """What a mode or a class returns. An operator of `torch.library` may have a function in its place."""
    rule = getattr(func, "dispatches", _NOTHING).get(kind)
    if rule is not None:
        return rule(handler, func, types, args, kwargs)
    return handler.__torch_dispatch__(func, types, args, kwargs)


def own_operator(func: Any, given: Any, named: dict[str, Any]) -> Any:
    """The result of an operator of `torch.library` from a handler; UNHANDLED if none may see its calls."""
    here = local.here
    if here.disabled or modes.thread.levels or not (here.modes or _handlers(given, named)):
        return UNHANDLED
    return handled(func, tuple(given), named)


_NOTHING: dict[Any, Any] = {}


def _refused(func: OpOverload, found: list[Any], stack: list[Any]) -> TypeError:
    lines = [f"  - mode object {stack[-1]!r}"] if stack else []
    lines += [f"  - tensor subclass {type(tensor)!r}" for tensor in found]
    return TypeError(f"Multiple dispatch failed for 'torch._ops.{func}'; all __torch_dispatch__ handlers returned "
                     "NotImplemented:\n\n" + "\n".join(lines) + "\n\nFor more information, try re-running with "
                     "TORCH_LOGS=not_implemented")


def by_kernel(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of a call that no handler takes: by the call that waits, or else by the function of the overload."""
    here = local.here
    for pending in here.pending[-1:]:
        swapped = _swapped(pending, func, args, kwargs)
        if swapped is not None:
            with beneath([], here.under):
                return pending.run(swapped)
    with beneath([], here.under):
        return Parts.implementation(func)(*args, **kwargs)


def _swapped(pending: Pending, func: OpOverload, args: Any, kwargs: Any) -> dict[int, Any] | None:
    """The arrays that stand in the places of those of the pending call; None if this is another call."""
    if pending.func is not func:
        return None
    found: dict[int, Any] = {}
    return found if _match((pending.args, pending.kwargs), (args, kwargs), found) else None


def _match(had: Any, has: Any, found: dict[int, Any]) -> bool:
    """Whether two values are alike but for tensors, which must have the same shape and dtype."""
    if isinstance(had, TensorBase):
        if not isinstance(has, TensorBase):
            return False
        old, new = had._array, has._array
        if old.shape != new.shape or old.dtype != new.dtype or found.get(id(old), new) is not new:
            return False
        found[id(old)] = new
        return True
    if type(had) in (list, tuple):
        return type(had) is type(has) and len(had) == len(has) and all([_match(a, b, found) for a, b in zip(had, has)])
    if type(had) is dict:
        return had.keys() == has.keys() and all([_match(had[key], has[key], found) for key in had])
    return had is has or (type(had) is type(has) and bool(had == has))


# From the seam to handlers and back

def send(func: OpOverload, values: tuple[Any, ...], named: dict[str, Any],
         run: Callable[[dict[int, Any]], Any]) -> Any:
    """The arrays that a call of an overload has as its results.

    `values` and `named` hold tensors. `run` computes the result from other arrays in the places of theirs, as tensors.
    """
    schema, here = schema_of(func), local.here
    args, kwargs = (values, named) if schema is None else arranged(schema, values, named)
    here.pending.append(Pending(func, args, kwargs, run))
    try:
        result = handled(func, args, kwargs)
    finally:
        here.pending.pop()
    given = {id(tensor) for tensor in tensors_in((args, kwargs))}
    return each_tensor(result, partial(_array_of, given))


def _array_of(given: set[int], tensor: Any) -> Any:
    """The array of a tensor that a handler has returned. The tensor is to be the result of the call, if it is new."""
    array = tensor._array
    if id(tensor) not in given:
        if type(array) is WrapperArray:
            array.fresh = True
        elif tensor._edge is None and tensor._grad_meta is None:
            local.here.fresh[id(array)] = tensor
    return array


def replaced(value: Any, by: dict[int, Any]) -> Any:
    """A value with other arrays in the places of those that `by` names, in lists and tuples too."""
    found = by.get(id(value))
    if found is not None:
        return found
    if type(value) in (list, tuple):
        return type(value)([replaced(part, by) for part in value])
    return value


def as_tensors(found: Any) -> Any:
    """The results of a kernel as tensors. They are noted, so that later calls are given the same tensors."""
    if type(found) is tuple or type(found) is list:
        return tuple([as_tensors(part) for part in found])
    if found is None:
        return None
    tensor = tensor_over(found)
    local.here.note(tensor)
    return tensor


def tensor_over(array: Any) -> Any:
    """A new tensor over an array, of the class that tensors over this kind of array have."""
    tensor = plain(array)
    note_kind(tensor)
    return tensor
