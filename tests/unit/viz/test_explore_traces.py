"""`viz.explore` leaves no trace: gradients, hooks, versions, saved values and random streams are as before."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from programs.random_machine import OBSERVE, Machine, difference
from programs.random_programs import generate
from retrograd import viz
from retrograd.utils.checkpoint import checkpoint
from retrograd.viz.graphs import beginnings, reachable


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.power = 3
        return x ** 3

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        ctx.seen = True
        (x,) = ctx.saved_tensors
        if (x < 0).any():
            raise ArithmeticError("a negative number")
        return g * ctx.power * x * x


def state(tensors: dict[str, Any], loss: Any) -> list[Any]:
    """All of a program that a backward pass might change."""
    nodes = reachable([node for node, _ in beginnings(loss)])
    found: list[Any] = [torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist(),
                        torch.is_grad_enabled(), torch.is_anomaly_enabled()]
    for t in tensors.values():
        found += [t._version, t.tolist(), id(t.grad), None if t.grad is None else (t.grad.tolist(), t.grad._version),
                  [*(t._backward_hooks or {})], t.requires_grad]
    for node in nodes:
        found += [id(getattr(node, "saved", None)), {**getattr(node, "attributes", {})}]
        if node.hooks is not None:
            found += [[*node.hooks.pre], [*node.hooks.post], [*node.hooks.retain]]
    return found


class Drawing(torch.autograd.Function):
    """Draws random numbers in its backward, and runs a pass of its own."""

    clear_saved_tensors_on_access = True

    @staticmethod
    def forward(ctx: Any, x: Any, w: Any) -> Any:
        ctx.save_for_backward(x)
        ctx.w = w
        return x * 2

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        ctx.calls = getattr(ctx, "calls", 0) + 1
        with torch.enable_grad():
            (ctx.w * x.detach()).sum().backward()
        return g * 2 + torch.rand(()) * random.random() * np.random.random(), None


def clear(leaf: Any) -> None:
    leaf.data.zero_()


@pytest.mark.parametrize("anomaly", [False, True])
@pytest.mark.parametrize("value", [2., -2.])
def test_nothing_changes(value: float, anomaly: bool) -> None:
    w, v = torch.tensor([value, 1.], requires_grad=True), torch.ones(2, requires_grad=True)
    v.grad = torch.full((2,), 5.)
    with torch.autograd.set_detect_anomaly(anomaly):
        y = Drawing.apply(w * v, v)
        y.retain_grad()
        handles = [v.register_hook(lambda g: g * 2), y.register_hook(lambda g: handles[1].remove())]
        v.register_post_accumulate_grad_hook(clear)
        loss = Cube.apply(y).sum()
        tensors = {"w": w, "v": v, "y": y}
        before = state(tensors, loss)
        if value < 0:
            with pytest.raises(ArithmeticError, match="a negative number"):
                viz.explore(loss)
        else:
            viz.explore(loss)
        assert state(tensors, loss) == before
        if value > 0:
            loss.backward()
            assert v.grad is not None
            assert w.grad is not None
            assert y.grad is not None
            with pytest.raises(RuntimeError, match="backward through the graph a second time"):
                loss.backward()


class Exploring(Machine):
    """A machine that explores every tensor with a graph after each observation."""

    explored = 0

    def step(self, step: str) -> list[Any]:
        notes = [*super().step(step)]
        if step == OBSERVE:
            for t in self.tensors().values():
                if t.requires_grad and t.numel() and not t.is_complex():
                    try:
                        document = viz.explore(t).document
                    except RuntimeError:
                        continue
                    json.dumps(document, allow_nan=False)
                    Exploring.explored += 1
        self.notes = notes
        return notes


class Recorded(Machine):
    """A machine that notes lines, modules and cuts meanwhile."""

    def step(self, step: str) -> list[Any]:
        with viz.recording():
            return super().step(step)


def _either(*machines: Any) -> Any:
    """Makes one machine after the other."""
    left = iter(machines)
    return lambda torch: next(left)(torch)


@pytest.mark.parametrize("group", range(4))
def test_random_programs_do_not_notice(group: int) -> None:
    Exploring.explored = 0
    for seed in range(1000 * group, 1000 * group + 12):
        found = difference(torch, torch, generate(torch, seed), _either(Machine, Exploring))
        assert found is None, f"seed {seed}: {found}"
    assert Exploring.explored > 50


@pytest.mark.parametrize("group", range(2))
def test_recording_changes_no_program(group: int) -> None:
    for seed in range(500 * group, 500 * group + 12):
        found = difference(torch, torch, generate(torch, seed), _either(Machine, Recorded))
        assert found is None, f"seed {seed}: {found}"


# Graphs out of the usual: each is made of the parameters of the first layer, and of random numbers.


def checkpointed(layer: Any, x: Any, reentrant: bool) -> Any:
    def inner(t: Any) -> Any:
        return torch.dropout(layer(t).tanh(), 0.5, True)

    return checkpoint(inner, x.requires_grad_(), use_reentrant=reentrant).sum()


def packed(layer: Any, x: Any) -> Any:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().numpy().copy(), torch.from_numpy):
        return (layer(x).exp() * layer(x)).sum()


def twice(layer: Any, x: Any) -> Any:
    (g,) = torch.autograd.grad(layer(x.requires_grad_()).tanh().square().sum(), x, create_graph=True)
    return g.square().sum()


UNUSUAL = {
    "checkpoint": lambda layer, x: checkpointed(layer, x, False),
    "reentrant checkpoint": lambda layer, x: checkpointed(layer, x, True),
    "hooks on saved tensors": packed,
    "a pass that was recorded": twice,
    "vmap": lambda layer, x: torch.vmap(lambda row: (layer.weight @ row).sin().sum())(x).sum(),
    "a compiled function": lambda layer, x: torch.compile(lambda t: layer(t).tanh().sum())(x),
    "complex numbers": lambda layer, x: (layer(x) * torch.exp(1j * layer(x))).abs().sum(),
    "a sparse matrix": lambda layer, x: torch.sparse.mm(torch.eye(4).to_sparse(), layer.weight).sum(),
    "an output without a gradient": lambda layer, x: layer(x).split([1, 2, 1], 1)[1].square().sum(),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_graphs(name: str) -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(4, 4), torch.randn(3, 4)
    loss = UNUSUAL[name](layer, x)
    document = viz.explore(loss, params=layer).document
    json.dumps(document, allow_nan=False)
    assert layer.weight.grad is None
    assert x.grad is None
    loss.backward()
    shown = {node["label"]: node["gradient"] for node in document["nodes"] if node["kind"] == "leaf"}
    for label, p in layer.named_parameters():
        if name == "reentrant checkpoint":              # its parameters are not in the graph
            (node,) = [node for node in document["nodes"] if node["label"] == label]
            assert (node["gradient"], node["problem"], node["order"]) == (None, None, None)
            assert node["notes"] == ["The gradient comes from a backward pass that a node of this pass runs itself."]
        elif p.grad is None:
            assert shown.get(label) is None
        else:
            assert shown[label]["norm"] == pytest.approx(float(p.grad.norm()), rel=1e-4)


@pytest.mark.parametrize("reentrant", [False, True])
def test_statistics_of_a_batch_norm_in_a_checkpoint_are_put_back(reentrant: bool) -> None:
    norm, x = torch.nn.BatchNorm1d(3), torch.rand(4, 3, requires_grad=True)
    loss = checkpoint(torch.nn.Sequential(torch.nn.Tanh(), norm), x, use_reentrant=reentrant).square().sum()
    before = {name: (buffer, buffer.tolist()) for name, buffer in norm.named_buffers()}
    viz.explore(loss)
    assert {name: (buffer, buffer.tolist()) for name, buffer in norm.named_buffers()} == before
    loss.backward()
    assert norm.num_batches_tracked.item() == 2
