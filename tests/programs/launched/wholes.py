"""Checks in several processes that DTensors in any placements compute what whole tensors compute, with gradients.

The numbers of processes and the sizes need not divide each other. It needs no PyTorch.
"""

import random
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import implicit_replication
from torch.distributed.tensor.placement_types import _StridedShard

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
meshes = [init_device_mesh("cpu", (size,)), *([init_device_mesh("cpu", (2, size // 2))] if size % 2 == 0 else [])]
draw = random.Random(size)
torch.manual_seed(size)



def views_written(x: Any, y: Any) -> Any:
    """Writes through views, some of which have parts that other processes have."""
    z = x.sin()
    z[1] = y[0]
    z[2:4].mul_(3)
    z.t()[2].add_(4)
    z.view(-1)[3:9].neg_()
    z[1:].diagonal().mul_(y[0, :z.diagonal(1).shape[0]].sum())
    z[:, 2:4][1:3].copy_(y[1:3, :2])
    return z * y


def writes_seen(x: Any, y: Any) -> Any:
    """Views that are taken before writes over what they view, and over other views of this."""
    z = x.sin()
    row, flat, column = z[1], z.view(-1), z.t()[0]
    inner = row[1:]
    z.mul_(2).add_(y)
    row.mul_(y[0])
    column.neg_()
    inner.add_(1)
    flat[2:5].zero_()
    return flat * flat.flip(0) + row.sum() * column.sum() + inner.sum()


def scaled(x: Any, y: Any) -> Any:
    """A tensor in any placements, even a sum of parts, times others and itself in place."""
    z = x.detach() * 2
    z.mul_(z).div_(y.detach() * y.detach() + 1)
    return z.add_(z, alpha=0.5).mul_(y).sub_(x)


CALLS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / (y * y + 1),
    "sub": lambda x, y: x - y,
    "where": lambda x, y: torch.where(x > y, x, y * 2),
    "maximum": torch.maximum,
    "linear": lambda x, y: F.linear(x, y),
    "mm": lambda x, y: x.t() @ y,
    "bmm": lambda x, y: torch.bmm(x[None], y.t()[None]),
    "gelu": lambda x, y: F.gelu(x * y),
    "softmax": lambda x, y: (x * 3).softmax(0) * y,
    "log_softmax": lambda x, y: F.log_softmax(x, 1) * y,
    "layer_norm": lambda x, y: F.layer_norm(x, x.shape[1:], y[0], y[1]),
    "mean": lambda x, y: x.mean(0) * y.mean(),
    "sum": lambda x, y: x.sum(1, keepdim=True) * y,
    "amax": lambda x, y: x.amax(1) + y.amin(1),
    "norm": lambda x, y: x.norm() * y.norm(dim=1),
    "var": lambda x, y: x.var(0) + y.std(),
    "max": lambda x, y: x.max(0)[0] * y.max(),
    "views": lambda x, y: (x.t().unsqueeze(1) * y.t().unsqueeze(1)).squeeze(1).permute(1, 0).flatten(),
    "reshape": lambda x, y: (x * y).reshape(-1, 2, 3).sum(1),
    "index": lambda x, y: x[1] * y[:, 2:4].sum(),
    "split": lambda x, y: torch.cat(x.split(2, 1), 0) * 2 + torch.cat(y.chunk(3, 1), 0),
    "stack": lambda x, y: torch.stack([x, y], 1),
    "expand": lambda x, y: x.expand(2, *x.shape) * y,
    "cumsum": lambda x, y: x.cumsum(0) * y.cumsum(1),
    "sort": lambda x, y: x.sort(1)[0] * y.topk(6, 1)[0],
    "mse": lambda x, y: F.mse_loss(x, y) + F.mse_loss(x, y, reduction="sum"),
    "written": lambda x, y: (x * 1).mul_(2).add_(y),
    "masked": lambda x, y: x.masked_fill(y > 0, 1.0),
    "conv": lambda x, y: F.conv1d(x[None], y[:, :3].unsqueeze(0).expand(2, *x.shape[:1], 3)),
    "attention": lambda x, y: F.scaled_dot_product_attention(
        x[None, None], y[None, None], (x * y)[None, None]),
    "cross entropy": lambda x, y: F.cross_entropy(x * y, (y * 0).argmax(1)),
    "prod": lambda x, y: x.prod(1) * y.prod(),
    "flip": lambda x, y: x.flip(0) * y.roll(1, 1),
    "tril": lambda x, y: x.tril() + y.triu(1),
    "pow": lambda x, y: x**2 * y**3,
    "logsumexp": lambda x, y: x.logsumexp(1) + y.logsumexp(0).sum(),
    "einsum": lambda x, y: torch.einsum("ij,kj->ik", x, y),
    "gather": lambda x, y: x.gather(1, (y > 0).long()),
    "rows by count": lambda x, y: F.embedding((x > 0).long(), y, scale_grad_by_freq=True),
    "views written": views_written,
    "writes seen": writes_seen,
    "scaled": scaled,
    "integers": lambda x, y: (x * 3).long() * y,
    "truths": lambda x, y: (x - x.detach()).bool() + y,
    "singular values": lambda x, y: torch.linalg.svdvals(x.detach()) * y.sum(),
    "is in": lambda x, y: torch.isin(x.detach().round(), y.detach().round()) * y,
}


def placed(mesh: Any) -> list[Any]:
    """Any placements."""
    if mesh.ndim == 2 and draw.random() < 0.2:                       # as of a split layer that is sharded, too
        dim = draw.choice([0, 1])
        return [_StridedShard(dim, split_factor=mesh.size(1)), Shard(dim)]
    return [draw.choice([Replicate(), Shard(0), Shard(1), Partial()]) for _ in range(mesh.ndim)]


def checked(name: str, call: Callable[..., Any], shape: tuple[int, int]) -> None:
    """Compare a call on DTensors with the call on whole tensors: the result, and the gradients of all operands."""
    mesh = draw.choice(meshes)
    whole = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    where = [placed(mesh) for _ in whole]
    parts = [distribute_tensor(x.detach(), mesh, place).requires_grad_() for x, place in zip(whole, where)]
    expected, found = call(*whole), call(*parts)
    text = f"{name} {shape} {where}"
    assert isinstance(found, DTensor), text
    assert found.shape == expected.shape, (text, found.shape, expected.shape)
    assert found.stride() == expected.stride() or not found.is_contiguous() or expected.numel() < 2, text
    torch.testing.assert_close(found.detach().full_tensor(), expected.detach(), msg=lambda said: f"{text}: {said}")
    scale = torch.randn(expected.shape, dtype=torch.float64)
    (expected * scale).sum().backward()
    (found * distribute_tensor(scale, mesh)).sum().backward()
    for x, y in zip(whole, parts):
        torch.testing.assert_close(torch.zeros(()) if y.grad is None else y.grad.full_tensor(), torch.zeros(
            ()) if x.grad is None else x.grad, msg=lambda said: f"gradient of {text}: {said}")


def sharded_steps() -> None:
    """A model in parts makes the steps of a whole model that sees all samples."""
    data = torch.randn(size * 2, 5)
    models = []
    for _ in range(2):
        torch.manual_seed(3)
        models.append(torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.Tanh(), torch.nn.Linear(7, 1)))
    fully_shard(models[0], mesh=meshes[0])
    for model, given in zip(models, (data[rank * 2:rank * 2 + 2], data)):
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
        for _ in range(4):
            optimizer.zero_grad()
            model(given).square().mean().backward()
            optimizer.step()
    for sharded, whole in zip(*[model.parameters() for model in models]):
        torch.testing.assert_close(sharded.full_tensor(), whole)
        assert sharded.to_local().numel() < whole.numel() or size == 1 or len(whole) < size


for _ in range(3):
    for name, call in CALLS.items():
        checked(name, call, draw.choice([(6, 6), (5, 6), (12, 6)]))
sharded_steps()
with implicit_replication():
    total = distribute_tensor(torch.ones(4, 2), meshes[0], [Shard(0)]) + torch.arange(8.0).view(4, 2)
    sides = [distribute_tensor(torch.ones(4, 6), meshes[0], [Shard(1)]) for _ in range(2)]
    assert F.linear(sides[0], sides[1], torch.arange(4.0)).full_tensor().tolist() == [[6.0, 7.0, 8.0, 9.0]] * 4
assert total.full_tensor().tolist() == torch.arange(1.0, 9.0).view(4, 2).tolist()
by_rows, replicated = [distribute_tensor(torch.arange(8.0).view(4, 2), meshes[0], [place])
                       for place in (Shard(0), Replicate())]
assert torch.equal(by_rows, replicated)
assert not by_rows.equal(replicated + 1)
for place in range(size):
    numbers = torch.arange(4.0 * size).index_fill(0, torch.tensor(place * 4), float("nan"))
    cut = distribute_tensor(numbers, meshes[0], [Shard(0)])
    assert torch.stack([cut.amax(), cut.amin(), cut.max(), cut.min()]).full_tensor().isnan().all()
print(f"wholes by {rank}", flush=True)
