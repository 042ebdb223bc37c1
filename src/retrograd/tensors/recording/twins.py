"""Functions that exist twice: `fmod` makes a new tensor, and its twin `fmod_` writes the result over its operand.

    @twins("fmod(Tensor input, Tensor other, out)", out=ELEMENTWISE, method=True)
    def fmod(call, input, other):
        return call(ops.fmod, input, other)

The decorator makes two public functions of the decorated function. They differ in `call`, by which the function calls
its operator: this is `anew` for `fmod`, and `inplace.over` for `fmod_`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from ...ops.framework import Op
from ..state.base import TensorBase
from .calls import CALLS, recorded
from .inplace import over
from .inplace_methods import inplace
from .public import methods, public
from .public_facts import OutRule

# What a decorated function calls its operator by: `anew` or `over`.
Call = Callable[..., TensorBase]

# The attributes of a function that describe it. A `partial` of the function has none of them.
_DESCRIPTION = ("__module__", "__name__", "__qualname__", "__doc__", "__annotations__")


def anew(op: Op, *args: Any, into: Any = None) -> TensorBase:
    """The result of the recorded call of an operator: a new tensor. `into` is only for `over`."""
    return CALLS[op](*args)  # type: ignore[no-any-return]


class Function(Protocol):
    """A public function that has a twin, `written`."""

    written: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself."""


def twins(*schemas: str, out: OutRule = None, strict: bool = False, method: bool = False, name: str = "",
          doc: str = "") -> Callable[[Callable[..., Any]], Function]:
    """The decorator of a function that exists twice. It returns the first public function; its `written` is the twin.

    The schemas of the twin are those of the function whose first parameter is a tensor, without `out`. With `method`,
    both functions are methods of tensors. `name` and `doc` are for functions that a factory makes.
    """

    def decorate(function: Callable[..., Any]) -> Function:
        new, written = partial(function, anew), partial(function, over)
        for body in (new, written):
            vars(body).update({name: getattr(function, name) for name in _DESCRIPTION})
        called = name or function.__name__
        entry: Any = public(*schemas, out=out, strict=strict, method=method, name=called, doc=doc)(new)
        entry.written = public(
            *[schema for text in schemas if (schema := _schema_of_twin(text))], strict=strict, method=method,
            bound=method, name=f"{called}_", doc=f"`{called}`, written over the tensor itself.")(written)
        return entry  # type: ignore[no-any-return]

    return decorate


def both(op: Op, out: Any = ...) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The recorded call of an operator, with this rule for `out`, and the same in place. Both are methods."""
    functions = recorded(op, out=out), inplace(op)
    methods(*functions)
    return functions


def _schema_of_twin(text: str) -> str:
    """The schema of the function in place; "" if the first parameter is no tensor, or another one a result type.

    >>> _schema_of_twin("sub(Tensor input, Tensor other, *, Number alpha=1, Tensor out=None)")
    'sub_(Tensor input, Tensor other, *, Number alpha=1)'
    """
    name, _, parameters = text.partition("(")
    for out in (", out)", ", *, Tensor out=None)", ", Tensor out=None)"):
        parameters = parameters.replace(out, ")")
    return f"{name}_({parameters}" if parameters.startswith("Tensor ") and "out_dtype" not in parameters else ""
