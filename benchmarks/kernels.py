"""The heavy kernels, which dominate the time on large tensors, forward and backward. `workloads` explains the form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads import Run, workload

INDICES = 100_000


def _there_and_back(leaves: list[Any], forward: Callable[[], Any], cotangent: Any = None) -> Run:
    """Run forward, and backward from a given cotangent. The packages are compared by one number of one gradient."""

    def run() -> Any:
        for leaf in leaves:
            leaf.grad = None
        out = forward()
        out.backward(out.detach() if cotangent is None else cotangent)
        return leaves[0].grad.reshape(-1)[-1]

    return run


def _forward(leaf: Any, forward: Callable[[], Any]) -> Run:
    """Run forward only, with recording. The packages are compared by one element."""
    return lambda: forward().detach().reshape(-1)[-1] + leaf.detach().reshape(-1)[-1]


def _softmax(torch: Any) -> tuple[list[Any], Callable[[], Any], Any]:
    x = torch.randn(64, 128, 128, requires_grad=True)
    return [x], lambda: torch.softmax(x, -1), torch.randn(64, 128, 128)


def _layer_norm(torch: Any) -> tuple[list[Any], Callable[[], Any], Any]:
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((64, 128, 128), (128,), (128,)))
    return ([x, weight, bias], lambda: torch.nn.functional.layer_norm(x, (128,), weight, bias),
            torch.randn(64, 128, 128))


@workload("softmax", "softmax of 64x128x128 over the last axis", target=1.5, rounds=31)
def softmax(torch: Any) -> Run:
    leaves, forward, _ = _softmax(torch)
    return _forward(leaves[0], forward)


@workload("softmax-back", "the same, forward and backward", target=1.5, rounds=31)
def softmax_back(torch: Any) -> Run:
    return _there_and_back(*_softmax(torch))


@workload("layer-norm", "layer_norm of 64x128x128 over the last axis, with weight and bias", target=1.5, rounds=31)
def layer_norm(torch: Any) -> Run:
    leaves, forward, _ = _layer_norm(torch)
    return _forward(leaves[0], forward)


@workload("layer-norm-back", "the same, forward and backward", target=1.5, rounds=31)
def layer_norm_back(torch: Any) -> Run:
    return _there_and_back(*_layer_norm(torch))


@workload("bmm", "64 products of 128x128 matrices, forward and backward", target=1.5, rounds=15)
def bmm(torch: Any) -> Run:
    a, b = (torch.randn(64, 128, 128, requires_grad=True) for _ in range(2))
    return _there_and_back([a, b], lambda: a @ b)


@workload("conv2d", "32 filters 3x3 on 32x16x28x28, padded, forward and backward", target=2.5, rounds=15)
def conv2d(torch: Any) -> Run:
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((32, 16, 28, 28), (32, 16, 3, 3), (32,)))
    return _there_and_back([x, weight, bias], lambda: torch.nn.functional.conv2d(x, weight, bias, padding=1),
                           torch.randn(32, 32, 28, 28))


@workload("sum-last", "the sums of the rows of 1000x1000", target=2.0, rounds=15)
def sum_last(torch: Any) -> Run:
    x = torch.randn(1000, 1000)
    return lambda: x.sum(-1)[-1]


@workload("max-last", "the maxima of the rows of 1000x1000, with their indices", target=2.0, rounds=15)
def max_last(torch: Any) -> Run:
    x = torch.randn(1000, 1000)
    return lambda: x.max(-1)[0][-1]


@workload("gather", "gather of 100,000 elements, forward and backward", target=1.5, rounds=15)
def gather(torch: Any) -> Run:
    x, index = torch.randn(1000, 200, requires_grad=True), torch.randint(1000, (500, 200))
    return _there_and_back([x], lambda: torch.gather(x, 0, index))


@workload("scatter-add", "scatter_add of 100,000 elements, forward and backward", target=1.5, rounds=15)
def scatter_add(torch: Any) -> Run:
    x, index = torch.randn(INDICES, requires_grad=True), torch.randint(1000, (INDICES,))
    zeros = torch.zeros(1000)
    return _there_and_back([x], lambda: zeros.scatter_add(0, index, x))


@workload("embedding", "100,000 rows of a table of 1000x64, forward and backward", target=1.5, rounds=9)
def embedding(torch: Any) -> Run:
    table, index = torch.randn(1000, 64, requires_grad=True), torch.randint(1000, (INDICES,))
    return _there_and_back([table], lambda: torch.nn.functional.embedding(index, table))


@workload("sort", "a million numbers sorted, with their indices", target=1.5, rounds=9)
def sort(torch: Any) -> Run:
    x = torch.randn(1_000_000)
    return lambda: x.sort()[0][12345]
