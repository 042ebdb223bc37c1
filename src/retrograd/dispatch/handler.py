"""Public functions while a mode is entered, or with a wrapper among the arguments: the way to the seam and back.

Functions that make tensors, and those that draw numbers, go to handlers from here, since no operator on the seam stands
for them. All other functions run as they are, while `dispatch` stands on the seam.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..foundations.modes import local as modes
from ..tensors.recording.overriding import tensors_in
from ..tensors.state.base import TensorBase
from ..tensors.state.dispatch import UNHANDLED, is_wrapper
from .calls import Carried, dispatch, handled, handles
from .here import each_tensor, local
from .makers import MAKERS, REPLACED
from .passes import watch_saving
from .wrapped import WrapperArray


def handler(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """The result of a public function; UNHANDLED if no handler may see its calls, or if it is to run now."""
    here = local.here
    if here.disabled:
        return UNHANDLED
    given = tensors_in((args, kwargs))
    if not here.modes and not any([handles(x) or is_wrapper(x) for x in given]):
        return UNHANDLED
    passing = here.passing
    if passing is not None and passing[0] == function and all([a is b for a, b in zip(passing[1], args)]):
        return UNHANDLED
    for tensor in given:
        here.note(tensor)
    if function.__name__ in ("batch_norm", "native_batch_norm"):
        here.norm = tuple([args[i] if len(args) > i else kwargs.get(name) for i, name in (
            (3, "running_mean"), (4, "running_var"), (6, "momentum"))])
    replaced = REPLACED.get(function.__name__)
    if replaced is not None and replaced[0](*args, **kwargs):
        function = replaced[1]
    maker = MAKERS.get(function.__name__) if not modes.thread.levels else None
    if maker is not None:
        call = maker(each_tensor(args, _whole), dict(kwargs))
        if call is not None:
            return _finished(call, kwargs)
    return _on_seam(function, args, kwargs, {id(tensor) for tensor in given})


def _whole(tensor: Any) -> Any:
    """The wrapper in the place of a result that is not shown yet."""
    array: Any = tensor._array
    return array.tensor() if type(array) is WrapperArray and not handles(tensor) else tensor


def _finished(call: tuple[Any, tuple[Any, ...], dict[str, Any]], kwargs: Mapping[str, Any]) -> Any:
    """The result of a call that a maker has named. A function that makes tensors may be asked for `requires_grad`."""
    result = handled(*call)
    if kwargs.get("requires_grad"):
        result.requires_grad = True
    return result


def _on_seam(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], given: set[int]) -> Any:
    """The result of a function, while `dispatch` stands on the seam. `given` are the tensors among its arguments."""
    here, thread = local.here, modes.thread
    passing, before, fresh, under = here.passing, thread.transform, here.fresh, here.under
    watchers = thread.watchers
    here.passing, here.fresh = (function, args), {}
    if watch_saving not in watchers:
        thread.watchers = (*watchers, watch_saving)
    if not thread.levels and not here.modes and before is not dispatch:
        here.under, thread.transform = before, dispatch
    try:
        return each_tensor(function(*args, **kwargs), _Result(given, here.fresh))
    except Carried as carried:
        error = carried.error
    finally:
        here.passing, thread.transform, thread.watchers = passing, before, watchers
        here.fresh, here.under = fresh, under
        if passing is None:                                 # so that nothing is kept alive
            here.last, here.norm = ("", ()), ()
    raise error


class _Result:
    """Puts a tensor that a handler has returned in the place of the result over its array."""

    def __init__(self, given: set[int], fresh: dict[int, Any]) -> None:
        self.given, self.fresh = given, fresh

    def __call__(self, tensor: TensorBase) -> Any:
        if id(tensor) in self.given:
            return tensor
        array: Any = tensor._array
        if type(array) is WrapperArray:
            return array.shown(tensor)
        made = self.fresh.pop(id(array), None)
        if made is None or made is tensor or made._array is not array or made._edge or made._grad_meta:
            return tensor
        made._edge, made._grad_meta = tensor._edge, tensor._grad_meta
        return made
