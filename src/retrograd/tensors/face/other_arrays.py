"""The classes of tensors over other kinds of arrays than NumPy's: sparse arrays, and arrays of the device `meta`.

Such a tensor has a class that is derived from the class that it would have otherwise, and has the same name. Public
functions look at the types of their arguments, so a call with such a tensor takes the way of unusual calls, and usual
calls pay nothing.
"""

from __future__ import annotations

import types
from functools import cache
from typing import Any

from ..recording.overriding import disabled_torch_function_impl
from ..state.base import plain_class
from ..state.dispatch import DISPATCH
from .copying import copy_of_leaf
from .printing import parameter_text


class OtherArrayMethods:
    """What tensors over all other kinds of arrays have. A class of `derived` also defines `_text` and `_copied`."""

    __slots__ = ()
    __torch_function__ = staticmethod(disabled_torch_function_impl)
    _array: Any

    def _text(self) -> str:
        """The text of the tensor, also of a parameter."""
        raise NotImplementedError

    def _copied(self) -> Any:
        """An array like that of the tensor, with memory of its own."""
        raise NotImplementedError

    def __repr__(self, **options: Any) -> str:
        text = self._text()
        return parameter_text(text) if getattr(self, "_is_param", False) else text

    __str__ = __repr__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        this: Any = self
        return copy_of_leaf(this, memo, lambda: (plain_class(type(self)), self._copied()))


@cache
def derived(methods: type[OtherArrayMethods], kind: type[Any]) -> type[Any]:
    """The class with the methods of a kind of arrays, for a tensor that would be an instance of `kind` otherwise.

    A class of a program goes on handling calls.
    """
    if issubclass(kind, methods):
        return kind
    handler = getattr(kind.__torch_function__, "__func__", None)
    own: dict[str, Any] = {}
    if kind is not DISPATCH.tensor and handler is not None:
        own["__torch_function__"] = classmethod(handler)
    return types.new_class(kind.__name__, (methods, kind), {}, lambda body: body.update(
        own, __slots__=(), __module__=kind.__module__, __qualname__=kind.__qualname__, _plain_class=kind))
