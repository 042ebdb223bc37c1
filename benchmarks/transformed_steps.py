"""Steps that differentiate with transforms of functions: gradients by sample, a Hessian, Greeks, an equation.

They are written once for each package, as those of `steps` are. `steps_in_jax` has the same in JAX.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from benchmarks.steps import Step, with_update, workload

OPTIONS, POINTS = 10**6, 1000


def results(found: Any) -> tuple[Any, ...]:
    """The end of a step that returns what it has computed."""
    return tuple(found)


def network(torch: Any, *sizes: int) -> Any:
    """Linear layers, with tanh between them."""
    nn = torch.nn
    layers = [layer for first, last in pairwise(sizes) for layer in (nn.Linear(first, last), nn.Tanh())]
    return nn.Sequential(*layers[:-1])


@workload("per-sample", "vmap(grad) of the loss of a 64-64-64 network at batch 32", numpy=1, llvm=0.5)
def per_sample(torch: Any) -> Step:
    torch.manual_seed(0)
    net = network(torch, 64, 64, 64)
    weights = {name: weight.detach() for name, weight in net.named_parameters()}
    batch = torch.randn(32, 64), torch.randint(0, 64, (32,))

    def loss(weights: Any, row: Any, label: Any) -> Any:
        scores = torch.func.functional_call(net, weights, (row[None],))
        return torch.nn.functional.cross_entropy(scores, label[None])

    def by_sample(rows: Any, labels: Any) -> Any:
        return torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))(weights, rows, labels).values()

    return Step(by_sample, results, [*weights.values()], [batch])


@workload("hessian", "func.hessian of a function of 16 numbers", numpy=1, llvm=0.5)
def hessian(torch: Any) -> Step:
    torch.manual_seed(0)
    matrix, x = torch.randn(16, 16), torch.randn(16)
    return Step(lambda x: torch.func.hessian(lambda z: (z.sin() @ matrix @ z).tanh().sum())(x), lambda found: (found,),
                [matrix], [(x,)])


@workload("greeks", f"Black-Scholes prices of {OPTIONS:,} options, and their gradients", numpy=0.6, llvm=0.25)
def greeks(torch: Any) -> Step:
    torch.manual_seed(0)
    spot, strike, years, volatility = [low + (high - low) * torch.rand(OPTIONS) for low, high in (
        (80, 120), (80, 120), (0.2, 2), (0.1, 0.5))]

    def price(spot: Any, strike: Any, years: Any, volatility: Any) -> Any:
        spread = volatility * years.sqrt()
        first = ((spot / strike).log() + (0.02 + volatility * volatility / 2) * years) / spread
        one, two = [0.5 * (1 + torch.erf(d / math.sqrt(2))) for d in (first, first - spread)]
        return (spot * one - strike * (-0.02 * years).exp() * two).sum()

    return Step(lambda *given: torch.func.grad(price, argnums=(0, 2, 3))(*given), results, [],
                [(spot, strike, years, volatility)])


@workload("pinn", f"a training step of u'' + u = 0 at {POINTS:,} points, a 1-32-32-1 network, SGD", numpy=0.8,
          llvm=0.35)
def pinn(torch: Any) -> Step:
    torch.manual_seed(0)
    net = network(torch, 1, 32, 32, 1)
    points = torch.linspace(0, math.pi, POINTS)[:, None]

    def along(function: Any, x: Any) -> Any:
        return torch.func.jvp(function, (x,), (torch.ones_like(x),))[1]

    def loss(x: Any) -> Any:
        curvature = along(lambda y: along(net, y), x)
        return ((curvature + net(x)) ** 2).mean()

    parameters = [*net.parameters()]
    return Step(loss, with_update(torch.optim.SGD(parameters, lr=0.001)), parameters, [(points,)])
