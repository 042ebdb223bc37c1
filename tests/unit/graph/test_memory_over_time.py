"""A graph goes at once, whatever it is made of, and a long run holds what a short one held; the collector is off."""

from __future__ import annotations

import ast
import gc
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd import Function, set_detect_anomaly

pytestmark = pytest.mark.usefixtures("no_collector")


def leaf() -> Any:
    return torch.tensor([1., 2., 3., 4.], requires_grad=True)


class Cube(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = x * x * x
        ctx.save_for_backward(x, y)
        ctx.kept = [x, x + 1]
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return 3 * g * y / x


class Square(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.saved_tensors[0]


class Halves(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        first, second = x[:2] * 1, x[2:] * 1
        ctx.save_for_backward(first, second)
        return first, second

    @staticmethod
    def backward(ctx: Any, g: Any, h: Any) -> Any:
        _ = ctx.saved_tensors
        return torch.cat([g, h])


class Doubled(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


class Itself(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g


class Once(Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        return g * 2


def copied_slices(x: Any) -> Any:
    y = x * 1
    for i in range(3):
        y[i:i + 1].mul_(x[i + 1:i + 2])
        y[i] = x[0]
    return y


def renewed_view(x: Any) -> Any:
    y = x * 1
    view = y.view(2, 2)[0]
    y.mul_(2)
    return view * view.grad_fn.next_functions[0][0].name().count("")


def hooked(x: Any) -> Any:
    y = x * x
    y.register_hook(lambda g: g * 2)
    y.grad_fn.register_prehook(lambda outputs: None)
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    y.retain_grad()
    return y * y


def in_anomaly_mode(x: Any) -> Any:
    with set_detect_anomaly(True):
        y = x * x * x
        y[0:1].exp_()
        g, = torch.autograd.grad(y.sum(), x, create_graph=True)
        return g


def after_an_error(x: Any) -> Any:
    y = x * 0
    with set_detect_anomaly(True), pytest.raises(RuntimeError, match="SqrtBackward0"):
        (y.sqrt() * 0).sum().backward(retain_graph=True)
    return y * y


def in_a_profile(x: Any) -> Any:
    with torch.autograd.profiler.profile():
        y = x * x
        y.sum().backward(retain_graph=True)
    return y


KINDS: dict[str, Callable[[Any], Any]] = {
    "of one": lambda x: x.exp(),
    "of two": lambda x: x * x + x / (x + 1),
    "of options": lambda x: x.sum(0, keepdim=True) * x.clamp(2, 3),
    "of a sequence": lambda x: torch.cat([x, x * 2]),
    "of a layer": lambda x: torch.nn.functional.linear(x, torch.ones(3, 4), torch.ones(3)),
    "of several outputs": lambda x: x.sort()[0] * x.max(0)[0],
    "several views": lambda x: (x * 1).unbind()[1] * (x * 1).split(2)[0],
    "a view of a view": lambda x: (x * 1).view(2, 2)[0].unsqueeze(0).expand(3, 2) * 2,
    "a view renewed": renewed_view,
    "in place": lambda x: (x * 1).mul_(x).exp_(),
    "slices written": copied_slices,
    "an index written": lambda x: (x * 1).index_put_((torch.tensor([0, 0]),), x[:2]),
    "a Function": Cube.apply,
    "a Function of several outputs": lambda x: Halves.apply(x)[1],
    "a Function in place": lambda x: Doubled.apply(x * 1),
    "a Function on a view": lambda x: Doubled.apply((x * 1)[:2]),
    "a Function that returns its input": lambda x: Itself.apply(x * 1),
    "a Function once differentiable": lambda x: torch.autograd.grad(Once.apply(x * x).sum(), x, create_graph=True)[0],
    "hooks": hooked,
    "a gradient": lambda x: torch.autograd.grad((x ** 3).sum(), x, create_graph=True)[0],
    "a gradient of a gradient": lambda x: torch.autograd.grad(
        torch.autograd.grad((x ** 4).sum(), x, create_graph=True)[0].sum(), x, create_graph=True)[0],
    "a gradient of a Function": lambda x: torch.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)[0],
    "complex": lambda x: torch.complex(x, x).abs(),
    "anomaly mode": in_anomaly_mode,
    "an error in anomaly mode": after_an_error,
    "a profile": in_a_profile,
}


class Note:
    """Kept by a node, so that it can be seen to go."""


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_goes_at_once(kind: str, backward: bool) -> None:
    x = leaf()
    y = KINDS[kind](x)
    note = Note()
    y.grad_fn.metadata["note"] = note
    gone = weakref.ref(note)
    if backward:
        y.sum().backward()
    del y, note
    x.grad = None
    assert gone() is None


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "a profile"])   # its events know their parents
def test_a_graph_leaves_nothing_to_the_collector(kind: str) -> None:
    for _ in range(2):                                      # what is made once, is made the first time
        gc.collect()
        x = leaf()
        for _ in range(3):
            KINDS[kind](x).sum().backward()
        del x
    assert gc.collect() == 0


def step(weights: Any, x: Any, target: Any) -> None:
    """A step of a small training loop with something of everything: hooks, a view, a write, a Function."""
    hidden = x @ weights
    hidden.register_hook(lambda g: g * 0.5)
    hidden[:2].mul_(2)
    loss = (Square.apply(hidden) - target).sum()
    loss.backward()
    with torch.no_grad():
        weights -= 1e-3 * weights.grad
    weights.grad = None


def long_run(anomalies: bool, steps: int) -> int:
    """How many blocks a long run of the loop holds more than a short one."""
    torch.manual_seed(0)
    weights = torch.rand(4, 4, requires_grad=True)
    x, target = torch.rand(4), torch.rand(4)
    with set_detect_anomaly(True) if anomalies else nullcontext():
        for _ in range(100):
            step(weights, x, target)
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(steps):
            step(weights, x, target)
        assert gc.collect() == 0
        return sys.getallocatedblocks() - before


def switches(count: int) -> int:
    """How many blocks are held more after the mode was switched `count` times."""
    def switch(count: int) -> None:
        for _ in range(count):
            with set_detect_anomaly(True):
                leaf().log().sum().backward()

    switch(100)
    gc.collect()
    before = sys.getallocatedblocks()
    switch(count)
    assert gc.collect() == 0
    return sys.getallocatedblocks() - before


def curve(x: Any) -> Any:
    return (x.sin() * x).sum()


def dual(x: Any) -> Any:
    forward_ad = torch.autograd.forward_ad
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(curve(forward_ad.make_dual(x, x))).tangent


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "dual": dual,
    "jvp": lambda x: torch.func.jvp(curve, (x,), (x,)),
    "vjp": lambda x: torch.func.vjp(torch.sin, x)[1](x),
    "linearize": lambda x: torch.func.linearize(torch.sin, x)[1](x),
    "jacfwd": torch.func.jacfwd(torch.sin),
    "jacrev": torch.func.jacrev(torch.sin),
    "hessian": torch.func.hessian(curve),
    "jacrev(jacfwd)": torch.func.jacrev(torch.func.jacfwd(curve)),
    "vmap(grad)": torch.vmap(torch.func.grad(torch.sin)),
    "functional": lambda x: torch.autograd.functional.jacobian(torch.sin, x, vectorize=True, strategy="forward-mode"),
}


def transforms(kind: str, count: int) -> int:
    """How many blocks are held more after a transform was called `count` times on tensors that live on."""
    tensors = [torch.tensor([1., 2., 3.]), leaf()]

    def call(count: int) -> None:
        for _ in range(count):
            for x in tensors:
                TRANSFORMS[kind](x)

    call(100)
    gc.collect()
    before = sys.getallocatedblocks()
    call(count)
    gc.collect()
    return sys.getallocatedblocks() - before


def measured(call: str) -> Any:
    """What a call of this module returns in a process of its own.

    The blocks are those of a process. In the process of the tests, the thread that receives the numbers of the next
    tests puts them into a queue, and each number is a block.
    """
    done = subprocess.run([sys.executable, __file__, call], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


@pytest.mark.parametrize(("anomalies", "steps"), [(False, 4_900), (True, 1_900)])
def test_a_long_run_holds_what_a_short_one_held(anomalies: bool, steps: int) -> None:
    """Counted in blocks of Python's allocator, of which each array takes one: a leak of one a step would be thousands.
    Python itself holds up to some hundred blocks more or less.

    The collector finds nothing; it is asked so that Python gives back the blocks that it keeps for new tuples.
    """
    assert measured(f"long_run({anomalies}, {steps})") < 500


def test_switching_the_mode_holds_nothing() -> None:
    assert measured("switches(8_000)") < 500


def test_a_transform_leaves_nothing_with_its_arguments() -> None:
    """One process measures each of them by itself."""
    found = measured("{kind: transforms(kind, 400) for kind in TRANSFORMS}")
    assert {kind: blocks for kind, blocks in found.items() if blocks >= 500} == {}
    assert found.keys() == TRANSFORMS.keys()


def test_a_leak_of_one_a_step_is_measured() -> None:
    leaking = "globals().update(step=lambda *given: KINDS.setdefault(str(len(KINDS)), leaf))"
    assert measured(f"({leaking}, long_run(False, 300))[1]") >= 300


if __name__ == "__main__":
    gc.disable()
    print(eval(sys.argv[1]))
