"""What threads share, and programs that use it: each thread repeats short acts, and every number is known beforehand.

A `Shared` holds something that all threads use. `act` uses it once, in the calling thread, and checks what this thread
can know at once. `check` looks at the whole after all acts. All numbers are small integers in floats, so sums have the
same bits in every order, and one lost update is seen.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import retrograd as torch

THREADS = 8


def exactly(found: Any, expected: Any) -> None:
    """Two tensors are equal in each bit."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert torch.equal(found, expected), f"{found} instead of {expected}"


def whole_numbers(draw: random.Random, *shape: int) -> Any:
    """A tensor of small integers in float64."""
    return torch.tensor([float(draw.randint(-4, 4)) for _ in range(math.prod(shape))], dtype=torch.float64).view(shape)


class Shared:
    """Something that threads share."""

    def __init__(self, draw: random.Random) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Begin, when all that is used at the same time is made."""

    def act(self, me: int, draw: random.Random) -> None:
        """Use it once, as the thread number `me`."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise AssertionError if an act was lost."""


class Doubled(torch.autograd.Function):  # type: ignore[misc]
    """A function of the user's own in the graph."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert x.shape == g.shape
        return g * ctx.factor


class OneGraph(Shared):
    """One graph with several outputs, views, writes in place and a Function; passes that keep it, some recorded."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 3, 4).requires_grad_()
        a, b = Doubled.apply(self.x * self.x).unbind(0)[:2]
        c = a.clone()
        c[1:3].mul_(b[:2])
        c += self.x[2].view(2, 2).T.reshape(-1)
        self.y = (c * self.x.sum(0)).sum() + torch.relu(self.x).sum()
        (first,) = torch.autograd.grad(self.y, self.x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), self.x, retain_graph=True)
        self.first, self.second = first.detach(), second

    def act(self, me: int, draw: random.Random) -> None:
        recorded = draw.random() < 0.3
        (first,) = torch.autograd.grad(self.y, self.x, retain_graph=True, create_graph=recorded)
        exactly(first.detach(), self.first)
        if recorded:
            (second,) = torch.autograd.grad(first.sum(), self.x, retain_graph=True)
            exactly(second, self.second)


class OneLeaf(Shared):
    """Gradients into one leaf: of graphs of each thread, and of one that all share; and those that a value retains."""

    def __init__(self, draw: random.Random) -> None:
        self.w = whole_numbers(draw, 5).requires_grad_()
        self.middle = self.w * 3
        self.middle.retain_grad()
        self.y = (self.middle * 2).sum()
        self.done: list[tuple[int, int]] = []

    def act(self, me: int, draw: random.Random) -> None:
        if draw.random() < 0.4:
            self.y.backward(retain_graph=True)
            self.done.append((6, 2))
        else:
            factor = draw.randint(1, 5)
            (self.w * factor).sum().backward()
            self.done.append((factor, 0))

    def check(self) -> None:
        of_leaf, of_middle = (sum(numbers) for numbers in zip(*self.done, strict=True)) if self.done else (0, 0)
        for tensor, total in ((self.w, of_leaf), (self.middle, of_middle)):
            if total:
                exactly(tensor.grad, torch.full((5,), float(total), dtype=torch.float64))


class Hooks(Shared):
    """Hooks on a leaf, a value, a node and an accumulation, added and removed while passes run."""

    def __init__(self, draw: random.Random) -> None:
        self.w = whole_numbers(draw, 4).requires_grad_()
        self.v = self.w * 2
        self.y = self.v.sum()
        self.calls: list[str] = []
        self.passes: list[int] = []
        self.w.register_hook(lambda g: self.calls.append("leaf"))
        self.v.register_hook(lambda g: self.calls.append("value"))
        self.v.grad_fn.register_hook(lambda *g: self.calls.append("node"))
        self.w.register_post_accumulate_grad_hook(lambda w: self.calls.append("after"))

    def act(self, me: int, draw: random.Random) -> None:
        mine: list[str] = []
        handles = [self.w.register_hook(lambda g: mine.append("leaf")),
                   self.v.register_hook(lambda g: mine.append("value")),
                   self.v.grad_fn.register_prehook(lambda g: mine.append("before")),
                   self.v.grad_fn.register_hook(lambda *g: mine.append("node")),
                   self.w.register_post_accumulate_grad_hook(lambda w: mine.append("after"))]
        assert len({handle.id for handle in handles}) == len(handles)
        self.y.backward(retain_graph=True)
        self.passes.append(me)
        for handle in draw.sample(handles, len(handles)):
            handle.remove()
        counts = Counter(mine)                             # passes of other threads call them, too
        assert set(counts) == {"leaf", "value", "before", "node", "after"}, counts

    def check(self) -> None:
        exactly(self.w.grad, torch.full((4,), 2.0 * len(self.passes), dtype=torch.float64))
        assert Counter(self.calls) == {name: len(self.passes) for name in ("leaf", "value", "node", "after")}
        assert len(self.w._backward_hooks) == len(self.v._backward_hooks) == 1


class WrittenViews(Shared):
    """Parts of one memory that threads write, each its own, and all through other tensors. Each write is counted."""

    def __init__(self, draw: random.Random) -> None:
        self.base = torch.zeros(THREADS, 3, dtype=torch.float64)
        self.leaf = torch.zeros(THREADS, 3, dtype=torch.float64, requires_grad=True)
        self.done: list[tuple[int, int]] = []
        self.written: list[int] = []

    def act(self, me: int, draw: random.Random) -> None:
        part = self.base[me]
        saved = (part + 0).requires_grad_() * 2            # saves nothing of the memory
        number = draw.randint(1, 3)
        if draw.random() < 0.5:
            part.add_(number)
        else:
            self.base.view(-1)[3 * me:3 * me + 3] += number
            self.written.append(me)                        # the assignment of the sum to the item is a write, too
        self.done.append((me, number))
        saved.sum().backward()
        with torch.no_grad():
            self.leaf[me].add_(number)
            part = self.leaf.detach()[me]
        exactly(part, self.base[me])

    def check(self) -> None:
        totals = Counter[int]()
        for me, number in self.done:
            totals[me] += number
        expected = torch.tensor([[float(totals[i])] * 3 for i in range(THREADS)], dtype=torch.float64)
        exactly(self.base, expected)
        exactly(self.leaf.detach(), expected)
        assert self.base._version == len(self.done) + len(self.written)
        assert self.leaf._version == len(self.done)


class ModuleHooks(Shared):
    """A module that all threads call, with hooks that come and go, and full backward hooks."""

    def __init__(self, draw: random.Random) -> None:
        self.module = torch.nn.Linear(3, 2, dtype=torch.float64)
        with torch.no_grad():
            self.module.weight.copy_(whole_numbers(draw, 2, 3))
            self.module.bias.copy_(whole_numbers(draw, 2))
        self.calls: list[str] = []
        self.module.register_forward_hook(lambda *_: self.calls.append("after"))
        self.module.register_full_backward_hook(lambda *_: self.calls.append("backward"))
        self.done: list[Any] = []

    def act(self, me: int, draw: random.Random) -> None:
        x = whole_numbers(draw, 2, 3).requires_grad_()
        mine: list[Any] = []
        before = self.module.register_forward_pre_hook(lambda _, args: mine.append(args[0]),
                                                       prepend=draw.random() < 0.5)
        after = self.module.register_forward_hook(lambda _, args, kwargs, out: mine.append(args[0]), with_kwargs=True)
        result = self.module(x)
        for handle in (before, after):
            handle.remove()
        exactly(result.detach(), x.detach() @ self.module.weight.detach().T + self.module.bias.detach())
        assert sum(seen is x for seen in mine) == 1                  # the hook after it has seen another node's output
        factor = draw.randint(1, 3)
        (result * factor).sum().backward()
        exactly(x.grad, factor * self.module.weight.detach().sum(0).expand(2, 3))
        self.done.append((x.detach().sum(0) * factor).expand(2, 3))

    def check(self) -> None:
        if self.done:
            exactly(self.module.weight.grad, sum(self.done[1:], self.done[0]))
            assert Counter(self.calls) == {"after": len(self.done), "backward": len(self.done)}
        assert len(self.module._forward_hooks) == 1
        assert not self.module._forward_pre_hooks


class BackwardHooks(Shared):
    """Passes with different gradients through one graph with full backward hooks of a module."""

    def __init__(self, draw: random.Random) -> None:
        self.module = torch.nn.Linear(3, 2, bias=False, dtype=torch.float64)
        with torch.no_grad():
            self.module.weight.copy_(whole_numbers(draw, 2, 3))
        self.module.register_full_backward_hook(self._see)
        self.x = whole_numbers(draw, 1, 3).requires_grad_()
        self.y = self.module(self.x)

    def _see(self, module: Any, before: Any, after: Any) -> None:
        exactly(before[0], after[0] @ module.weight.detach())

    def act(self, me: int, draw: random.Random) -> None:
        g = whole_numbers(draw, 1, 2)
        (found,) = torch.autograd.grad(self.y, self.x, g, retain_graph=True)
        exactly(found, g @ self.module.weight.detach())


class Modes(Shared):
    """Grad modes and inference mode belong to a thread."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 3).requires_grad_()

    def act(self, me: int, draw: random.Random) -> None:
        expected = True
        assert torch.is_grad_enabled()
        modes = (torch.no_grad, torch.enable_grad, torch.inference_mode)
        mode = draw.choice(modes)
        with mode():
            expected = mode is torch.enable_grad
            for _ in range(3):
                assert (self.x * 2).requires_grad is expected
                assert torch.is_inference_mode_enabled() is (mode is torch.inference_mode)
            assert (self.x * 2).is_inference() is (mode is torch.inference_mode)
        assert (self.x * 2).requires_grad


class Scalars(Shared):
    """Numbers beside tensors, types, masks and tables that are kept for the next call."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 5)
        self.image = whole_numbers(draw, 8, 8).reshape(1, 1, 8, 8)
        self.pooled = torch.nn.functional.max_pool2d(self.image, 2)
        self.large = torch.nn.functional.interpolate(self.image, scale_factor=2)

    def act(self, me: int, draw: random.Random) -> None:
        number = draw.randint(-2000, 2000)
        exactly(self.x + number - number, self.x)
        exactly((self.x.to(torch.int32) * number).to(torch.float64), self.x * number)
        exactly(torch.nn.functional.max_pool2d(self.image, 2), self.pooled)
        exactly(torch.nn.functional.interpolate(self.image, scale_factor=2), self.large)
        exactly(torch.einsum("i,i->", self.x, self.x), (self.x * self.x).sum())
        size = draw.randint(2, 40)
        exactly(torch.ones(size, size).tril().sum(), torch.tensor(size * (size + 1) / 2))


class SavedTensorHooks(Shared):
    """Saved tensors go through hooks of a thread."""

    def __init__(self, draw: random.Random) -> None:
        self.x = whole_numbers(draw, 4).requires_grad_()

    def act(self, me: int, draw: random.Random) -> None:
        packed: list[Any] = []

        def pack(tensor: Any) -> Any:
            packed.append(tensor)
            return me, tensor.detach().clone()

        def unpack(kept: Any) -> Any:
            assert kept[0] == me
            return kept[1]

        with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = (self.x * self.x).sum()
        assert len(packed) == 2
        (found,) = torch.autograd.grad(y, self.x)
        exactly(found, 2 * self.x.detach())
