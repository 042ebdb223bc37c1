"""Random programs of operators: `random_programs` with calls of every kind among its steps, and derivatives at the end.

What is drawn fits what is there, by looking at PyTorch's values: operators get no operands for which the last bits
decide (near kinks, ties and poles), so that the two libraries must agree closely on all that they show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from operator_arguments import Arguments
from operator_calls import CALLS, Call
from operator_domains import CONVERSIONS, FITS
from operator_machine import ENTRIES, OperatorMachine
from random_machine import OBSERVE, Step
from random_programs import Author

_SHAPES = ((3,), (2, 3), (2, 3), (3, 3), (3, 2), (1, 3), (2, 1), (), (), (2, 2, 3), (4,), (1,), (0,), (2, 0), (0, 3),
           (1, 2, 3), (2, 1, 2))
_PALETTES = (("float64",), ("float64", "float64", "int64", "bool"), ("float64", "complex128"), ("float32",),
             ("float32", "float64"), ("float32", "float64", "int64", "int32", "uint8", "bool", "complex64"))
_LAID_OUT = ".clone(memory_format=torch.contiguous_format)"


def generate(torch: Any, seed: int, length: int = 9) -> list[Step]:
    """A program of about `length` steps and the derivatives of what came of them."""
    return OperatorAuthor(torch, seed).program(length)


class OperatorAuthor(Author):
    """Writes a program in which most steps call an operator."""

    def __init__(self, torch: Any, seed: int) -> None:
        super().__init__(torch, seed)
        self.torch = torch
        self.machine = OperatorMachine(torch)
        self.palette = self.draw.choice(_PALETTES)
        self.steps: list[Step] = []
        self.kinds = ((self.create, 1), (self.view, 3), (self.call, 14), (self.entry, 3), (self.write, 1.5),
                      (self.hook, 1), (self.backward, 0.6), (self.grad, 0.8), (self.detach, 0.4), (self.mode, 0.3),
                      (self.compute, 0.7), (self.mark, 0.3))

    def program(self, length: int) -> list[Step]:
        makers, weights = zip(*self.kinds, strict=True)
        for i in range(length):
            maker = self.create if i < 2 else self.draw.choices(makers, weights)[0]
            step = maker()
            if maker in (self.call, self.entry) and self.draw.random() < 0.07:
                step = f"with torch.no_grad(): {step}"
            self.add(step)
            for name in self.names(_unfit):
                self.add(f"del {name}")
            if i > 1:
                self.steps.append(OBSERVE)
        self.derivatives()
        return self.steps

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

    def detach(self) -> Step:
        """A copy: a write to `.data` is not noticed, and what rules then make of it is theirs."""
        return f"{self.new()} = {self.any()}.detach().clone()"

    # Tensors

    def create(self) -> Step:
        return self.literal(self.draw.choice(_SHAPES), "")

    def literal(self, shape: tuple[int, ...], kind: str) -> Step:
        """A new tensor of multiples of 1/8, which are exact in all that is added and multiplied."""
        dtype = "bool" if kind == "bool" else self.draw.choice(self.palette)
        if kind == "floating" and dtype in ("int64", "int32", "uint8", "bool"):
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
        if kind == "positive":
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
        self.add(self.literal(tuple(shape), kind))
        return f"t{self.count - 1}"

    def operand(self, domain: str) -> str:
        """A tensor that suits an operator: as it is, or what is made of it."""
        fits, x = FITS[domain], self.any()
        for _ in range(3):
            t = self.at(x)
            if t is not None and fits(t):
                return x
            x = self.any()
        if domain in CONVERSIONS and self.at(x) is not None and self.draw.random() < 0.7:
            return CONVERSIONS[domain].format(f"torch.view_as_real({x})" if self.at(x).is_complex() else x)
        return self.made(self.draw.choice(_SHAPES), domain)

    # Calls

    def call(self) -> Step:
        call = self.draw.choice(CALLS)
        x = self.operand(call.domain)
        t = self.value(x)
        if t is None:
            return f"{self.new()} = {x}"
        arguments = Arguments(self.draw, t, self.made)
        if call.sequence:
            x = f"[{x}, {self.made(tuple(t.shape), 'any')}]" if self.draw.random() < 0.8 else f"[{x}]"
        options = self.arguments(call, arguments)
        text = self.form(call, x, options)
        return self.assigned(call, text)

    def arguments(self, call: Call, arguments: Arguments) -> list[str]:
        """The arguments, by position as long as none before was left out, or by name."""
        found, by_name = [], False
        for parameter in call.parameters:
            if parameter.optional and self.draw.random() < 0.5:
                by_name = True
                continue
            text = arguments.text(parameter.kind)
            by_name = by_name or parameter.by_name or self.draw.random() < 0.15
            named = by_name and "," not in re.sub(r"[\[(].*[\])]", "", text) and parameter.name != parameter.kind
            found.append(f"{parameter.name}={text}" if named or (by_name and parameter.by_name) else text)
            if by_name and "=" not in found[-1]:
                by_name = False
        return found if _ordered(found) else [text.partition("=")[2] or text for text in found]

    def form(self, call: Call, x: str, options: list[str]) -> str:
        kind, torch = self.draw.random(), self.torch
        method = not call.sequence and hasattr(torch.Tensor, call.plain) and "functional" not in call.name
        operands = [self.at(name) for name in re.findall(r"\bt\d+\b", f"{x} {options}")]
        if kind < 0.14 and method and hasattr(torch.Tensor, f"{call.plain}_") and self.separate(operands, call):
            return f"{x}.{call.plain}_({', '.join(options)})"
        space = _resolved(torch, call.name)
        if space is None or (method and kind < 0.5 and call.name.count(".") == 0):
            return f"{x}.{call.plain}({', '.join(options)})"
        named = self.draw.random() < 0.05 and "(input," in (space.__doc__ or "") and all("=" in o for o in options)
        text = ", ".join([f"input={x}" if named else x, *options])
        if kind > 0.88 and call.results in "12" and "out=" in (space.__doc__ or ""):
            return f"torch.{call.name}({text}, out={self.out(f'torch.{call.name}({text})')})"
        return f"torch.{call.name}({text})"

    def separate(self, operands: list[Any], call: Call) -> bool:
        """Whether what is written over is dense, and is not read from elsewhere.

        PyTorch makes ints require a gradient that a comparison is written over, and lets leaves be written over by
        logical operators.
        """
        here = [t for t in operands if t is not None]
        watched = any(t.requires_grad for t in here)
        if not here or (watched and ("logical" in call.name or not here[0].is_floating_point())):
            return False
        places = [t.untyped_storage().data_ptr() for t in here if t.numel()]
        return bool(here) and here[0].is_contiguous() and len({*places}) == len(places)

    def out(self, text: str) -> str:
        """What a result is written to: mostly as it should be, else of another type, shape, or a leaf."""
        result = self.value(text)
        results = [*result] if isinstance(result, tuple) else [result]
        targets = ", ".join(self.target(r, text) for r in results)
        return targets if len(results) == 1 else f"({targets})"

    def target(self, result: Any, text: str) -> str:
        kind = self.draw.random()
        if not isinstance(result, self.torch.Tensor) or kind < 0.06:
            return "torch.zeros((2,))"
        names = re.findall(r"\bt\d+\b", text)
        operands = [t.untyped_storage().data_ptr() for t in map(self.at, names) if t is not None]
        fits = self.names(lambda t: t.shape == result.shape and t.dtype == result.dtype and t.is_contiguous()
                          and t.untyped_storage().data_ptr() not in operands)
        if fits and kind < 0.4:
            return self.draw.choice(fits)
        shape = tuple(result.shape) if kind < 0.85 else (0,)
        dtype = str(result.dtype) if kind < 0.93 else f"torch.{self.draw.choice(('float64', 'int64', 'float32'))}"
        return f"torch.zeros({shape}, dtype={dtype})"

    def assigned(self, call: Call, text: str) -> Step:
        if call.results == "2":
            return f"{self.new()}, {self.new()} = {text}"
        if call.results == "list":
            return f"{self.new()}, *_ = {text}" if self.draw.random() < 0.7 else f"*_, {self.new()} = {text}"
        return f"{self.new()} = {text}{self.laid_out(text)}"

    def laid_out(self, text: str) -> str:
        """Of operands that lie in memory in different ways, where the result lies is not PyTorch's choice."""
        operands = [t for t in map(self.at, re.findall(r"\bt\d+\b", text)) if t is not None]
        if len(operands) < 2 or all(t.is_contiguous() for t in operands) or "_(" in text or "out=" in text:
            return ""
        result = self.value(text)
        if not isinstance(result, self.torch.Tensor) or result._is_view():
            return ""
        return _LAID_OUT

    def value(self, text: str) -> Any:
        """What an expression is, evaluated beside the program."""
        found, notes = self.machine.look(text), self.machine.notes
        notes.clear()
        return found

    def entry(self) -> Step:
        """A call from the table of operators, on inputs in its domain that are made of what is there."""
        name = self.draw.choice(ENTRIES)
        inputs = self.names(lambda t: t.numel() > 0 and t.dtype.is_floating_point)
        if not inputs:
            return self.create()
        sample = self.draw.randrange(8)
        chosen = ", ".join(self.draw.choices(inputs, k=3))
        return f"{self.new()} = entry({name!r}, {sample}, torch.float64, [{chosen}])"

    # Derivatives

    def derivatives(self) -> None:
        """The first and the second derivatives of all that was made by all that requires a gradient."""
        outputs = self.names(lambda t: t.requires_grad and not t.is_leaf)[-5:]
        leaves = self.names(lambda t: t.requires_grad and t.is_leaf)[:6]
        if not outputs or not leaves:
            return
        inputs = f"[{', '.join(leaves)}]"
        first = [self.new() for _ in leaves]
        self.add("torch.set_grad_enabled(True)")
        if self.draw.random() < 0.2:
            self.add(self.write())
        self.add(f"{', '.join(first)}, = derivatives([{', '.join(outputs)}], {inputs}, True)")
        self.steps.append(OBSERVE)
        again = self.names(lambda t: t.requires_grad and not t.is_leaf)
        kept = [name for name in first if name in again and not _unfit(self.at(name))]
        if kept:
            second = [self.new() for _ in leaves]
            self.add(f"{', '.join(second)}, = derivatives([{', '.join(kept)}], {inputs}, False)")
            self.steps.append(OBSERVE)


def _ordered(options: list[str]) -> bool:
    """Whether no argument by position comes after one by name."""
    named = ["=" in option for option in options]
    return named == sorted(named)


def _resolved(torch: Any, name: str) -> Any:
    found = torch
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _unfit(t: Any) -> bool:
    """Whether there are values by which small differences grow."""
    return t.numel() > 200 or (t.numel() > 0 and not bool((np.abs(t.detach().numpy(force=True)) <= 30).all()))
