"""Passes for the explorer: small programs that show one thing each, and one with about 2,000 nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import retrograd as torch
from retrograd import nn, viz

F = nn.functional


class Block(nn.Module):
    """A block of a transformer, with the norms in front."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Any) -> Any:
        y = self.norm1(x)
        x = x + self.attn(y, y, y)[0]
        return x + self.mlp(self.norm2(x))


class Transformer(nn.Module):
    """Blocks behind an embedding. One layer is never used."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.layers = nn.ModuleList([Block() for _ in range(depth)])
        self.head = nn.Linear(16, 20)
        self.unused = nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        h = self.embed(x)
        for layer in self.layers:
            h = layer(h)
        return self.head(h)


class Tagger(nn.Module):
    """An LSTM cell that runs over a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.out = nn.LSTMCell(6, 8), nn.Linear(8, 3)

    def forward(self, steps: Any) -> Any:
        h = c = torch.zeros(4, 8)
        outs = []
        for x in steps:
            h, c = self.cell(x, (h, c))
            outs.append(self.out(h))
        return torch.stack(outs)


class Doubled(torch.autograd.Function):
    """A Function of a user."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def mlp() -> Any:
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
    x, y = torch.randn(16, 10), torch.randint(0, 4, (16,))
    return viz.explore(lambda: F.cross_entropy(model(x), y), params=model)


def cnn() -> Any:
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                          nn.Conv2d(4, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(200, 10))
    x, y = torch.randn(4, 1, 14, 14), torch.randint(0, 10, (4,))
    return viz.explore(lambda: F.cross_entropy(model(x), y), params=model)


def transformer(depth: int = 3) -> Any:
    model, x = Transformer(depth), torch.randint(0, 20, (2, 8))
    return viz.explore(lambda: F.cross_entropy(model(x).view(-1, 20), x.view(-1)), params=model)


def lstm() -> Any:
    model, x = Tagger(), torch.randn(6, 4, 6)
    return viz.explore(lambda: model(x).square().mean(), params=model)


def nan() -> Any:
    w, b = torch.tensor([0., 1., 4.], requires_grad=True), torch.zeros(3, requires_grad=True)
    return viz.explore(lambda: (torch.sqrt(w) * 0 + b + torch.log(w + b).clamp(min=-5)).sum())


def views() -> Any:
    x, frozen = torch.randn(6, 8, requires_grad=True), torch.randn(8, requires_grad=True)

    def loss() -> Any:
        y = Doubled.apply(x) * 1
        y[2:4] = y[2:4].exp()
        y.tanh_()
        with torch.no_grad():
            scale = (y * frozen).mean()
        return (y.t() @ y.detach()).sum() * scale

    return viz.explore(loss, params={"x </script><b>": x})


def one_node() -> Any:
    return viz.explore(torch.ones((), requires_grad=True))


def long_chain() -> Any:
    x = torch.ones(4, requires_grad=True)
    y = x
    for _ in range(300):
        y = y * 0.9 + x
    return viz.explore(y.sum())


def unrolled() -> Any:
    """A recurrent network without modules, whose gradient is 0 before it reaches the first steps."""
    w, u, h = (torch.randn(4, 4) * 0.01).requires_grad_(), torch.randn(4, 2, requires_grad=True), torch.zeros(1, 4)
    for x in torch.randn(200, 1, 2):
        h = torch.tanh(h @ w + x @ u.t())
    return viz.explore(h.sum(), params={"w": w, "u": u})


def large() -> Any:
    return transformer(37)


PASSES: dict[str, Callable[[], Any]] = {
    made.__name__: made for made in (mlp, cnn, transformer, lstm, nan, views, one_node, long_chain, unrolled)}


@cache
def explored(name: str) -> Any:
    """What `explore` finds of a pass."""
    torch.manual_seed(0)
    return large() if name == "large" else PASSES[name]()


def opened(shown: Any, folder: Path, name: str, address: str = "", **how: Any) -> Any:
    """The browser, in which the page of a pass is open; the page is written into the folder once."""
    path = folder / f"{name}.html"
    if not path.exists():
        explored(name).save(path)
    shown.open(path, address, **how)
    return shown


def number_of(name: str, label: str) -> int:
    """The number of the first node of a pass with this name or label."""
    return next(node["id"] for node in explored(name).document["nodes"] if label in (node["label"], node["name"]))
