"""The heavy kernels, which dominate the time on large tensors, forward and backward. `workloads` explains the form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.workloads import Run, workload

INDICES = 100_000


def there_and_back(leaves: list[Any], forward: Callable[[], Any], cotangent: Any = None) -> Run:
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


@workload("softmax", "softmax of 64x128x128 over the last axis", target=0.9, alone=1.2, rounds=31)
def softmax(torch: Any) -> Run:
    leaves, forward, _ = _softmax(torch)
    return _forward(leaves[0], forward)


@workload("softmax-back", "the same, forward and backward", target=0.9, alone=1.5, rounds=31)
def softmax_back(torch: Any) -> Run:
    return there_and_back(*_softmax(torch))


@workload("layer-norm", "layer_norm of 64x128x128 over the last axis, with weight and bias", target=0.9, alone=1.5,
          rounds=31)
def layer_norm(torch: Any) -> Run:
    leaves, forward, _ = _layer_norm(torch)
    return _forward(leaves[0], forward)


@workload("layer-norm-back", "the same, forward and backward", target=0.9, alone=2, rounds=31)
def layer_norm_back(torch: Any) -> Run:
    return there_and_back(*_layer_norm(torch))


@workload("cross-entropy", "cross-entropy of 4096x1000, forward and backward", target=0.6, alone=1.2, rounds=9)
def cross_entropy(torch: Any) -> Run:
    x, target = torch.randn(4096, 1000, requires_grad=True), torch.randint(1000, (4096,))
    return there_and_back([x], lambda: torch.nn.functional.cross_entropy(x, target), torch.ones(()))


@workload("gelu", "gelu of a million numbers, forward and backward", target=0.7, alone=2, rounds=15)
def gelu(torch: Any) -> Run:
    x = torch.randn(1_000_000, requires_grad=True)
    return there_and_back([x], lambda: torch.nn.functional.gelu(x))


@workload("silu", "silu of a million numbers, forward and backward", target=0.5, alone=2, rounds=15)
def silu(torch: Any) -> Run:
    x = torch.randn(1_000_000, requires_grad=True)
    return there_and_back([x], lambda: torch.nn.functional.silu(x))


@workload("batch-norm", "relu of batch norm of 32x64x28x28, forward and backward", target=0.9, alone=1.5, rounds=9)
def batch_norm(torch: Any) -> Run:
    x, norm = torch.randn(32, 64, 28, 28, requires_grad=True), torch.nn.BatchNorm2d(64)
    return there_and_back([x, norm.weight, norm.bias], lambda: torch.relu(norm(x)), torch.randn(32, 64, 28, 28))


@workload("max-pool", "max pooling by 2x2 of 32x64x28x28, forward and backward", target=0.9, alone=1.5, rounds=9)
def max_pool(torch: Any) -> Run:
    x = torch.randn(32, 64, 28, 28, requires_grad=True)
    return there_and_back([x], lambda: torch.nn.functional.max_pool2d(x, 2))


@workload("embedding-bag", "the sums of 4096 bags of 25 rows of a table of 1000x64, forward and backward",
          target=0.9, alone=1.5, rounds=9)
def embedding_bag(torch: Any) -> Run:
    table, index = torch.randn(1000, 64, requires_grad=True), torch.randint(1000, (4096, 25))
    return there_and_back([table], lambda: torch.nn.functional.embedding_bag(index, table, mode="sum"))


@workload("index-add", "index_add of 100,000 rows of 16 numbers, forward and backward", target=0.9, alone=1.5, rounds=9)
def index_add(torch: Any) -> Run:
    x, index = torch.randn(INDICES, 16, requires_grad=True), torch.randint(1000, (INDICES,))
    zeros = torch.zeros(1000, 16)
    return there_and_back([x], lambda: zeros.index_add(0, index, x))


def _product(size: int) -> Callable[[Any], Run]:
    def prepare(torch: Any) -> Run:
        a, b = (torch.randn(size, size, requires_grad=True) for _ in range(2))
        return there_and_back([a, b], lambda: a @ b)

    return prepare


for _size in (128, 256, 512, 1024):
    workload(f"mm-{_size}", f"a product of {_size}x{_size} matrices, forward and backward", target=1.05,
             rounds=15)(_product(_size))


@workload("bmm", "64 products of 128x128 matrices, forward and backward", target=1.5, rounds=15)
def bmm(torch: Any) -> Run:
    a, b = (torch.randn(64, 128, 128, requires_grad=True) for _ in range(2))
    return there_and_back([a, b], lambda: a @ b)


@workload("conv2d", "32 filters 3x3 on 32x16x28x28, padded, forward and backward", target=1.1, alone=1.8, rounds=15)
def conv2d(torch: Any) -> Run:
    x, weight, bias = (torch.randn(*shape, requires_grad=True) for shape in ((32, 16, 28, 28), (32, 16, 3, 3), (32,)))
    return there_and_back([x, weight, bias], lambda: torch.nn.functional.conv2d(x, weight, bias, padding=1),
                          torch.randn(32, 32, 28, 28))


@workload("sum-last", "the sums of the rows of 1000x1000", target=1, alone=1.5, rounds=15)
def sum_last(torch: Any) -> Run:
    x = torch.randn(1000, 1000)
    return lambda: x.sum(-1)[-1]


@workload("max-last", "the maxima of the rows of 1000x1000, with their indices", target=2.0, rounds=15)
def max_last(torch: Any) -> Run:
    x = torch.randn(1000, 1000)
    return lambda: x.max(-1)[0][-1]


@workload("gather", "gather of 100,000 elements, forward and backward", target=1, alone=1.3, rounds=15)
def gather(torch: Any) -> Run:
    x, index = torch.randn(1000, 200, requires_grad=True), torch.randint(1000, (500, 200))
    return there_and_back([x], lambda: torch.gather(x, 0, index))


@workload("scatter-add", "scatter_add of 100,000 elements, forward and backward", target=1.5, rounds=15)
def scatter_add(torch: Any) -> Run:
    x, index = torch.randn(INDICES, requires_grad=True), torch.randint(1000, (INDICES,))
    zeros = torch.zeros(1000)
    return there_and_back([x], lambda: zeros.scatter_add(0, index, x))


@workload("embedding", "100,000 rows of a table of 1000x64, forward and backward", target=0.9, alone=1.5, rounds=9)
def embedding(torch: Any) -> Run:
    table, index = torch.randn(1000, 64, requires_grad=True), torch.randint(1000, (INDICES,))
    return there_and_back([table], lambda: torch.nn.functional.embedding(index, table))


@workload("sort", "a million numbers sorted, with their indices", target=1.5, rounds=9)
def sort(torch: Any) -> Run:
    x = torch.randn(1_000_000)
    return lambda: x.sort()[0][12345]
