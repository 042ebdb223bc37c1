"""Compiled functions in several processes: random programs that communicate, and facts. Each process checks itself.

The arguments are the first seed of the random programs, the one after the last, and the backends.
"""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(Path(__file__).parents[2]))

from programs.communicating_programs import checked

warnings.simplefilter("ignore")
dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
first, end, *BACKENDS = sys.argv[1:]


def sent() -> int:
    """How many operations this process has begun."""
    return dist.group.WORLD.team.number


def plan_of(compiled: Any) -> Any:
    """What has the plans of a compiled function, and the reason why it has none."""
    found = compiled.__dict__.get("_compiled")
    return (found or next(c.cell_contents for c in compiled.__closure__ if hasattr(c.cell_contents, "run"))).run


def random_programs() -> None:
    for seed in range(int(first), int(end)):
        for backend in BACKENDS:
            author, difference, reason = checked(torch, seed, backend)
            assert not difference, "\n".join([f"{backend} {seed} {author.specs}", *author.lines, difference])
            assert "its plan raises" not in str(reason)


def whole() -> None:
    """With `fullgraph`, nothing is sent, also if the program goes on after the error."""
    def stubborn(x: torch.Tensor) -> torch.Tensor:
        try:
            dist.all_reduce(x)
        except Exception:
            dist.broadcast(x, 0)
        return x

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: torch.Tensor) -> torch.Tensor:
            dist.barrier()
            return g * 2

    for backend in BACKENDS:
        before = sent()
        with pytest.raises(RuntimeError, match=r"stubborn cannot be compiled: the program calls torch\.distributed\."
                                               r"all_reduce, in File .*, in stubborn"):
            torch.compile(stubborn, fullgraph=True, backend=backend)(torch.ones(2))
        x = torch.ones(2, requires_grad=True)
        y = torch.compile(Twice.apply, backend=backend)(x)  # whose backward pass the compiler traces
        assert sent() == before
        y.sum().backward()
        assert sent() == before + 1


def later() -> None:
    """A call that first communicates for a third size, and then does what a trace for many sizes cannot."""
    def step(x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 5:
            x = x + rank
            dist.all_reduce(x)
        return x * len(json.dumps([x.shape[0]]))

    for backend in BACKENDS:
        compiled = torch.compile(step, backend=backend)
        for count in (2, 3, 4, 6, 10, 2, 12):
            before = sent()
            assert torch.equal(compiled(torch.ones(count)), step(torch.ones(count)))
            assert sent() == before + 2 * (count > 5)


def held() -> None:
    """Operations that have not ended keep the memory of results that the program has dropped."""
    for backend in BACKENDS:
        double = torch.compile(lambda x: x * 2, backend=backend)
        double(torch.ones(1000))
        parts = [torch.zeros(1000) for _ in range(3 * size)]
        works = [dist.all_gather(parts[i * size:(i + 1) * size], double(torch.full((1000,), i + rank * 10.)),
                                 async_op=True) for i in range(3)]
        works += [dist.isend(double(torch.full((1000,), float(i))), (rank + 1) % size) for i in range(3)]
        assert double(torch.zeros(1000)).sum() == 0
        for i in range(3):
            into = torch.ones(1000)
            dist.recv(into, (rank - 1) % size)
            assert into.unique().tolist() == [2 * i]
        for work in works:
            work.wait()
        assert [x[-1].item() for x in parts] == [2 * (i + 10 * r) for i in range(3) for r in range(size)]


def given() -> None:
    """An operation that has not ended has the program's own tensors, also those that stand in a list."""
    batches = [torch.full((3,), float(rank + i)) for i in range(3)]

    def step(x: torch.Tensor) -> Any:
        return dist.all_reduce(x, async_op=True), batches[0] + 1

    compiled = torch.compile(step)
    for i, batch in enumerate(batches):
        work, _ = compiled(batch)
        work.wait()
        assert work.result()[0] is batch
        assert batch.tolist() == [size * i + sum(range(size))] * 3


def made(normalized: bool) -> nn.Module:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 5), nn.BatchNorm1d(5) if normalized else nn.Tanh(), nn.Linear(5, 2))
    return nn.SyncBatchNorm.convert_sync_batchnorm(model)


def trained(change: Callable[[Any], Any], around: Callable[[Any], Any], normalized: bool, shared: bool) -> list[Any]:
    """The parameters and buffers after steps with batches of several sizes. `change` is made of the whole step."""
    model = around(made(normalized))
    kind: Any = ZeroRedundancyOptimizer if shared else torch.optim.Adam
    optimizer = kind(model.parameters(), **({"optimizer_class": torch.optim.Adam} if shared else {}), lr=0.1)
    rate = torch.optim.lr_scheduler.StepLR(optimizer, 2)

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        rate.step()
        return loss.detach()

    step, losses = change(step), []
    for count in (4, 4, 3, 5, 6, 4):
        torch.manual_seed(10 * count + rank)
        losses.append(step(torch.randn(count, 4)))
    return [*losses, *model.parameters(), *model.buffers()]


def parallel() -> None:
    for normalized in (False, True):
        for shared in (False, True):
            expected = trained(lambda step: step, DistributedDataParallel, normalized, shared)
            for backend in BACKENDS:
                def change(thing: Any, backend: str = backend) -> Any:
                    return torch.compile(thing, backend=backend)

                for found in (trained(change, DistributedDataParallel, normalized, shared),
                              trained(lambda step: step, lambda m: change(DistributedDataParallel(m)), normalized,
                                      shared),
                              trained(lambda step: step, lambda m: DistributedDataParallel(change(m)), normalized,
                                      shared)):
                    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)


def inside() -> None:
    """A pass of the inner module alone averages gradients if the parallel module has been called before."""
    def gradients(change: Callable[[Any], Any]) -> list[torch.Tensor]:
        model, found = DistributedDataParallel(made(False)), []
        inner = model.module

        def step(x: torch.Tensor) -> None:
            inner(x).square().sum().backward()

        step = change(step)
        for called in (False, False, False, True, False, True):
            inner.zero_grad()
            if called:
                model(torch.ones(3, 4))
            step(torch.ones(3, 4) * (rank + 1))
            found += [parameter.grad.clone() for parameter in inner.parameters()]
        return found

    for backend in BACKENDS:
        torch.testing.assert_close(gradients(lambda step, by=backend: torch.compile(step, backend=by)),
                                   gradients(lambda step: step), rtol=1e-4, atol=1e-5)


def reasons() -> None:
    """The warning says what communicates."""
    model = DistributedDataParallel(made(False))

    def step(x: torch.Tensor) -> None:
        model(x).sum().backward()

    with pytest.warns(UserWarning, match=r"step as it is, since model\._reducer is what sends the gradients of "
                                         r"DistributedDataParallel: compile the module inside"):
        torch.compile(step)(torch.ones(3, 4))

    def normalized(x: torch.Tensor) -> torch.Tensor:
        return nn.functional.relu(layer(x))

    layer = nn.SyncBatchNorm(4)
    with pytest.warns(UserWarning, match=r"normalized as it is, since the program calls torch\.distributed\."
                                         r"all_reduce, in File .*, in normalized"):
        torch.compile(normalized)(torch.ones(3, 4))


def plans() -> None:
    """The module inside of a parallel one has a plan, also for many sizes. So has a function that asks for ranks."""
    for backend in BACKENDS:
        inner = torch.compile(made(False), backend=backend)
        model = DistributedDataParallel(inner)
        for count in (2, 3, 4, 5, 6):
            model(torch.ones(count, 4)).sum().backward()
        assert plan_of(inner).reason is None
        assert len(plan_of(inner).entries) < 4
        group = dist.new_group([0, 1])
        ranks = torch.compile(lambda x, g: x * (3 + (dist.get_rank(g) + 1) * dist.get_rank()), backend=backend)
        for _ in range(2):
            dist.barrier()                                 # which counts in the group of all processes
            assert ranks(torch.ones(1), dist.group.WORLD).item() == 3 + (rank + 1) * rank
            assert ranks(torch.ones(1), group).item() == 3 + (rank + 1 if rank < 2 else 0) * rank
        assert plan_of(ranks).reason is None
        assert len(plan_of(ranks).entries) == 2


for each in (whole, later, held, given, parallel, inside, reasons, plans, random_programs):
    each()
dist.barrier()
print(f"compared by {rank}", flush=True)
dist.destroy_process_group()
