"""Methods and Python's operators that write the result of an op over their first operand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...foundations.errors import kind_of, noted
from ...ops.framework import Op
from ..state.base import TensorBase, plain
from ..state.dispatch import DISPATCH, UNHANDLED
from .inplace import over
from .operands import OPERANDS
from .overriding import handled, handled_operator


def augmented(op: Op | Callable[[Any, Any], Any], method: str) -> Callable[..., Any]:
    """Python's operator, such as `+=`, that writes the result of `op` over its first operand, or calls a method `op`.

    `method` is the name of the method that modes and subclasses are given.
    """

    def call(input: TensorBase, other: Any) -> Any:
        if type(input) is not DISPATCH.plain or type(other) is not DISPATCH.plain:
            if type(input) not in DISPATCH.inert or type(other) not in DISPATCH.inert:
                result = handled_operator(method, (input, other))
                if result is not UNHANDLED:
                    return result
            if not isinstance(other, OPERANDS):
                return NotImplemented
            other = plain(other) if isinstance(other, np.ndarray) else other
        if not isinstance(op, Op):
            return op(input, other)
        return over(op, input, other)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"`{op.name if isinstance(op, Op) else op.__name__}`, written over the tensor itself."
    return call


def inplace(op: Op) -> Callable[..., Any]:
    """The method that writes the result of `op` over its first operand."""

    def unusual(input: TensorBase, *args: Any) -> Any:
        if type(input) not in DISPATCH.inert or (args and type(args[0]) not in DISPATCH.inert):
            result = handled(method, (input, *args), {})
            if result is not UNHANDLED:
                return result
        if not isinstance(input, TensorBase):
            raise noted(
                TypeError(f"{op.name}_(): argument 'input' (position 1) must be Tensor, not {kind_of(input)}"),
                "in-place#written-argument-must-be-tensor")
        return over(op, input, *args)

    def of_one(input: TensorBase) -> Any:
        return over(op, input) if type(input) is DISPATCH.plain else unusual(input)

    def of_two(input: TensorBase, other: Any) -> Any:
        if type(input) is not DISPATCH.plain or type(other) not in DISPATCH.inert:
            return unusual(input, other)
        return over(op, input, other)

    def of_any(input: TensorBase, *args: Any) -> Any:
        if type(input) is not DISPATCH.plain or (args and type(args[0]) not in DISPATCH.inert):
            return unusual(input, *args)
        return over(op, input, *args)

    ways: dict[int, Callable[..., Any]] = {1: of_one, 2: of_two} if op.arity == len(op.arguments) else {}
    method = ways.get(op.arity, of_any)
    method.__name__ = method.__qualname__ = f"{op.name}_"
    method.__doc__ = f"`{op.name}`, written over the tensor itself."
    return method
