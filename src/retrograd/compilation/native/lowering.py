"""Which steps have machine code, and their code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...foundations.dtypes import BOOL_
from ..program.lines import Ref
from ..program.loops import Step
from . import activations, arithmetic, choices, elementary
from .host import Host, host
from .lanes import Code, Lanes, Unknown
from .modules import Module

# By kernel, since the op that is written over its operand is another op with the same kernel.
FAMILIES = (arithmetic, choices, elementary, activations)
_FORMULAS: dict[Any, Callable[..., Lanes]] = {
    op.kernel: formula for family in FAMILIES for op, formula in family.FORMULAS.items()}


def lowers(step: Step, dtypes: Sequence[np.dtype[Any]], target: Host | None = None) -> bool:
    """Whether the step has machine code. `dtypes` are those of the values that its Refs name, in order."""
    if step.op.kernel not in _FORMULAS:
        return False
    args = tuple([Ref(i) if isinstance(arg, Ref) else arg for i, arg in enumerate(step.args)])
    trial, kinds = (step._replace(args=args), tuple(dtypes), target or host()), tuple(map(type, args))
    try:
        return _known(kinds, *trial)
    except TypeError:                                       # an option cannot be hashed
        return _can_be_written(*trial)


@lru_cache(4096)
def _known(kinds: tuple[type, ...], step: Step, dtypes: tuple[np.dtype[Any], ...], target: Host) -> bool:
    """The answer, kept. The kinds of the arguments tell 1 from 1.0 and True."""
    return _can_be_written(step, dtypes, target)


def _can_be_written(step: Step, dtypes: tuple[np.dtype[Any], ...], target: Host) -> bool:
    code, given = Code(_trial(target), 4), iter(dtypes)
    try:
        write(code, step, [code.vector("%x", next(given)) if isinstance(arg, Ref) else None for arg in step.args])
    except Unknown:
        return False
    return True


@cache
def _trial(target: Host) -> Module:
    """A module for code that is thrown away."""
    return Module(target, thorough=False)


def write(code: Code, step: Step, values: Sequence[Any]) -> Lanes:
    """Write the step's instructions. `values` holds the vectors by the numbers that the Refs name."""
    formula = _FORMULAS.get(step.op.kernel)
    if formula is None:
        raise Unknown(f"no machine code for {step.op}")
    code.result = step.dtype
    args = [_operand(code, arg, values) for arg in step.args]
    if args[0] is None:                                     # an op that makes an array of nothing
        args[0] = code.all(False, BOOL_)
    if not any([isinstance(arg, Lanes) for arg in args]):
        raise Unknown("a step without vectors")
    result = formula(*args)
    if result.dtype != step.dtype:
        raise Unknown(f"{step.op} gives {result.dtype}, not {step.dtype}")
    return result


def _operand(code: Code, arg: Any, values: Sequence[Any]) -> Any:
    if isinstance(arg, Ref):
        vector = values[arg.number]
        code.type(vector.dtype)                             # or Unknown
        return vector
    if isinstance(arg, np.ndarray):
        if arg.ndim:
            raise Unknown("an array that is no value of the loop")
        return code.all(arg[()], arg.dtype)
    return arg
