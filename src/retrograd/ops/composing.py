"""Arithmetic with numbers, and a norm, as PyTorch composes losses and distances of them: with nodes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import normalizing as kernels
from .framework import backward_name, operator, pointwise
from .normalizing import norm as linalg_norm


def _sum(x: Any, number: Any) -> Any:
    """x + number, of a tensor and a number."""
    return np.add(x, number, out=...)


def _product(x: Any, number: Any) -> Any:
    """x * number, of a tensor and a number."""
    return np.multiply(x, number, out=...)


def _quotient(x: Any, number: Any) -> Any:
    """x / number, of a tensor and a number."""
    return np.divide(x, number, out=...)


add_number = pointwise("add", _sum, domain="float", node=backward_name("add", 1), tensors=1, x=lambda g: g)
mul_number = pointwise("mul", _product, domain="float", node=backward_name("mul", 1), tensors=1,
                       x=lambda g, number: g * number)
div_number = pointwise("div", _quotient, domain="float", node=backward_name("div", 1), tensors=1,
                       x=lambda g, number: g / number)
norm = operator("norm", kernels.norm, node=backward_name("norm", 1), holomorphic=False, x=linalg_norm.rules["x"])
