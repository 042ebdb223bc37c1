"""Facts about several processes, which each process checks by itself: a wrong one ends the job with an error."""

import datetime
import os
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed.nn as over
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

warnings.simplefilter("ignore")
dist.init_process_group("mpi", timeout=datetime.timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
X, Y = torch.randn(24, 6, dtype=torch.float64), torch.randn(24, 3, dtype=torch.float64)
# Parts of different sizes, whose losses are sums.
bounds = [24 * i * i // size**2 for i in range(size + 1)]
part = slice(bounds[rank], bounds[rank + 1])


def made(synchronized: bool) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Linear(8, 3)).double()
    return nn.SyncBatchNorm.convert_sync_batchnorm(model) if synchronized else model


def places() -> None:
    assert (int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])) == (rank, size)
    assert dist.get_node_local_rank() == rank
    assert dist.get_backend() == "mpi"


def soak() -> None:
    """Ten thousand collectives of two processes, of several kinds, with a result to check each time."""
    for i in range(5000 // size):
        x = torch.full((1 + i % 7,), float(rank + i))
        dist.all_reduce(x)
        assert x[-1] == size * i + size * (size - 1) / 2
        root = torch.tensor([i if rank == i % size else -1])
        dist.broadcast(root, i % size)
        assert root.item() == i
        parts = [torch.zeros(2) for _ in range(size)]
        dist.all_gather(parts, torch.tensor([rank, float(i)]))
        assert [each.tolist() for each in parts] == [[r, i] for r in range(size)]
        work = dist.all_reduce(x, dist.ReduceOp.MAX, async_op=True)
        assert work.wait()


def strides() -> None:
    x = torch.arange(8.).view(2, 4)
    dist.all_reduce(x[:, ::2])
    assert x.tolist() == [[0, 1, 2 * size, 3], [4 * size, 5, 6 * size, 7]]
    empty = torch.zeros(0, 3)
    dist.all_reduce(empty)
    scalar = torch.tensor(2.)
    dist.all_reduce(scalar, dist.ReduceOp.PRODUCT)
    assert scalar == 2. ** size


def forgotten() -> None:
    """Works that the program drops go on: their memory stays until the messages have left."""
    peer, count = rank ^ 1, 20000
    for i in range(5):
        dist.isend(torch.full((count,), float(i)), peer)
    for i in range(5):
        x = torch.zeros(count)
        dist.recv(x, peer)
        assert torch.equal(x, torch.full((count,), float(i)))
    dist.barrier()


def local() -> None:
    """The members alone make a group. The others go on."""
    if rank < 2:
        group = dist.new_group([1, 0], use_local_synchronization=True)
        x = torch.ones(3)
        dist.all_reduce(x, group=group)
        assert x.tolist() == [2] * 3
        assert dist.get_process_group_ranks(group) == [0, 1]
    dist.barrier()


def normalized() -> None:
    """The gradients and statistics over parts of the batch are those of the whole batch."""
    alone, shared = made(False), DistributedDataParallel(made(True))
    for model, x, y, scale in ((alone, X, Y, 1), (shared, X[part], Y[part], size)):
        ((model(x) - y).square().sum() * scale).backward()
    for one, two in zip(alone.parameters(), shared.parameters()):
        assert torch.allclose(one.grad, two.grad, rtol=1e-10)
    for one, two in zip(alone.buffers(), shared.buffers()):
        assert torch.allclose(one.double(), two.double(), rtol=1e-10)


def gradients() -> None:
    x = torch.ones(2, requires_grad=True)
    found = over.reduce_scatter(torch.zeros(2), [x * (i + 1) for i in range(size)])
    assert found.tolist() == [size * (rank + 1)] * 2
    (found * (rank + 1)).sum().backward()
    assert x.grad.tolist() == [sum((i + 1) ** 2 for i in range(size))] * 2


def objects() -> None:
    found = [None] * size
    with pytest.raises(TypeError, match=r"allow_pickled_objects\(\)"):
        dist.all_gather_object(found, Path("a"))
    dist.allow_pickled_objects()
    dist.all_gather_object(found, Path(str(rank)))
    assert found == [Path(str(r)) for r in range(size)]
    dist.allow_pickled_objects(False)


def saved(folder: str) -> None:
    model = made(True)
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.05)
    (model(X[part]) - Y[part]).square().sum().backward()
    optimizer.step()
    own = {"rank": torch.full((3,), float(rank))}
    with pytest.raises(TypeError if rank == 1 else RuntimeError, match="cannot pickle|Rank 1 could not save"):
        checkpoint.save({"step": 7, f"bad {rank}": (i for i in "x") if rank == 1 else 1}, checkpoint_id=folder)
    for step in range(2):                                  # the second replaces the first
        checkpoint.save({"model": model, "own": {f"rank {rank}": own}, "step": step}, checkpoint_id=folder)
    for _, tensor in sorted(model.state_dict().items()):
        tensor.zero_()
    checkpoint.load({"model": model}, checkpoint_id=folder)
    assert not torch.equal(model[0].weight, torch.zeros(8, 6))
    assert optimizer.param_groups[0]["lr"] == 0.05


def saved_parts(folder: str) -> None:
    """DTensors that the processes name in different orders, and one that only the last process has."""
    row, last = init_device_mesh("cpu", (size,)), DeviceMesh("cpu", [size - 1])
    state = {name: distribute_tensor(torch.full((5, 2), value), row, [Shard(0)])
             for name, value in (("a", 1.0), ("b", 2.0))}
    state["last"] = distribute_tensor(torch.full((3,), float(rank)), last, [Shard(0)])
    checkpoint.save(dict([*state.items()][::1 if rank else -1]), checkpoint_id=folder)
    found = {"a": torch.zeros(5, 2), "b": torch.zeros(5, 2), "last": torch.zeros(3)}
    checkpoint.load(found, checkpoint_id=folder)
    assert [value.unique().tolist() for value in found.values()] == [[1.0], [2.0], [size - 1.0]]


def patience() -> None:
    """A wait that ends too early leaves the operation as it is."""
    x = torch.ones(3)
    if rank == 0:
        time.sleep(1.5)
    work = dist.all_reduce(x, async_op=True)
    if rank:
        with pytest.raises(RuntimeError, match="^Operation timed out!"):
            work.wait(datetime.timedelta(seconds=0.2))
    assert work.wait()
    assert x.tolist() == [size] * 3


def ended() -> None:
    """A group that was destroyed is refused, and the ranks of its members are those of all processes."""
    pair, first = dist.new_group([0, 1]), dist.new_group([0])
    assert dist.get_process_group_ranks(pair) == ([0, 1] if rank < 2 else [])
    if rank < 2:
        with pytest.raises(ValueError, match="^Global rank 5 is not part of group"):
            dist.broadcast(torch.ones(1), 5, pair)
        dist.destroy_process_group(pair)
        for call in (lambda: dist.get_rank(pair), lambda: dist.all_reduce(torch.ones(1), group=pair)):
            with pytest.raises(ValueError, match=r"is not registered, please create group with torch\.distributed"):
                call()
        with pytest.raises(ValueError, match="^Invalid process group specified"):
            dist.destroy_process_group(pair)
    if rank == 0:
        with pytest.raises(ValueError, match="^Global rank 1 is not part of group"):
            dist.send(torch.ones(1), 1, first)


def different() -> None:
    for model, sentence in ((nn.Linear(2, 3 + rank), r"params\[0\] in this process with sizes"),
                            (nn.Linear(2, 3, bias=rank == 0), "DDP expects same model across all ranks")):
        with pytest.raises(RuntimeError, match=sentence):
            DistributedDataParallel(model)


for each in (places, soak, strides, forgotten, local, normalized, gradients, objects, patience, ended,
             different):
    each()
saved(sys.argv[1])
saved_parts(f"{sys.argv[1]} in parts")
dist.barrier()
dist.destroy_process_group()
print(f"checked by {rank}", flush=True)
