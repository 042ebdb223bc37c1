"""The tangents of products: linear in each factor by itself, so the sum of the products with one factor's tangent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.elementwise.arithmetic import add, mul
from ...ops.framework import Op
from ...ops.linalg.matrix import bmm, mm, mv
from .levels import below


class Product:
    """A product of the operands at `factors`. `beside`, if given, is the product without the other operands."""

    def __init__(self, factors: tuple[int, ...], beside: Op | None = None) -> None:
        self.factors, self.beside = factors, beside

    def fits(self, op: Op, args: Sequence[Any]) -> bool:
        """Whether the tangent of this call is known."""
        return True

    def tangent(self, op: Op, args: tuple[Any, ...], tangents: Sequence[Any]) -> Any:
        """The tangent of the product; None if it is zero."""
        total = None
        for at in self.factors:
            if tangents[at] is not None:
                part = self.product(op, (*args[:at], tangents[at], *args[at + 1:]))
                total = part if total is None else add.run(total, part)
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
            total = t if total is None else add.run(total, t)
        return total

    def product(self, op: Op, args: tuple[Any, ...]) -> Any:
        """The product, without the operand to add."""
        assert self.beside is not None
        return self.beside.run(*args[1:3])


def _scaled(t: Any, factor: Any) -> Any:
    return mul.run(t, np.array(factor, t.dtype))


PRODUCTS: dict[str, Product] = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot"), Product((0, 1))),
    "addmm": Scaled((1, 2), mm), "addmv": Scaled((1, 2), mv), "baddbmm": Scaled((1, 2), bmm),
}
