"""Random programs of operators: `random_programs` with calls of every kind among its steps, and derivatives at the end.

Besides programs of small tensors there are single calls on what is special (nan, infinities) and on what is large,
where kernels go other ways.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from programs.operator_arguments import SIMPLE, Arguments
from programs.operator_calls import CALLS, Call
from programs.operator_domains import CONVERSIONS
from programs.operator_machine import ENTRIES
from programs.operator_operands import Operands, unfit
from programs.random_machine import OBSERVE, Step

_LAID_OUT = ".clone(memory_format=torch.contiguous_format)"
_VIEWED = re.compile(r"\.mT|::2|\.expand\(|\.transpose\(")
_NAME = re.compile(r"\bt\d+\b")
# Operators that are written as symbols too.
_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "matmul": "@", "pow": "**", "fmod": "%", "remainder": "%",
            "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "bitwise_and": "&",
            "bitwise_or": "|", "bitwise_xor": "^", "bitwise_left_shift": "<<", "bitwise_right_shift": ">>"}
_SPECIAL = ("float('inf')", "-float('inf')", "float('nan')", "0.", "-0.", "1.", "-1.", "0.5", "-2.5", "3.")
# What takes another of equal elements, or gets large of what is.
_OF_EQUALS = ("diagflat", "diag_embed", "unique", "kthvalue", "mode", "topk", "median", "nanmedian")
# Element by element or by reduction, so that what is large does not become larger.
_SIMPLE_CALLS = [call for call in CALLS if not call.sequence and call.name not in _OF_EQUALS
                 and all(p.kind in SIMPLE for p in call.parameters) and call.results in "12"]


def generate(torch: Any, seed: int, length: int = 9) -> list[Step]:
    """A program of about `length` steps and the derivatives of what came of them."""
    return OperatorAuthor(torch, seed).program(length)


class OperatorAuthor(Operands):
    """Writes a program in which most steps call an operator."""

    entries: Sequence[str] = ENTRIES

    def __init__(self, torch: Any, seed: int) -> None:
        super().__init__(torch, seed)
        self.turn = [CALLS[seed % len(CALLS)]]               # so that each has its turn
        self.kinds = ((self.create, 1), (self.view, 3), (self.call, 14), (self.entry, 3), (self.write, 1.5),
                      (self.hook, 1), (self.backward, 0.6), (self.grad, 0.8), (self.detach, 0.4), (self.mode, 0.3),
                      (self.compute, 0.7), (self.mark, 0.3), (self.special, 0.7), (self.large, 0.2))

    def program(self, length: int) -> list[Step]:
        makers, weights = zip(*self.kinds, strict=True)
        if self.draw.random() < 0.1:
            self.add("torch.set_default_dtype(torch.float64)")
        for i in range(length):
            maker = self.create if i < 2 else self.draw.choices(makers, weights)[0]
            step = maker()
            if maker in (self.call, self.entry) and self.draw.random() < 0.07:
                step = f"with torch.no_grad(): {step}"
            self.add(step)
            for name in self.names(unfit):
                self.add(f"del {name}")
            if i > 1:
                self.steps.append(OBSERVE)
        self.derivatives()
        self.torch.set_default_dtype(self.torch.float32)
        return self.steps

    # Calls

    def call(self) -> Step:
        call = self.turn.pop() if self.turn else self.draw.choice(CALLS)
        x = self.operand(call.domain)
        t = self.value(x)
        if t is None:
            return f"{self.new()} = {x}"
        if ".expand(" in x and "median" in call.name:
            x = x.partition(".expand(")[0]                   # of which PyTorch reads foreign memory
            t = self.value(x)
        arguments = Arguments(self.draw, t, self.made)
        if call.sequence:
            x = f"[{x}, {self.made(tuple(t.shape), 'any')}]" if self.draw.random() < 0.8 else f"[{x}]"
        options = self.arguments(call, arguments)
        return self.assigned(call, self.form(call, x, options))

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
        """The call as a method, a function, in place, with `out=`, or as a symbol."""
        kind, torch = self.draw.random(), self.torch
        method = not call.sequence and hasattr(torch.Tensor, call.plain) and "functional" not in call.name
        if call.name in _SYMBOLS and len(options) == 1 and "=" not in options[0] and kind < 0.5:
            return self.symbol(_SYMBOLS[call.name], x, options[0], call)
        if kind < 0.14 and method and hasattr(torch.Tensor, f"{call.plain}_") and self.separate(call, x, options):
            return f"{x}.{call.plain}_({', '.join(options)})"
        space = _resolved(torch, call.name)
        if space is None or (method and kind < 0.5 and call.name.count(".") == 0):
            return f"{x}.{call.plain}({', '.join(options)})"
        named = self.draw.random() < 0.05 and "(input," in (space.__doc__ or "") and all("=" in o for o in options)
        text = ", ".join([f"input={x}" if named else x, *options])
        if kind > 0.88 and call.results in "12" and "out=" in (space.__doc__ or ""):
            return f"torch.{call.name}({text}, out={self.out(f'torch.{call.name}({text})')})"
        return f"torch.{call.name}({text})"

    def symbol(self, sign: str, x: str, other: str, call: Call) -> str:
        """An operator of Python's, from either side, or that writes over its left side."""
        compared = sign in ("==", "!=", "<", "<=", ">", ">=", "@")
        written = _NAME.fullmatch(x) and self.draw.random() < 0.2 and not compared
        if written and self.separate(call, x, [other]):
            self.add(f"{x} {sign}= {other}")
            return f"{x}.clone()"
        if re.fullmatch(r"-?[\d.]+", other) and self.draw.random() < 0.4 and sign != "**":
            return f"({other}) {sign} {x}"
        return f"{x} {sign} {other}"

    def separate(self, call: Call, x: str, options: list[str]) -> bool:
        """Whether what is written over does not overlap itself, and is not read from elsewhere.

        PyTorch makes ints require a gradient that a comparison is written over, and lets leaves be written over by
        logical operators.
        """
        target, here = self.value(x), [self.at(name) for name in _NAME.findall(f"{x} {options}")]
        if target is None or not here or ".expand(" in x or any(t is None or self.expanded(t) for t in here):
            return False
        if any(t.requires_grad for t in here) and ("logical" in call.name or not target.is_floating_point()):
            return False
        places = [t.untyped_storage().data_ptr() for t in here if t.numel()]
        return len({*places}) == len(places)

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
        operands = [t.untyped_storage().data_ptr() for t in map(self.at, _NAME.findall(text)) if t is not None]
        fits = self.names(lambda t: t.shape == result.shape and t.dtype == result.dtype and t.is_contiguous()
                          and t.untyped_storage().data_ptr() not in operands)
        if fits and kind < 0.3:
            return self.draw.choice(fits)
        shape = tuple(result.shape) if kind < 0.85 else (0,)
        dtype = str(result.dtype) if kind < 0.93 else f"torch.{self.draw.choice(('float64', 'int64', 'float32'))}"
        if kind < 0.5 and not text.startswith("torch.diag"):           # a part of what is larger
            self.add(f"{self.new()} = torch.zeros({(*shape, 2)}, dtype={dtype})")
            return f"t{self.count - 1}[..., {self.draw.randrange(2)}]"
        return f"torch.zeros({shape}, dtype={dtype})"

    def assigned(self, call: Call, text: str) -> Step:
        if call.results == "2":
            return f"{self.new()}, {self.new()} = {text}"
        if call.results == "list":
            return f"{self.new()}, *_ = {text}" if self.draw.random() < 0.7 else f"*_, {self.new()} = {text}"
        return f"{self.new()} = {self.laid_out(text)}"

    def laid_out(self, text: str) -> str:
        """Of operands that lie in memory in different ways, where the result lies is not PyTorch's choice."""
        operands = [t for t in map(self.at, _NAME.findall(text)) if t is not None]
        same = all(t.is_contiguous() for t in operands) and not _VIEWED.search(text)
        if len(operands) < 2 or same or "_(" in text or "out=" in text:
            return text
        result = self.value(text)
        if not isinstance(result, self.torch.Tensor) or result._is_view():
            return text
        return f"({text}){_LAID_OUT}"

    # Calls on other operands

    def special(self) -> Step:
        """A call on zeros, infinities and nan, of which only the results are looked at."""
        call = self.draw.choice(_SIMPLE_CALLS)
        dtype = self.draw.choice(["float64", "float32"])
        numbers = ", ".join(self.draw.choices(_SPECIAL, k=6))
        return self.noted(call, f"torch.tensor([{numbers}], dtype=torch.{dtype}).reshape(2, 3)")

    def large(self) -> Step:
        """A call on many elements, in one order of memory or another."""
        call = self.draw.choice(_SIMPLE_CALLS)
        dtype, (rows, columns) = self.draw.choice(["float64", "float32"]), self.draw.choice([(60, 200), (4, 5000)])
        numbers = f"torch.arange({rows * columns}) * 7919 % 40009"
        x = f"(({numbers}).to(torch.{dtype}) / 10000 - 2).reshape({rows}, {columns})"
        x += self.draw.choice(["", "", ".mT", ".unsqueeze(1)", ".reshape(-1)", "[:, ::2]"])
        return self.noted(call, CONVERSIONS.get(call.domain, "{}").format(x))

    def noted(self, call: Call, x: str) -> Step:
        t = self.value(x)
        options = self.arguments(call, Arguments(self.draw, t, self.made))
        return f"notes({self.form(call, x, options)})"

    def entry(self) -> Step:
        """A call from the table of operators, on inputs in its domain that are made of what is there."""
        name = self.draw.choice(self.entries)
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
        kept = [name for name in first if name in again and not unfit(self.at(name))]
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
