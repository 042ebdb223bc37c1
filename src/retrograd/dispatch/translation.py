"""From the operators here to those of PyTorch's core, and back: the calls that handlers receive.

Most operators are one operator of the core. `rows` says which, if the name is another one. `compositions` has those
that are several operators there, or none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.modes import standing
from ..kernels.kinds import holds
from ..kernels.meta import MetaArray
from ..ops.framework import Op
from ..ops.overloads import OpOverload, OpOverloadPacket, namespace
from ..tensors.meta.inference import infer
from ..tensors.recording.operands import explained
from ..tensors.state.base import TensorBase
from .calls import as_tensors, compute, replaced, send, tensor_over
from .core import chosen, known, overload, overloads
from .here import local
from .rows import CALLS, call_in
from .wrapped import WrapperArray

# Operators that are none of the core, and that no handler sees: they only look at numbers, or are parts of a call that
# has been handed over as a whole.
SILENT = frozenset(("fresh", "look", "random_like", "blend", "call"))
# Operators for which a formula of PyTorch calls another overload with a number than a program does.
_SCALARS = frozenset(("add", "sub", "mul", "div"))
Composition = Callable[[Op, Callable[..., Any], tuple[Any, ...]], Any]
COMPOSITIONS: dict[str, Composition] = {}


def translate(op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """The results of a call on the seam, from the handlers that receive it as calls of the core."""
    if op.name in SILENT:
        return _silent(op, call, args, write)
    if write:
        return _written(op, call, args)
    results = COMPOSITIONS.get(op.name, sent)(op, call, args)
    local.here.last = op.name, args
    return results


def _silent(op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """A call that no handler sees. With wrappers, nobody looks at numbers, and handlers have written running means."""
    if op.name in ("blend", "look") and holds(args, WrapperArray):
        return None if write else args[0]
    return compute(op, call, args, write)


def sent(op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The results of an operator that is one operator of the core."""
    func, values, named = named_call(op, as_values(args))
    if op.name in _SCALARS and len(args) == 2 and not isinstance(values[1], TensorBase) and (
            local.here.saved is not None and id(args[1]) not in local.here.saved):
        func = overload(f"{op.name}.Scalar")              # a number of the rule, and not one that the node has saved
    found = send(func, values, named, partial(computed, op, call, args, False))
    return found if op.outputs == ("out",) else tuple(found)


def computed(op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool, by: dict[int, Any]) -> Any:
    """The results of a call of the seam as tensors, with other arrays in the places of those that `by` names."""
    args = replaced(args, by)
    try:
        if holds(args, MetaArray):
            with standing(infer):
                found = infer(op, call, args, write)
        else:
            found = compute(op, call, args, write)
    except (TypeError, ValueError) as error:
        operands = args[0] if op.variadic else args[write:write + op.arity]
        raise explained(op, [None if x is None else tensor_over(x) for x in operands], error) from None
    return local.here.tensor_of(args[0]) if write else as_tensors(found)


def as_values(value: Any) -> Any:
    """Arguments of the seam as a handler gets them: tensors for arrays, lists for tuples, dtypes of PyTorch."""
    if value is None or type(value) in (bool, int, float, complex, str):
        return value
    if type(value) in (list, tuple):
        return [as_values(part) for part in value]
    if isinstance(value, np.dtype):
        return torch_dtype.of[value]
    if isinstance(value, np.generic):
        return value.item()
    if hasattr(value, "strides") and hasattr(value, "dtype"):
        return local.here.tensor_of(value)
    return value


# The name of a call

def named_call(op: Op, values: list[Any]) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """The overload of the core that an operator is, and its arguments."""
    name, row = op.name, row_of(op)
    positional, named = (values, {}) if row is None else row[1](*values)
    name = name if row is None else row[0]
    if "." in name:
        return overload(name), tuple(positional), named
    if known(name):
        try:
            return chosen(name, positional), tuple(positional), named
        except LookupError:
            pass
    return own(op), tuple(values), {}


def own(op: Op) -> OpOverload:
    """The overload under which a handler sees an operator that the core has not."""
    space: Any = namespace("retrograd")
    if op.name not in vars(space):
        packet = OpOverloadPacket("retrograd", op.name)
        packet.op = op  # type: ignore[attr-defined]
        setattr(space, op.name, packet)
    found: OpOverload = vars(space)[op.name].default
    return found


@cache
def row_of(op: Op) -> tuple[str, Callable[..., Any]] | None:
    """The name and the arguments of the core for an operator, by its row; None if it has no row."""
    for text in CALLS[op.name].split("; ") if op.name in CALLS else ():
        try:
            name, names, arguments = call_in(text, op.arguments)
        except LookupError:
            continue
        places = [op.arguments.index(each) for each in names]
        return name, partial(_by_places, arguments, places)
    return None


@cache
def order_of(op: Op) -> list[str]:
    """The names of the operands in the core. The gradients of a node are computed in the order of the alphabet."""
    for text in CALLS.get(op.name, f"{op.name}({', '.join(op.arguments)})").split("; "):
        tree = ast.parse(text, mode="eval").body
        assert isinstance(tree, ast.Call)
        values = [part.id if isinstance(part, ast.Name) else "" for part in tree.args]
        for schema in overloads(ast.unparse(tree.func).partition(".")[0]).values():
            names = dict(zip(values, [a.name for a in schema.arguments]))
            if {*op.arguments[:op.arity]} <= names.keys():
                return [names.get(each, "") for each in op.arguments]
    return [""] * len(op.arguments)


def _by_places(arguments: Callable[..., Any], places: list[int], *values: Any) -> Any:
    return arguments(*[values[i] for i in places])


# Writes

def _written(op: Op, call: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """A call that writes over `args[0]`: an operator of the core whose name ends in `_`."""
    target, values = local.here.tensor_of(args[0]), as_values(args[2:])
    func, positional, named = named_call(op, [target, *values])
    name, _, which = str(func).removeprefix("aten.").partition(".")
    name += "" if name.endswith("_") else "_"
    if func.namespace == "aten" and known(name):
        try:
            func = chosen(name, positional)
        except LookupError:
            func = overload(f"{name}.{which}")
    send(func, (target, *positional[1:]), named, partial(computed, op, call, args, True))
