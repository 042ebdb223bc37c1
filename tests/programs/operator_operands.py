"""The tensors that random programs of operators are about: new ones, and those that suit an operator.

What is drawn fits what is there, by looking at PyTorch's values: operators get no operands for which the last bits
decide (near kinks, ties and poles), so that the two libraries must agree closely on all that they show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from programs.operator_domains import CONVERSIONS, FITS
from programs.operator_machine import OperatorMachine
from programs.random_machine import Step
from programs.random_programs import Author

SHAPES = ((3,), (2, 3), (2, 3), (3, 3), (3, 2), (1, 3), (2, 1), (), (), (2, 2, 3), (4,), (1,), (0,), (2, 0), (0, 3),
          (1, 2, 3), (2, 1, 2))
_PALETTES = (("float64",), ("float64", "float64", "int64", "bool"), ("float64", "complex128"), ("float32",),
             ("float32", "float64"), ("complex64",), ("float32", "float64", "int64", "int16", "int8", "bool"),
             ("float32", "float64", "int64", "int32", "uint8", "bool", "complex64"))
_INTEGERS = ("int64", "int32", "int16", "int8", "uint8", "bool")
_VIEWS = (".mT", ".transpose(0, -1)", "[..., ::2]", ".unsqueeze(0)", ".expand(2, {})", "[None]", "[::2]", "[1:]",
          ".unsqueeze(-1)")


class Operands(Author):
    """Makes and chooses tensors."""

    machine: OperatorMachine

    def __init__(self, torch: Any, seed: int) -> None:
        super().__init__(torch, seed)
        self.torch = torch
        self.machine = OperatorMachine(torch)
        self.palette = self.draw.choice(_PALETTES)
        self.steps: list[Step] = []

    def names(self, fits: Callable[[Any], bool] = lambda t: True) -> list[str]:
        """The names of tensors that fit. A view that is no longer in order fits nothing that asks for its history."""
        def asked(t: Any) -> bool:
            try:
                return fits(t)
            except RuntimeError:
                return False
        return super().names(asked)

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.machine.step(step)

    def view_of(self, x: str) -> str:
        """A view as before; a conjugate of complex numbers is a copy here."""
        text = super().view_of(x)
        complex_ = self.at(x) is not None and self.at(x).is_complex()
        if text == ".data":
            return ".detach()"
        return ".mT" if complex_ and text in (".mH", ".H") else text

    def grad(self) -> Step:
        """A gradient; whether it requires one is internal, so it comes by the helper that makes it."""
        inputs = self.names(lambda t: t.requires_grad)
        x = self.draw.choice(inputs) if inputs else self.any()
        return f"{self.new()}, = derivatives([{self.any()}], [{x}], {self.draw.random() < 0.6})"

    def detach(self) -> Step:
        """A copy: a write to `.data` is not noticed, and what rules then make of it is theirs."""
        return f"{self.new()} = {self.any()}.detach().clone()"

    def create(self) -> Step:
        return self.literal(self.draw.choice(SHAPES), "")

    def literal(self, shape: tuple[int, ...], kind: str) -> Step:
        """A new tensor of multiples of 1/8, which are exact in all that is added and multiplied."""
        dtype = "bool" if kind == "bool" else self.draw.choice(self.palette)
        if kind in ("floating", "smooth") and dtype in _INTEGERS:
            dtype = self.palette[0]
        count = math.prod(shape)
        numbers = [self.number(dtype, kind) for _ in range(count)]
        if kind in ("apart", "spread"):
            numbers = self.draw.sample([n / 8 for n in range(-24, 25) if n], min(count, 48)) + numbers[48:]
            dtype = self.palette[0]
        floating = "float" in dtype or "complex" in dtype
        grad = ", requires_grad=True" if floating and self.draw.random() < 0.6 else ""
        options = f"dtype=torch.{dtype}{grad}"
        if not count:
            return f"{self.new()} = torch.zeros({shape}, {options})"
        return f"{self.new()} = torch.tensor({np.reshape(np.array(numbers, object), shape).tolist()}, {options})"

    def number(self, dtype: str, kind: str) -> Any:
        draw = self.draw
        if dtype == "bool":
            return draw.random() < 0.5
        if kind == "nonzero":
            return draw.choice([1, 2, 3]) if dtype == "uint8" else draw.choice([-3, -2, -1, 1, 2, 3])
        if kind in ("positive", "smooth"):
            return draw.randint(1, 4) if "int" in dtype else draw.randint(4, 24) / 8
        if "int" in dtype or kind == "whole":
            return draw.randint(0 if dtype == "uint8" else -3, 3)
        if "complex" in dtype:
            return complex(draw.randint(-16, 16) / 8, draw.randint(-16, 16) / 8)
        return draw.randint(-20, 20) / 8

    def made(self, shape: tuple[int, ...], kind: str) -> str:
        """The name of a tensor of a shape and kind: one that is there, or a new one."""
        fits = FITS.get(kind, FITS["any"])
        found = self.names(lambda t: tuple(t.shape) == tuple(shape) and t.is_contiguous() and fits(t)
                           and (kind != "bool" or str(t.dtype) == "torch.bool"))
        if found and kind != "literal" and self.draw.random() < 0.6:
            return self.draw.choice(found)
        if len(shape) > 1 and self.draw.random() < 0.2:
            self.add(self.literal((*shape[:-2], shape[-1], shape[-2]), kind))
            return f"t{self.count - 1}.mT"
        self.add(self.literal(tuple(shape), kind))
        return f"t{self.count - 1}"

    def seen_as(self, t: Any) -> str:
        """Now and then a view of a tensor, which lies in memory in another way."""
        if self.draw.random() < 0.7 or not t.ndim:
            return ""
        options = _VIEWS if t.ndim > 1 else _VIEWS[2:]
        return self.draw.choice(options).format(str([*t.shape])[1:-1])

    def operand(self, domain: str) -> str:
        """A tensor that suits an operator: as it is, or what is made of it."""
        fits, x = FITS[domain], self.any()
        for _ in range(3):
            t = self.at(x)
            if t is not None and fits(t):
                return x + self.seen_as(t)
            x = self.any()
        if domain in CONVERSIONS and self.at(x) is not None and self.draw.random() < 0.7:
            return CONVERSIONS[domain].format(f"torch.view_as_real({x})" if self.at(x).is_complex() else x)
        return self.made(self.draw.choice(SHAPES), domain)

    def value(self, text: str) -> Any:
        """What an expression is, evaluated beside the program."""
        found, notes = self.machine.look(text), self.machine.notes
        notes.clear()
        return found


def unfit(t: Any) -> bool:
    """Whether there are values by which small differences grow."""
    return t.numel() > 200 or (t.numel() > 0 and not bool((np.abs(t.detach().numpy(force=True)) <= 30).all()))
