"""The tangents of products: linear in each factor by itself, so the sum of the products with one factor's tangent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.modes import local
from ...ops.elementwise.arithmetic import add, mul
from ...ops.framework import Op
from ...ops.images.convolution import conv_tbc, convolution
from ...ops.linalg import matrix
from ...ops.linalg.matrix import bmm, mm, mv
from ...ops.linalg.norms import cross
from ...ops.reductions import sum_dim
from ...ops.shape import unsafe_view, unsqueeze
from ...ops.tables import Table, table
from .levels import below, constant

if TYPE_CHECKING:
    from ...ops.values import Value


class Product:
    """A product of the operands at `factors`. `beside`, if given, is the product without the other operands."""

    def __init__(self, factors: tuple[int, ...], beside: Callable[..., Any] | None = None) -> None:
        self.factors, self.beside = factors, beside

    def __str__(self) -> str:
        return f"the operands {', '.join(map(str, self.factors))}"

    def tangent(self, op: Op, args: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        """The tangent of the product; None if it is zero."""
        total = None
        for at in self.factors:
            if tangents[at] is not None:
                part = self.product(op, (*args[:at], tangents[at], *args[at + 1:]))
                total = part if total is None else added(total, part)
        return total

    def product(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The product of the operands."""
        return below(op, op.compute, args)


class Scaled(Product):
    """`beta * x + alpha * product`, of the operands after the first."""

    def tangent(self, op: Op, args: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        """The tangent of the sum."""
        beta, alpha = args[3:5]
        total = super().tangent(op, args, tangents)
        if total is not None and alpha != 1:
            total = _scaled(total, alpha)
        t = tangents[0]
        if t is not None:
            t = t if beta == 1 else _scaled(t, beta)
            total = t if total is None else added(total, t)
        return total

    def product(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The product, without the operand to add."""
        assert self.beside is not None
        return self.beside(*args[1:3])


class Biased(Product):
    """A product to which the operand at place 2, a vector for the channels, is added."""

    def __init__(self, channels: int) -> None:
        super().__init__((0, 1))
        self.channels = channels                           # which dimension they are

    def tangent(self, op: Op, args: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        """The tangent of the sum."""
        total = super().tangent(op, (*args[:2], None, *args[3:]), tangents)
        t = tangents[2]
        if t is not None:
            t = unsafe_view.run(t, (-1, *[1] * (args[0].ndim - 1 - self.channels)))
            total = t if total is None else added(total, t)
        return total


def added(total: Any, part: Any) -> Any:
    """The sum. `total` is new memory, and may be written over; `part` can be broadcast to it."""
    thread = local.thread
    if (thread.transform is None and type(total) is type(part) is np.ndarray and total.dtype is part.dtype
            and total.size >= part.size and total.ndim >= part.ndim):
        thread.run(np.add, total, part, out=total)
        return total
    return add.run(total, part)


def _scaled(t: Value, factor: Any) -> Any:
    return mul.run(t, constant(np.array(factor, t.dtype)))


def _outer(x: Any, y: Any) -> Any:
    return mul.run(unsqueeze.run(x, 1), y)


def _summed(x: Any, y: Any) -> Any:
    return sum_dim.run(bmm.run(x, y), (0,), False, None)


_PLAIN = Product((0, 1))

PRODUCTS: Table[Op, Product] = table("Its tangent is a sum: one product for the tangent of each factor, of {}", {
    mm: _PLAIN, bmm: _PLAIN, mv: _PLAIN, matrix.dot: _PLAIN, matrix.vdot: _PLAIN, cross: _PLAIN,
    matrix.trilinear: Product((0, 1, 2)), convolution: Biased(1), conv_tbc: Biased(2),
    matrix.addmm: Scaled((1, 2), mm.run), matrix.addmv: Scaled((1, 2), mv.run),
    matrix.baddbmm: Scaled((1, 2), bmm.run), matrix.addr: Scaled((1, 2), _outer),
    matrix.addbmm: Scaled((1, 2), _summed),
})
