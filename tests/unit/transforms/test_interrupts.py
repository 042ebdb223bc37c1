"""Ctrl-C at any place of a transform: the switches of the thread are as before, and the next call is right.

Python looks for signals where a function begins, and behind calls. So a KeyboardInterrupt is raised where each function
of the package begins, and where it returns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import retrograd as torch
from retrograd.amp import switches as autocast
from retrograd.foundations.modes import local
from retrograd.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap
from retrograd.utils.checkpoint import checkpoint

PACKAGE = Path(torch.__file__).parent
FOLDERS = (str(PACKAGE), str(PACKAGE.parent / "namespaces"))
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
X, BATCH = torch.tensor([0.3, 0.7]), torch.tensor([[0.3, 0.7], [0.6, 1.4]])
LAYER = torch.nn.Linear(2, 2)


class Interrupted:
    """Raises KeyboardInterrupt at the place number `at`, where a function of the package begins or returns."""

    def __init__(self, at: int | None) -> None:
        self.at, self.count, self.place = at, 0, ""

    def __enter__(self) -> Interrupted:
        sys.settrace(self._called)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDERS):
            return None
        frame.f_trace_lines = False
        self._passed(frame, event)
        return self._returned

    def _returned(self, frame: FrameType, event: str, value: Any) -> Any:
        if event == "return":
            self._passed(frame, event)
        return self._returned

    def _passed(self, frame: FrameType, event: str) -> None:
        self.count += 1
        if self.count - 1 == self.at:
            self.place = f"{event} {frame.f_code.co_qualname}"
            raise KeyboardInterrupt


def energy(x: torch.Tensor) -> torch.Tensor:
    return (torch.tanh(W @ x) * x).sum()


class Sine(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
        return g * ctx.saved_tensors[0].cos()


PROGRAMS: dict[str, Callable[[], Any]] = {
    "grad": lambda: grad(energy)(X),
    "vmap": lambda: vmap(energy)(BATCH),
    "jvp": lambda: jvp(energy, (X,), (X,)),
    "vjp": lambda: vjp(energy, X)[1](torch.tensor(2.0)),
    "hessian": lambda: hessian(energy)(X),
    "jacrev": lambda: jacrev(lambda x: W @ x)(X),
    "jacfwd": lambda: jacfwd(lambda x: W @ x)(X),
    "linearize": lambda: linearize(energy, X)[1](X),
    "gradients of samples": lambda: vmap(grad(energy))(BATCH),
    "Function": lambda: vmap(grad(lambda x: Sine.apply(x).sum()))(BATCH),
    "functional_call": lambda: grad(lambda p: functional_call(LAYER, p, (X,)).sum())(
        {name: p.detach() for name, p in LAYER.named_parameters()}),
    "jacobian": lambda: torch.autograd.functional.jacobian(energy, X),
    "columns together": lambda: torch.autograd.functional.jacobian(energy, X, strategy="forward-mode", vectorize=True),
    "batched": lambda: torch.autograd.grad(W @ X, W, torch.eye(2), is_grads_batched=True),
    "checkpoint": lambda: torch.autograd.grad(checkpoint(energy, X.clone().requires_grad_(), use_reentrant=False), W),
    "backward": lambda: torch.autograd.grad(vmap(energy)(BATCH).sum(), W),
}


def switches() -> tuple[Any, ...]:
    thread = local.thread
    casts = autocast._local.state
    return (thread.levels, thread.transform, thread.watchers, thread.functions, thread.hooks_refused, thread.passes,
            casts.nesting, {*casts.enabled}, {**casts.dtypes}, casts.caching)


def flat(found: Any) -> list[Any]:
    return [each.tolist() for each in torch.utils._pytree.tree_leaves(found)]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")    # a callback of a weak reference
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupt_leaves_nothing_behind(name: str) -> None:
    program = PROGRAMS[name]
    expected = flat(program())
    with Interrupted(None) as all_places:
        program()
    assert all_places.count > 100
    before = switches()
    for at in range(all_places.count):
        with suppress(KeyboardInterrupt), Interrupted(at) as interrupted:
            program()
        assert switches() == before, interrupted.place
        if at % 10 == 0:
            assert flat(program()) == expected, interrupted.place
