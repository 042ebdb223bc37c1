"""Programs under dispatch modes that print each operator, to compare retrograd with PyTorch."""

import threading

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _get_current_dispatch_mode,
    _pop_mode_temporarily,
)
from torch.utils._pytree import tree_map


def short(value):
    if isinstance(value, torch.Tensor):
        return "T" + str(list(value.shape))
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(short, value)) + "]"
    return "number" if isinstance(value, float) else repr(value)


class Names(TorchDispatchMode):
    def __init__(self, tag="", full=True):
        super().__init__()
        self.tag, self.full = tag, full

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace != "profiler":
            named = sorted({*(kwargs or {})} - {"memory_format", "pin_memory"})
            print("  ", self.tag, func, *map(short, args) if self.full else [], named)
        return func(*args, **(kwargs or {}))


def perceptron():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x, y = torch.randn(5, 4), torch.tensor([0, 1, 2, 0, 1])

    def run():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return run


def convolution():
    model = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 2))
    x = torch.randn(2, 3, 8, 8)
    return lambda: F.mse_loss(model(x), torch.zeros(2, 2)).backward()


def attention():
    q, norm = torch.randn(2, 5, 8, requires_grad=True), nn.LayerNorm(8)

    def run():
        h = norm(q)
        chances = F.softmax(torch.bmm(h, h.transpose(1, 2)) / 2, 2)
        F.gelu(torch.bmm(chances, h)).mean().backward()

    return run


def writes():
    x, w = torch.randn(3, 4), torch.randn(3, 4, requires_grad=True)

    def run():
        y = x * 2
        y.add_(1)
        y[:, 1] += 2
        y.mul_(w)
        y.zero_().fill_(3).copy_(x)
        y.sum().backward()

    return run


def views():
    x = torch.randn(3, 4, requires_grad=True)

    def run():
        y = x.view(4, 3).t()[1:].reshape(-1).unsqueeze(0).squeeze(0).expand(2, 8)
        y.permute(1, 0).select(0, 1).sum().backward()

    return run


def makers():
    def run():
        torch.zeros(2, 3), torch.ones(2), torch.full((2,), 1.5), torch.arange(5), torch.randn(2), torch.rand(2)
        torch.tensor([1., 2.]), torch.eye(3), torch.linspace(0, 1, 3), torch.empty(2), torch.zeros_like(torch.ones(2))
        torch.randint(5, (2,)), torch.randperm(4), torch.ones(2).new_zeros(3), torch.ones(2).normal_()

    return run


def second():
    x = torch.tensor([1., 2.], requires_grad=True)

    def run():
        g, = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        return torch.autograd.grad(g.sum(), x)[0]

    return run


for program in (perceptron, convolution, attention, writes, views, makers, second):
    print(program.__name__)
    run = program()
    with Names():
        found = run()
    print(found)

print("nested")
with Names("outer", False) as outer, Names("inner", False) as inner:
    print(_get_current_dispatch_mode() is inner)
    torch.ones(2) + 1
    with _pop_mode_temporarily() as aside:
        print(aside is inner, _get_current_dispatch_mode() is outer)
        torch.ones(2) * 3
print(_get_current_dispatch_mode())


class Breaks(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise ValueError(f"broken {func}")


class Refuses(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return NotImplemented


class Halves(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        return tree_map(lambda t: t / 2 if isinstance(t, torch.Tensor) and t.is_floating_point() else t, found)


class Keeps(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.made, self.given = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        found = func(*args, **(kwargs or {}))
        self.made.append(found)
        self.given += args
        return found


for kind, error in ((Breaks, ValueError), (Refuses, TypeError)):
    try:
        with kind():
            torch.ones(2).exp()
    except error as caught:
        print(type(caught).__name__, str(caught).partition("\n")[0])
    print(_get_current_dispatch_mode(), torch.ones(2) + 1)
leaf = torch.ones(2, requires_grad=True)
with Halves():
    y = leaf * 3 + 1
print(y, y.grad_fn.name())
y.sum().backward()
print(leaf.grad)
with Keeps() as keeps:
    p = nn.Parameter(torch.ones(3))
    q = p * 2
    r = q.sum()
print(keeps.made[-1] is r, keeps.made[-2] is q, any(each is p for each in keeps.given), r.requires_grad)
seen = []
with Names("main", False):
    thread = threading.Thread(target=lambda: seen.append((_get_current_dispatch_mode(), torch.ones(2) + 1)))
    thread.start()
    thread.join()
print(seen)
with torch.no_grad(), Names():
    print((p * 2).requires_grad)
with torch.inference_mode(), Names():
    print((p * 2).is_inference())
with Names():
    print(torch.vmap(lambda v: (v * 2).sum())(torch.ones(2, 3)))


class Passes(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


x, y = torch.tensor([0.2, 0.7], requires_grad=True), torch.tensor([0.3, 0.6], requires_grad=True)
for options in ({}, {"reduction": "sum"}, {"reduction": "none"}):
    x.grad = y.grad = None
    with Names("", False):
        F.binary_cross_entropy(x, y, **options).sum().backward()
    print(x.grad, y.grad)
with Passes():
    F.binary_cross_entropy(x.detach(), y, weight=torch.tensor([2.0, 3.0])).backward()
with Names():
    F.gelu(x, approximate="tanh").sum().backward()
print(x.grad, y.grad)
