"""How a repetition leaves new values in the places where the traced call left some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reach.changes import Effect, Whole
from .results import Left


def _found(whole: Whole, left: Left) -> Whole:
    """A new value with what finds the new tensors in their places."""
    if whole.fresh:
        return Whole(left.finder(whole.value), True)
    return whole if whole.parts is None else whole._replace(
        parts={key: _found(part, left) for key, part in whole.parts.items()})


def leaving(effect: Effect, left: Left) -> Callable[..., Any]:
    """How a repetition leaves a new value in a place."""
    whole = effect.whole
    effect = effect._replace(whole=None if whole is None else _found(whole, left))
    if whole is not None and effect.is_gradient:
        find, leaf, name = left.finder(whole.value), effect.anchor, effect.step.key
        return lambda tensors, inputs, args, kwargs: setattr(leaf._grad_meta, name, find(tensors, inputs, args, kwargs))

    def apply(tensors: list[Any], inputs: list[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        effect.apply(lambda find: find(tensors, inputs, args, kwargs), args, kwargs)

    return apply
