"""Tangents that differ, at some points, from what the rule of the gradient says. Here they are PyTorch's.

For example, `fmax` of two equal numbers gives the gradient to the first, and takes the tangent of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import reductions
from ...ops.elementwise import arithmetic, comparison, elementary
from ...ops.framework import Op
from ...ops.indexing import sorting
from ...ops.networks.activations import prelu
from ...ops.reductions import sum_dim
from .matrices import Formula
from .rules import by_elements, by_rule

if TYPE_CHECKING:
    from ...ops.values import Value


def _selecting(select: Callable[..., Any]) -> Formula:
    """The formula that selects from the tangents of the operands as `select(*operands, *tangents)` says."""

    def formula(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
        def tangent(*values: Any) -> Any:
            return select(*values[:op.arity], *[0.0 if t is None else t for t in values[op.arity:]])

        return by_rule(tangent, *args[:op.arity], *tangents[:op.arity])

    return formula


def _greatest(x: Value, y: Value, of_x: Any, of_y: Any) -> Any:
    return np.where(x == y, (of_x + of_y) / 2, np.where(x > y, of_x, of_y))


def _least(x: Value, y: Value, of_x: Any, of_y: Any) -> Any:
    return np.where(x == y, (of_x + of_y) / 2, np.where(x < y, of_x, of_y))


def _first_greatest(x: Value, y: Value, of_x: Any, of_y: Any) -> Any:
    return np.where(np.logical_or(x > y, np.isnan(y)), of_x, of_y)


def _first_least(x: Value, y: Value, of_x: Any, of_y: Any) -> Any:
    return np.where(np.logical_or(x <= y, np.isnan(y)), of_x, of_y)


def _clamped(x: Value, min: Any, max: Any, of_x: Any, of_min: Any, of_max: Any) -> Any:
    if max is None:
        return np.where(x > min, of_x, of_min)
    if min is None:
        return np.where(x < max, of_x, of_max)
    within = np.where(x < min, of_min, np.where(x > max, of_max, of_x))
    return np.where(min > max, of_max, within)


def _at_least(x: Value, min: Value, of_x: Any, of_min: Any) -> Any:
    return np.where(x >= min, of_x, of_min)


def _at_most(x: Value, max: Value, of_x: Any, of_max: Any) -> Any:
    return np.where(x <= max, of_x, of_max)


def _rectified(x: Value, weight: Value, of_x: Any, of_weight: Any) -> Any:
    return np.where(x >= 0.0, of_x, weight * of_x + of_weight * x)


def _shared(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """The mean of the tangents of all elements that are the result. There is none if the result is nan."""

    def tangent(t: Value, x: Any, out: Any) -> Any:
        axes = tuple(range(x.ndim))
        chosen = np.where(x == out, np.ones_like(t), 0.0)
        return sum_dim(chosen * (t / sum_dim(chosen, axes, False, None)), axes, False, None)

    return by_rule(tangent, tangents[0], args[0], out)


def _quotient(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """Where the divisor is 0, the infinite quotient counts."""
    (of_x, of_y), y = tangents[:2], args[1]
    if of_y is None:
        return by_elements([(lambda t, y: t / y, [of_x, y])])
    if of_x is None:
        return by_elements([(lambda t, y, out: -(t * out) / y, [of_y, y, out])])
    return by_elements([(lambda of_x, of_y, y, out: (of_x - of_y * out) / y, [of_x, of_y, y, out])])


def _polar(op: Op, args: tuple[Any, ...], tangents: Sequence[Any], out: Any) -> Any:
    """A number whose distance from 0 is 0 has a direction, too."""

    def tangent(distance: Value, angle: Value, of_distance: Any, of_angle: Any) -> Any:
        across, along = np.cos(angle), np.sin(angle)
        if of_angle is None:
            parts = of_distance * across, of_distance * along
        else:
            turned = of_angle * distance
            parts = -turned * along, turned * across
            if of_distance is not None:
                parts = of_distance * across + parts[0], of_distance * along + parts[1]
        return elementary.view_as_complex(np.stack(parts, -1))

    return by_rule(tangent, *args[:2], *tangents[:2])


SPECIAL: dict[Op, Formula] = {
    comparison.maximum: _selecting(_greatest), comparison.minimum: _selecting(_least),
    comparison.fmax: _selecting(_first_greatest), comparison.fmin: _selecting(_first_least),
    comparison.clamp: _selecting(_clamped), comparison.clamp_min: _selecting(_at_least),
    comparison.clamp_max: _selecting(_at_most), prelu: _selecting(_rectified),
    arithmetic.div: _quotient, elementary.polar: _polar,
    reductions.max_all: _shared, reductions.min_all: _shared, sorting.median: _shared, sorting.nanmedian: _shared,
}
