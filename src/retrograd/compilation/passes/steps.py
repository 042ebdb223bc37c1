"""The steps of optimizers as lines of arithmetic, which become loops over all parameters of one shape.

Each function writes the formula that the optimizer's kernel computes, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...dtypes import F64
from ...ops.basic import cast
from ...ops.elementwise.arithmetic import add, div, mul, neg, pow_, sub
from ...ops.elementwise.comparison import maximum
from ...ops.elementwise.elementary import sqrt
from ...ops.framework import Op
from ...optim.option_memory import OptionMemory
from ..program.lines import Arithmetic, Ref
from .formula_lines import group_step
from .line_writer import LineWriter

Array = np.ndarray[Any, Any]


def _sgd(w: LineWriter, p: Any, g: Any, buffer: Any, options: dict[str, Any], rates: tuple[Any, ...], first: bool,
         scratch: Any) -> bool:
    like = w.like(p)
    if first or like.dtype.char not in "fd" or w.like(g).dtype != like.dtype or _is_long(w, rates[0]):
        return False
    rate, momentum, undamped, decay = [_as_value(w, number, like.dtype) for number in rates]
    if options["maximize"]:
        g = w.call(neg, g, like=like)
    if options["weight_decay"]:
        g = w.call(add, g, w.call(mul, p, decay, like=like), like=like)
    if options["momentum"]:
        w.write(mul, buffer, momentum)
        w.write(add, buffer, w.call(mul, g, undamped, like=like) if options["dampening"] else g)
        g = w.call(add, g, w.call(mul, buffer, momentum, like=like), like=like) if options["nesterov"] else buffer
    w.write(sub, p, w.call(mul, g, rate, like=like))
    return True


def _adam(w: LineWriter, p: Any, g: Any, first: Any, second: Any, largest: Any, step: Any, ways: tuple[bool, ...],
          options: tuple[Any, ...], factors: tuple[Any, ...], memory: OptionMemory | None, scratch: Any) -> bool:
    like, lr = w.like(p), options[0]
    if like.dtype.char not in "fd" or w.like(g).dtype != like.dtype or _is_long(w, lr):
        return False

    def made(op: Op, *args: Any) -> Any:
        return w.call(op, *args, like=like)

    maximize, decoupled, decays, slow = ways
    old_first, new_first, old_second, new_second, decay = [_as_value(w, number, like.dtype) for number in factors]
    w.write(add, step, w.constant(1, w.like(step).dtype))
    eps_now, rate = _rates(w, step, like.dtype, memory, *options[:4])
    if maximize:
        g = made(neg, g)
    if decays and decoupled:
        w.write(mul, p, _shrinking(w, lr, options[4], like.dtype))
    elif decays:
        g = made(add, g, made(mul, p, decay))
    off = made(sub, g, first)
    if slow:
        w.write(add, first, made(mul, off, new_first))
    else:
        w.assign(sub, first, g, made(mul, off, old_first))
    w.write(mul, second, old_second)
    w.write(add, second, made(mul, made(mul, g, g), new_second))
    if largest is not None:
        w.write(maximum, largest, second)
        second = largest
    size = made(add, made(sqrt, second), eps_now)
    w.write(sub, p, made(mul, made(div, first, size), rate))
    return True


def _is_long(w: LineWriter, lr: Any) -> bool:
    """Whether a learning rate is a tensor with a dimension, which is of size 1."""
    return type(lr) is Ref and bool(w.like(lr).ndim)


def _as_value(w: LineWriter, lr: Any, dtype: np.dtype[Any]) -> Ref:
    """An option, which is a number or a value, as a value of this dtype."""
    if type(lr) is not Ref:
        return w.constant(lr, dtype)
    return lr if w.like(lr).dtype == dtype else w.call(cast, lr, dtype, like=np.empty((), dtype))


def _shrinking(w: LineWriter, lr: Any, decay: Any, dtype: np.dtype[Any]) -> Ref:
    """What decoupled weight decay multiplies a parameter by: 1 - lr * decay, in double precision, then rounded."""
    wide = np.empty((), F64)
    product = w.call(mul, _as_value(w, lr, F64), _as_value(w, decay, F64), like=wide)
    return _as_value(w, w.call(sub, w.constant(1, F64), product, like=wide), dtype)


def _rates(w: LineWriter, step: Any, dtype: np.dtype[Any], memory: OptionMemory | None, *options: Any) -> list[Any]:
    """The numbers of a step of Adam that depend on its number: eps and the rate, both corrected.

    The options are the learning rate, both betas and eps.
    """
    like, lr = np.empty((), dtype), _as_value(w, options[0], F64)
    if not w.native:
        known = Arithmetic(_rates_of, dtype, *options[1:]) if memory is None else Arithmetic(_rates_in, dtype, memory)
        return w.several(known, step, lr, likes=(like, like))
    wide, (first, second, eps) = np.empty((), F64), [_as_value(w, option, F64) for option in options[1:]]

    def made(op: Op, *args: Any) -> Any:
        return w.call(op, *args, like=wide)

    count, one = made(cast, step, F64) if w.like(step).dtype != F64 else step, w.constant(1, F64)
    missing = [made(sub, one, made(pow_, beta, count)) for beta in (first, second)]
    correction = made(sqrt, missing[1])
    found = [made(mul, eps, correction), made(div, made(mul, lr, correction), missing[0])]
    return found if dtype == F64 else [w.call(cast, value, dtype, like=like) for value in found]


def _rates_of(dtype: np.dtype[Any], first: float, second: float, eps: float, step: Array,
              lr: Array) -> tuple[Array, Array]:
    return _rates_at(dtype, step.item(), lr.item(), (first, second), eps)


def _rates_in(dtype: np.dtype[Any], memory: OptionMemory, step: Array, lr: Array) -> tuple[Array, Array]:
    options = memory.options
    return _rates_at(dtype, step.item(), lr.item(), options["betas"], options["eps"])


@lru_cache(8)                                               # most parameters have taken the same number of steps
def _rates_at(dtype: np.dtype[Any], count: float, lr: float, betas: tuple[float, float],
              eps: float) -> tuple[Array, Array]:
    correction = math.sqrt(1 - betas[1]**count)
    return np.array(eps * correction, dtype), np.array(lr * correction / (1 - betas[0]**count), dtype)


STEPS: dict[str, Callable[..., bool]] = {"_fused_sgd_": _sgd, "_fused_adam_": _adam, "_fused_group_": group_step}
