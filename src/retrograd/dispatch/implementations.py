"""What an overload of the core computes if a program calls it by itself: the public function, or the operator here.

Most overloads have a public function or a method of their name. For the others, the rows of `rows` and `gradients` are
read from right to left: they say which arguments of the core are which arguments of an operator here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ..foundations.dtypes import dtype as torch_dtype
from ..ops import _Core
from ..ops.framework import Op
from ..ops.overloads import OpOverload
from ..tensors.recording.calls import recorded
from ..tensors.recording.overriding import answered, answers
from ..tensors.state.base import TensorBase
from .by_hand import BY_HAND, gradients_of
from .by_schema import BY_SCHEMA
from .calls import Parts, handled
from .core import schema_of
from .gradients import GRADIENTS
from .here import local
from .rows import CALLS, REDUCTIONS

APART = BY_SCHEMA.keys() | BY_HAND.keys()
_WORDS = {number: word for word, number in REDUCTIONS.items()}


def begin() -> None:
    """Put the functions in their places."""
    Parts.implementation = staticmethod(implementation)


def called(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The result of an overload that a program has called: from the next handler, if a handler calls it.

    What is no tensor and stands for one, such as a value of a traced program, handles the call itself.
    """
    if any([not isinstance(value, TensorBase) for value in answers(args, kwargs)]):
        return answered(func, args, kwargs)
    return handled(func, args, kwargs) if local.here.handling else implementation(func)(*args, **kwargs)


@cache
def implementation(func: OpOverload) -> Callable[..., Any]:
    """The function that computes an overload."""
    if type(func) is not OpOverload:                         # of `torch.library`
        return func
    packet = func.overloadpacket
    op = vars(packet).get("op")
    if op is not None:
        return recorded(op)
    name, whole = packet.__name__, f"{packet.__name__}.{func._overloadname}"
    for table in (BY_SCHEMA, BY_HAND):
        if whole in table or name in table:
            return table[whole if whole in table else name]
    if _Core.function(name) is None:
        found = _by_row(func) or _by_gradient(func)
        if found is not None:
            return found
    return packet.compute


@cache
def _operators() -> dict[str, list[Op]]:
    found: dict[str, list[Op]] = {}
    for op in [*Op.by_kernel.values()]:
        found.setdefault(op.name, []).append(op)
    return found


def _by_row(func: OpOverload) -> Callable[..., Any] | None:
    """The operator whose row, or whose name, is the overload."""
    name, which = func.overloadpacket.__name__, str(func).removeprefix("aten.").removesuffix(".default")
    for own, texts in CALLS.items():
        for text in texts.split("; "):
            tree = ast.parse(text, mode="eval").body
            assert isinstance(tree, ast.Call)
            if ast.unparse(tree.func) in (name, which) and own in _operators():
                found = _reader(tree, _operators()[own], func)
                if found is not None:
                    return found
    for op in _operators().get(name, ()):
        return partial(_by_position, op, func)
    return None


def _by_position(op: Op, func: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """The operator with the arguments of the schema in their order, those by name last."""
    positional, full = _given(func, args, kwargs)
    values = [*positional, *[*full.values()][len(positional):]][:len(op.arguments)]
    return recorded(op)(*[_hashable(value) for value in values])


def _hashable(value: Any) -> Any:
    """A list of numbers as a tuple."""
    return tuple(value) if isinstance(value, list) and not any([isinstance(v, TensorBase) for v in value]) else value


def _reader(tree: ast.Call, operators: list[Op], func: OpOverload) -> Callable[..., Any] | None:
    """The function that gives an operator the arguments which a row names; None if the row does not name them all."""
    places = _places(tree)
    if places is None:
        return None
    for op in operators:
        if {*op.arguments} <= places.keys():
            return partial(_call_of, recorded(op), op, places, func)
    return None


def _places(tree: ast.Call) -> dict[str, tuple[int | str, bool]] | None:
    """Where in a call of the core each argument of the operator stands, and whether it is the word of a loss; None if
    the row computes one.
    """
    found: dict[str, tuple[int | str, bool]] = {}
    keyed = [*enumerate(tree.args), *[(keyword.arg, keyword.value) for keyword in tree.keywords]]
    for place, part in keyed:
        if isinstance(part, ast.Call) and ast.unparse(part.func) in ("reduced", "list") and isinstance(
                part.args[0], ast.Name):
            found[part.args[0].id] = place or 0, ast.unparse(part.func) == "reduced"
        elif isinstance(part, ast.Name):
            found[part.id] = place or 0, False
    return found


def _given(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """All arguments of a call, with those of the schema that the call does not give."""
    schema = schema_of(func)
    if schema is None:
        return [*args], kwargs
    values = {a.name: value for a, value in zip(schema.arguments, args)} | kwargs
    full = {a.name: values.get(a.name, a.default_value) for a in schema.arguments}
    return [full[a.name] for a in schema.arguments if not a.kwarg_only], full


def _values(op: Op, places: dict[str, tuple[int | str, bool]], func: OpOverload, args: tuple[Any, ...],
            kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of an operator from those of a call of the core."""
    positional, named = _given(func, args, kwargs)
    found = []
    for argument in op.arguments:
        place, word = places[argument]
        value: Any = positional[place] if isinstance(place, int) else named[place]
        value = _hashable(value)
        value = value.dtype if isinstance(value, torch_dtype) else value
        found.append(_WORDS[value] if word else value)
    return found


def _call_of(function: Callable[..., Any], op: Op, places: Any, func: OpOverload, *args: Any, **kwargs: Any) -> Any:
    return function(*_values(op, places, func, args, kwargs))


# Gradients

def _by_gradient(func: OpOverload) -> Callable[..., Any] | None:
    """The gradient of the operator whose row in `GRADIENTS` is the overload."""
    for own, rows in GRADIENTS.items():
        for text in rows.split("; ")[:1]:
            operands, _, call = text.partition(": ")
            tree = ast.parse(call, mode="eval").body
            assert isinstance(tree, ast.Call)
            if ast.unparse(tree.func) != func.overloadpacket.__name__:
                continue
            places = _places(tree)
            for op in _operators().get(own, ()):
                if places is not None and {*op.arguments} <= places.keys():
                    return partial(_gradient, op, places, operands.split(), func)
    return None


def _gradient(op: Op, places: Any, operands: list[str], func: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """The gradients of an operator, from the gradient of its result."""
    values = _values(op, places, func, args, kwargs)
    return gradients_of(recorded(op), values, [op.arguments.index(each) for each in operands], args[0])
