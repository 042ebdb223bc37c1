"""Random programs that write to what a graph has saved, by each kind of write, before the graph runs backward.

Each program is text that defines `run(torch)`. `told` gives the error that the program ends with, or the gradients.
"""

from __future__ import annotations

import random
from typing import Any

# Tensors that are made of `b`: `b` itself, views of it, views of views.
MADE = ("b", "b[:2]", "b[1:]", "b.view(2, 2)", "b.view(2, 2).t()", "b[None]", "b.expand(3, 4)", "b[1:][:2]",
        "b.unfold(0, 2, 1)", "b.view(2, 2)[0]", "b.as_strided((2,), (2,))", "b.squeeze()")
# What saves its operand.
SAVING = ("{0} * {0}", "{0}.sin()", "{0} * x.sum()", "{0}.pow(3)", "Squared.apply({0})", "{0} / ({0} + 1)",
          "torch.nn.functional.softplus({0})", "{0}.double() * {0}.double()", "{0}.exp()", "{0}.sigmoid() * {0}",
          "torch.where({0} > 0, {0} * {0}, {0})", "({0} * 2).mul({0})")
# What saves the order of the elements, or the place of one: an integer result that the program can write to.
ORDERING = ("torch.sort({0})", "{0}.max(-1)", "{0}.topk(1)", "torch.kthvalue({0}, 1)", "torch.median({0}, -1)")
# Writes to `b` and to the views.
WRITES = ("{0}.mul_(3)", "{0}.add_(1)", "{0}.mul_(x.sum())", "{0}.zero_()", "{0}.fill_(2.0)",
          "{0}.copy_(torch.ones(1))", "{0}.detach().mul_(2)", "{0}[0] = 5.0", "{0}[torch.tensor([0])] = 3.0",
          "torch.autograd.graph.increment_version({0})", "{0}.clamp_(0, 1)", "{0}.pow_(2)",
          "{0}.masked_fill_({0} > 0, 1.0)", "{0}.addcmul_({0}.detach() + 1, x.sum())")
SOURCES = ("x.clone()", "x * 2", "x.exp()", "torch.ones(4)", "x.view(2, 2).t().reshape(4)", "x[torch.arange(4)]",
           "torch.squeeze(x[None] * 1, 0)", "2.0 ** x", "torch.stack([x, x]).max(0)[0]", "torch.mean(x[None], 0)")

HEAD = """
def run(torch):
    class Squared(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * a

        @staticmethod
        def backward(ctx, g):
            (a,) = ctx.saved_tensors
            return 2 * g * a

    x = (torch.arange(4.0) / 4 + 0.5).requires_grad_()
"""


def program(seed: int) -> str:
    """The text of a program."""
    draw = random.Random(seed)
    lines, names = [f"b = {draw.choice(SOURCES)}"], ["b"]
    for number in range(draw.randrange(3)):
        lines.append(f"v{number} = {draw.choice(MADE)}")
        names.append(f"v{number}")
    results = []
    for number in range(draw.randrange(1, 3)):
        saved = draw.choice(names)
        if draw.random() < 0.15:
            lines.append(f"c{number}, order{number} = {draw.choice(ORDERING).format(saved)}")
            names.append(f"order{number}")
        else:
            lines.append(f"c{number} = {draw.choice(SAVING).format(saved)}")
        results.append(f"c{number}.sum()")
        for _ in range(draw.randrange(3)):
            write = draw.choice(WRITES).format(draw.choice(names))
            lines += ["with torch.no_grad():", f"    {write}"] if draw.random() < 0.2 else [write]
    lines += [f"({' + '.join(results)} + x.sum()).backward()", "return x.grad.tolist()"]
    return HEAD + "".join([f"    {line}\n" for line in lines])


def told(torch: Any, text: str) -> tuple[str, list[float]]:
    """The message of the error that a program ends with; the gradient if the program ends well."""
    scope: dict[str, Any] = {}
    exec(text, scope)
    try:
        return "", scope["run"](torch)
    except (RuntimeError, IndexError) as error:
        return str(error), []
