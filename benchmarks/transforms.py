"""Transforms of functions: forward mode, batches, and what is built from them. `workloads` explains the form."""

from __future__ import annotations

from typing import Any

from benchmarks.workloads import Run, workload


def _network(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64))


@workload("per-sample", "vmap(grad) of the loss of a 64-64-64 network at batch 32", target=0.8)
def per_sample(torch: Any) -> Run:
    network = _network(torch)
    weights = {name: weight.detach() for name, weight in network.named_parameters()}
    rows, classes = torch.randn(32, 64), torch.randint(0, 64, (32,))

    def loss(weights: Any, row: Any, label: Any) -> Any:
        scores = torch.func.functional_call(network, weights, (row[None],))
        return torch.nn.functional.cross_entropy(scores, label[None])

    gradients = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: gradients(weights, rows, classes)["0.weight"][3, 2, 1]


@workload("hessian", "func.hessian, forward over reverse, of a function of 16 numbers", target=0.6)
def hessian(torch: Any) -> Run:
    x, matrix = torch.randn(16), torch.randn(16, 16)
    curvature = torch.func.hessian(lambda z: (z.sin() @ matrix @ z).tanh().sum())
    return lambda: curvature(x).abs().sum()


@workload("rows-at-once", "functional.jacobian with vectorize of a 64-64-64 network", target=0.8)
def rows_at_once(torch: Any) -> Run:
    network, x = _network(torch), torch.randn(64)
    return lambda: torch.autograd.functional.jacobian(network, x, vectorize=True)[3, 2]


@workload("cubic-hessian", "functional.hessian of a cubic of 8 numbers", target=0.8)
def cubic_hessian(torch: Any) -> Run:
    x = torch.randn(8)
    return lambda: torch.autograd.functional.hessian(lambda z: (z**3).sum(), x)[3, 3]


@workload("dual-chain", "z = (z / x) * y, 20 times on 32 dual numbers", target=0.8)
def dual_chain(torch: Any) -> Run:
    start, x, y = (torch.rand(32) + 1 for _ in range(3))
    forward_ad = torch.autograd.forward_ad

    def run() -> Any:
        with forward_ad.dual_level():
            z = forward_ad.make_dual(start, x)
            for _ in range(20):
                z = (z / x) * y
            return forward_ad.unpack_dual(z).tangent[0]

    return run


@workload("jvp", "func.jvp of a 64-64-64 network at batch 32", target=0.8)
def jvp(torch: Any) -> Run:
    network, rows, direction = _network(torch), torch.randn(32, 64), torch.randn(32, 64)
    return lambda: torch.func.jvp(network, (rows,), (direction,))[1][3, 2]
