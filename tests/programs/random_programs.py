"""Random autograd programs, the same text for every torch: made from a seed, run step by step, compared, shrunk.

A program is a list of steps, each one line of Python on the names t0, t1, ... After a step everything that can be
read off the tensors is noted (or, in some programs, only now and then: reading a view's `grad_fn` renews it). Any
step may be dropped: what then has no name raises the same NameError on both sides.
"""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from programs.random_machine import OBSERVE, Machine, Step

_UNARY = ("-{}", "{}.sin()", "{}.exp()", "{}.tanh()", "{}.square()", "{}.clone()", "{} * 2", "1 - {}", "{} / 4",
          "{} ** 3", "{}.abs()", "{}.relu()")
_BINARY = ("{} + {}", "{} - {}", "{} * {}", "torch.maximum({}, {})", "torch.where({0} > 0, {0}, {1})")
_REDUCTIONS = ("{}.sum()", "{}.mean()", "{}.sum(0)", "{}.sum(-1, keepdim=True)", "{}.prod()", "{}.amax(0)")
_WRITES = ("{}.add_({})", "{}.mul_({})", "{}.sub_({})", "{}.copy_({})", "{}[...] = {}", "{}.div_({})")
_ALONE = ("{}.zero_()", "{}.fill_(2.0)", "{}.mul_(2)", "{}.add_(1)", "{}.sin_()", "{}.exp_()", "{}.neg_()",
          "{}.tanh_()", "{}.relu_()", "{}.square_()")
_AUGMENTED = ("{} += {}", "{} -= {}", "{} *= {}")
# PyTorch crashes where a hook is registered on a view of written memory whose grad_fn was not looked at.
_HOOKS = ("{0}.grad_fn; {0}.register_hook(note)", "{0}.grad_fn; {0}.register_hook(lambda g: g * 2)",
          "{0}.grad_fn; {0}.register_hook(lambda g: note(g * 3))", "{}.retain_grad()",
          "{}.register_post_accumulate_grad_hook(lambda t: note(t.grad))")
_FUNCTIONS = ("{0} = Square.apply({2})", "{0} = Square.apply({2})", "{0} = Exp.apply({2})", "{0} = Doubled.apply({2})",
              "{0} = Same.apply({2})", "{0} = Part.apply({2})", "{0}, {1} = Both.apply({2})",
              "{0}, {1} = Half.apply({2})", "{0} = Times.apply({2}, {3})", "{0} = Times.apply({3}, {2})")
_JOINED = ("torch.cat([{0}.reshape(-1), {1}.reshape(-1)])", "torch.stack([{0}, {0}])", "{0}.double()", "{0}.float()",
           "{0}.repeat(2, *[1] * {0}.ndim)", "{0}.flip(0)", "{0}.cumsum(0)", "{0}[torch.tensor([0, 0])]",
           "{0}[{0} > 0]", "{0}.index_select(0, torch.tensor([0, -1]) % len({0}))", "{0}.masked_fill({0} > 0, 2.)",
           "torch.where({0} > 0, {0}, {1})", "{0}.contiguous()", "{0}.roll(1, 0)", "{0}.softmax(0)")
_RESHAPED = ("{}.squeeze_()", "{}.unsqueeze_(0)", "{}.t_()", "{}.transpose_(0, 1)", "{}.unsqueeze_(-1)",
             "{}.squeeze_(0)")
_MARKS = ("{}.requires_grad_()", "{}.requires_grad_(False)", "{}.detach_()", "{}.grad = None",
          "{}.requires_grad = True")


def generate(torch: Any, seed: int, length: int = 14) -> list[Step]:
    """A program of about `length` steps. It is run on `torch` as it grows, so that most steps fit what is there."""
    return Author(torch, seed).program(length)


class Author:
    """Writes a program, looking at the tensors there are so far."""

    def __init__(self, torch: Any, seed: int) -> None:
        self.draw = random.Random(seed)
        self.machine = Machine(torch)
        self.count = 0
        self.kinds: tuple[tuple[Callable[[], Step], int], ...] = (
            (self.create, 2), (self.view, 8), (self.parts, 2), (self.compute, 5), (self.write, 8), (self.detach, 1),
            (self.hook, 2), (self.mark, 1), (self.backward, 3), (self.grad, 3), (self.mode, 1), (self.forget, 1),
            (self.function, 3), (self.join, 2), (self.reshaped, 1), (self.unhook, 0.7))

    def program(self, length: int) -> list[Step]:
        quiet = self.draw.random() < 0.4                     # what is not looked at is not renewed
        steps: list[Step] = []
        makers, weights = zip(*self.kinds, strict=True)
        for i in range(length):
            maker = self.create if i < 2 else self.draw.choices(makers, weights)[0]
            step = maker()
            if maker in (self.compute, self.write) and self.draw.random() < 0.1:
                step = f"with torch.no_grad(): {step}"
            steps.append(step)
            self.machine.step(step)
            for name in self.names(_large):                  # there the last digit of exp decides about that of sin
                steps.append(f"del {name}")
                self.machine.step(steps[-1])
            if not quiet or self.draw.random() < 0.1 or i + 1 == length:
                steps.append(OBSERVE)
        return steps

    def new(self) -> str:
        self.count += 1
        return f"t{self.count - 1}"

    def names(self, fits: Callable[[Any], bool] = lambda t: True) -> list[str]:
        return [name for name, t in self.machine.tensors().items() if fits(t)]

    def any(self) -> str:
        """A tensor, the later the likelier."""
        names = self.names() or ["t0"]
        return names[-1 - min(int(self.draw.expovariate(0.4)), len(names) - 1)]

    def at(self, name: str) -> Any:
        return self.machine.tensors().get(name)

    def create(self) -> Step:
        shape = self.draw.choice([(3,), (2, 3), (2, 3), (3, 2), (1, 3), (2, 1), (), (2, 2, 3), (4,), (2, 2)])
        grad = ", requires_grad=True" if self.draw.random() < 0.6 else ""
        dtype = ", dtype=torch.float64" if self.draw.random() < 0.15 else ""
        values = [round(self.draw.uniform(-2, 2), 1) for _ in range(math.prod(shape))]
        return f"{self.new()} = torch.tensor({np.reshape(values, shape).tolist()}{dtype}{grad})"

    def view(self) -> Step:
        x = self.any()
        return f"{self.new()} = {x}{self.view_of(x)}"

    def view_of(self, x: str) -> str:
        """The text of a view of any kind, which mostly fits the tensor."""
        t, draw = self.at(x), self.draw
        shape = tuple(t.shape) if t is not None else (2,)
        dims = len(shape)
        dim = draw.randrange(-dims, dims) if dims else 0
        size = shape[dim] if dims else 1
        order = [*range(dims)]
        draw.shuffle(order)
        whole = math.prod(shape)
        start = draw.randrange(size) if size else 0
        options = [f".unsqueeze({draw.randrange(dims + 1)})", ".squeeze()", ".view(-1)", ".reshape(-1)", ".t()",
                   f".permute({order})", f".view_as({x})", f".expand(2, {str(list(shape))[1:-1]})",
                   f".reshape({[draw.choice([1, 2, 3]), -1]})", ".view(1, -1)", "[...]", "[None]", ".transpose(0, -1)",
                   f".squeeze({dim})", f".view({[*shape]})", ".data", ".detach()", ".real", "[:]", f".view({whole})",
                   ".contiguous()", f".expand_as({x})", ".ravel()",
                   ".mH" if dims > 1 else ".H"]
        if dims:
            index = draw.randrange(-size, size) if size else 0
            options += [f"[{index}]", f"[{start}:]", "[::2]" if size > 1 else "[:]",
                        f"[..., {draw.choice(['0', '1:', 'None'])}]",
                        f".narrow({dim}, {start}, {draw.randint(min(1, size - start), size - start)})",
                        f".select({dim}, {start})",
                        f".transpose({dim}, {draw.randrange(dims)})", f".unfold({dim}, 1, 1)",
                        f".flatten({draw.randrange(dims)})", f".movedim({dim}, 0)", f".swapaxes({dim}, -1)",
                        f".unflatten({dim}, (1, -1))", f".tensor_split(2, {dim})[0]",
                        f".unsqueeze({dim}).squeeze({dim})"]
            if whole:                # without elements, an array does not say where in the memory it is
                options.append(".as_strided((2,), (1,))")
        if dims > 1:
            options += [".diagonal()", ".diagonal(1)", "[:, 0]", "[:, 1:]", "[0, 1]", ".transpose(0, 1)", ".mT"]
        return draw.choice(options)

    def parts(self) -> Step:
        x = self.any()
        t = self.at(x)
        dim = 0 if t is None or not t.ndim else self.draw.randrange(t.ndim)
        call = self.draw.choice([f"split(1, {dim})", f"split(2, {dim})", f"chunk(2, {dim})", f"unbind({dim})",
                                 f"split([1, 1], {dim})"])
        if self.draw.random() < 0.5:
            return f"{self.new()} = {x}.{call}[{self.draw.choice(['0', '-1'])}]"
        return f"{self.new()}, {self.new()}, *_ = {x}.{call}"

    def like(self, x: str) -> str:
        """A tensor that broadcasts to x, if there is one besides; else a number."""
        t, shape = self.at(x), ()
        if t is not None:
            shape = tuple(t.shape)
        found = self.names(lambda u: u.ndim <= len(shape) and all(
            a in (1, b) for a, b in zip(reversed(u.shape), reversed(shape), strict=False)))
        # What comes of operands of different layouts is laid out like the first in PyTorch, row by row here. What comes
        # of a write from overlapping memory that PyTorch does not refuse depends there on the order of the elements.
        found = [name for name in found if self.plain_pair(t, self.at(name))]
        return self.draw.choice(found) if found and self.draw.random() < 0.9 else self.draw.choice(["2.5", "3"])

    def plain_pair(self, t: Any, u: Any) -> bool:
        """Whether two tensors are laid out row by row, and if they share memory, are dense."""
        if t is None:
            return True
        # Of what overlaps itself PyTorch compares the strides of dimensions of size 1 too.
        if 1 in (*t.shape, t.numel()) and t.untyped_storage().data_ptr() == u.untyped_storage().data_ptr():
            return False
        dense = t.is_contiguous() and u.is_contiguous()
        return dense and not (self.expanded(t) or self.expanded(u))

    def expanded(self, t: Any) -> bool:
        return t is not None and any(s == 0 and n > 1 for s, n in zip(t.stride(), t.shape, strict=True))

    def compute(self) -> Step:
        x = self.any()
        kind = self.draw.random()
        if kind < 0.35:
            return f"{self.new()} = {self.draw.choice(_UNARY).format(x)}"
        if kind < 0.75:
            return f"{self.new()} = {self.draw.choice(_BINARY).format(x, self.like(x))}"
        return f"{self.new()} = {self.draw.choice(_REDUCTIONS).format(x)}"

    def write(self) -> Step:
        x, kind, draw = self.any(), self.draw.random(), self.draw
        if kind < 0.3:
            return draw.choice(_ALONE).format(x)
        if kind < 0.5:
            return draw.choice(_WRITES).format(x, self.like(x))
        if kind < 0.6:
            return draw.choice(_AUGMENTED).format(x, self.like(x))
        if kind < 0.7:
            return f"{self.new()} = {draw.choice(_WRITES[:4]).format(x, self.like(x))}"
        if kind < 0.8:                                       # through a view that has no name
            return draw.choice(_ALONE).format(x + self.view_of(x))
        index = draw.choice(["0", "-1", "1:", ":, 0", "..., 0", "torch.tensor([0, -1])", "[0, -1]", f"{x} > 0",
                             "None", "torch.tensor([-1, -1])", "1", ":"])
        t, other = self.at(x), self.any()
        u = self.at(other)
        value = draw.choice([draw.choice(["1.5", "0", "2"]), f"{other}[0]", f"{other}.sum()", other, self.like(x)])
        # Of a slice of a 0-d tensor, and of another dtype where a mask names one element, other words are said; of
        # `x[::2] += x` with one element PyTorch says that it overlaps.
        if t is None or u is None or not t.ndim or t.dtype != u.dtype or not self.plain_pair(t, u):
            value, index = "1.5", "..."
        elif "[0]" in value and t.untyped_storage().data_ptr() == u.untyped_storage().data_ptr():
            value = "1.5"                        # of a part that is not dense PyTorch reads what it has just written
        return f"{x}[{index}] {draw.choice(['=', '=', '=', '+=', '*='])} {value}"

    def detach(self) -> Step:
        return f"{self.new()} = {self.any()}{self.draw.choice(['.detach()', '.data', '.detach().clone()'])}"

    def function(self) -> Step:
        x = self.any()
        return self.draw.choice(_FUNCTIONS).format(self.new(), self.new(), x, self.like(x))

    def join(self) -> Step:
        x = self.any()
        joined = self.draw.choice(_JOINED)
        if "[torch" in joined and self.at(x) is not None and not self.at(x).is_contiguous():
            joined = "{0}.clone()"                           # what is taken by an index is laid out in another way
        return f"{self.new()} = {joined.format(x, self.any())}"

    def reshaped(self) -> Step:
        """A change of shape in place. PyTorch leaves behind what retains the gradient, and fails at the next write."""
        return self.draw.choice(_RESHAPED).format(self.draw.choice(self.names(lambda t: not t.retains_grad) or ["t0"]))

    def hook(self) -> Step:
        x = self.any()
        # Where a later output of several retains its gradient and is written to, PyTorch fails, or crashes.
        later = self.at(x) is not None and self.at(x).output_nr
        step = self.draw.choice([h for h in _HOOKS if "retain" not in h] if later else _HOOKS).format(x)
        return step.replace("; ", "; h = ")

    def unhook(self) -> Step:
        return "h.remove()"

    def mark(self) -> Step:
        x = self.any()
        mark = self.draw.choice(_MARKS)
        # What was saved as a constant and requires grad later, PyTorch differentiates by in a recorded pass.
        return mark.format(self.names()[-1] if self.names() and "requires_grad" in mark and "False" not in mark else x)

    def scalar(self, x: str) -> str:
        return self.draw.choice([f"{x}.sum()", f"({x} * {x}).sum()", x, f"{x}.sin().sum()"])

    def backward(self) -> Step:
        x, keep = self.any(), self.draw.choice(["", "retain_graph=True", "retain_graph=True", "create_graph=True"])
        if self.draw.random() < 0.15:
            leaf = self.draw.choice(self.names(lambda t: t.requires_grad and not t.output_nr) or [x])
            return f"torch.autograd.backward({self.scalar(x)}, inputs=[{leaf}])"
        if self.draw.random() < 0.2:
            return f"{x}.backward(torch.ones_like({x}), {keep})"
        return f"{self.scalar(x)}.backward({keep})"

    def grad(self) -> Step:
        y, inputs = self.any(), self.names(lambda t: t.requires_grad)
        x = self.draw.choice(inputs) if inputs else self.any()
        options = self.draw.choice(["", ", create_graph=True", ", create_graph=True", ", retain_graph=True"])
        if self.draw.random() < 0.7:
            options += ", allow_unused=True"
        # Whether a gradient is a view, of what, how it is laid out and its versions are internal.
        fresh = ".clone(memory_format=torch.contiguous_format)"
        return f"{self.new()} = torch.autograd.grad({self.scalar(y)}, {x}{options})[0]{fresh}"

    def mode(self) -> Step:
        return f"torch.set_grad_enabled({self.draw.random() < 0.75})"

    def forget(self) -> Step:
        return f"del {self.any()}"


def _large(t: Any) -> bool:
    return t.numel() > 0 and not bool((t.detach().abs() <= 50).all())
