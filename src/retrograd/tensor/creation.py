"""Making tensors: from data, filled, ranges, and like another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .state import State, plain


def _array(value: Any) -> Any:
    return value._array if isinstance(value, State) else value


def _np_like(function: Callable[..., Any]) -> Callable[..., Any]:
    """A NumPy function of the `*_like` kind for tensors: a constant, whatever the first argument requires."""

    def like(a: Any, *args: Any, **kwargs: Any) -> Any:
        return plain(function(_array(a), *[_array(x) for x in args], **kwargs))

    return like


NUMPY: dict[Any, Callable[..., Any]] = {
    function: _np_like(function) for function in (np.zeros_like, np.ones_like, np.empty_like, np.full_like)}
