"""The formulas of arithmetic, powers, copies and casts. Each is that of the op's kernel, in the same order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.dtypes import category, of_scalar, result_dtype
from ...ops import basic, creation
from ...ops.elementwise import arithmetic as ops
from ...ops.framework import Op
from . import vector_math
from .lanes import Code, Lanes, Unknown, absolute, pair, select, sqrt, to

Formula = Callable[..., Lanes]


def promoted(x: Lanes, number: Any) -> tuple[Lanes, Lanes]:
    """The vector and the number in the common dtype that PyTorch gives them."""
    if isinstance(number, Lanes) or not isinstance(number, int | float):
        raise Unknown("no number")
    if category(of_scalar(number)) > category(x.dtype):
        x = to(x, result_dtype([(x.dtype, True)], [number]))
    return x, x.like(number)


def plain(value: Any) -> Any:
    """An option that the formula looks at. It must be a number."""
    if isinstance(value, Lanes):
        raise Unknown("an option that is an array")
    return value


def _subtract(x: Lanes, y: Lanes) -> Lanes:
    return x - y


def _scaled(x: Lanes, alpha: Any) -> Lanes:
    if x.dtype.kind != "f" and not isinstance(plain(alpha), int):
        raise Unknown("the kernel raises an error")
    return x * x.like(plain(alpha))


def _rsub(x: Lanes, number: Any, alpha: Any) -> Lanes:
    if x.dtype.kind == "b":
        raise Unknown("the kernel raises an error")
    x, first = promoted(x, number)
    return first - (x if alpha == 1 else _scaled(x, alpha))


def square(x: Lanes) -> Lanes:
    """x * x."""
    return x * x


def reciprocal(x: Lanes) -> Lanes:
    """1 / x, of floats."""
    if x.dtype.kind != "f":
        raise Unknown("reciprocals of integers")
    return 1.0 / x


def _power(x: Lanes, exponent: Any) -> Lanes:
    exponent = plain(exponent)
    x, _ = promoted(x, exponent)
    if x.dtype.kind != "f":
        if x.dtype.kind == "b" or exponent not in (1, 2, 3):
            raise Unknown("powers of integers")
        return (x, x * x, x * x * x)[exponent - 1]
    quick: dict[Any, Callable[[], Lanes]] = {
        0: lambda: x.like(1), 0.5: lambda: sqrt(x), -1: lambda: 1.0 / x, 2: lambda: x * x, 1: lambda: x,
        3: lambda: x * x * x,
        -2: lambda: 1.0 / (x * x), -0.5: lambda: 1.0 / sqrt(x)}
    if exponent in quick:
        return quick[exponent]()
    return vector_math.apply("power", x, x.like(exponent))


def _power_of(x: Lanes, y: Lanes) -> Lanes:
    x, y = pair(x, y)
    return vector_math.apply("power", x, y)


def _number_to_power(y: Lanes, base: Any) -> Lanes:
    y, base = promoted(y, base)
    return vector_math.apply("power", base, y)


def _lerp_number(x: Lanes, y: Lanes, weight: Any) -> Lanes:
    way = y - x
    if abs(plain(weight)) < 0.5:
        return x + way * way.like(weight)
    return y - way * way.like(1 - weight)


def _lerp(x: Lanes, y: Lanes, weight: Lanes) -> Lanes:
    way = y - x
    near = absolute(weight) < 0.5
    return select(near, x, y) + (weight - to(~near, way.dtype)) * way


def _times(value: Any, x: Lanes) -> Lanes:
    return x if plain(value) == 1 else x.like(value) * x


def _numbered(formula: Callable[[Lanes, Any], Lanes]) -> Formula:
    """The formula of a float vector and a number."""

    def call(x: Lanes, number: Any) -> Lanes:
        if x.dtype.kind != "f":
            raise Unknown("a number beside integers")
        return formula(x, plain(number))

    return call


def _same(x: Lanes, *options: Any) -> Lanes:
    return x


def _filled(x: Any, *options: Any) -> Lanes:
    """The number, which is the last option, in all lanes."""
    code: Code = x.code
    return code.all(plain(options[-1]), code.result)


FORMULAS: dict[Op, Formula] = {
    ops.add: lambda x, y: x + y,
    ops.sub: _subtract,
    ops.mul: lambda x, y: x * y,
    ops.div: lambda x, y: x / y,
    ops.neg: lambda x: -x,
    ops.positive: _same,
    ops.reciprocal: reciprocal,
    ops.add_scaled: lambda x, y, alpha: x + _scaled(y, alpha),
    ops.sub_scaled: lambda x, y, alpha: x - _scaled(y, alpha),
    ops.rsub_scaled: lambda x, y, alpha: y - _scaled(x, alpha),
    ops.rsub: _rsub,
    ops.add_number: _numbered(lambda x, number: x + number),
    ops.sub_number: _numbered(lambda x, number: x - number),
    ops.mul_number: _numbered(lambda x, number: x * number),
    ops.div_number: _numbered(lambda x, number: x / number),
    ops.square: square,
    ops.power: _power,
    ops.pow_: _power_of,
    ops.number_to_power: _number_to_power,
    ops.lerp_number: _lerp_number,
    ops.lerp: _lerp,
    ops.addcmul: lambda x, y, z, value: x + _times(value, y) * z,
    ops.addcdiv: lambda x, y, z, value: x + _times(value, y) / z,
    ops.fill: _filled,
    ops.fill_tensor: lambda x, y: to(y, x.dtype),
    ops.zero: lambda x: x.like(0),
    ops.copy: lambda x, y: to(y, x.dtype),
    ops.dequantize: lambda x: to(x, "f4"),
    basic.cast: lambda x, dtype: to(x, dtype),
    basic.cast_in: lambda x, dtype, order: to(x, dtype),
    basic.clone: _same,
    basic.copy: _same,
    basic.real: _same,
    creation.fresh: _same,
    creation.new_full: _filled,
}
