"""Training over processes: parallel modules with their options, hooks, uneven inputs, optimizers, gradients."""

from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed.nn as over
from telling import OURS, case, ended, tell
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import (
    DDPCommHookType,
    default_hooks,
    powerSGD_hook as power,
    register_ddp_comm_hook,
)
from torch.distributed.algorithms.join import Join
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(1)
X, Y = torch.randn(16, 6), torch.randn(16, 3)
part = slice(rank * 16 // size, (rank + 1) * 16 // size)


def made(normalized: bool = False) -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8) if normalized else nn.Tanh(), nn.Linear(8, 3))


def trained(model: Any, whole: bool = False, steps: int = 4, optimizer: Any = None) -> list[Any]:
    """The parameters and buffers after some steps on all of the batch, or on the part of this process."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    x, y = (X, Y) if whole else (X[part], Y[part])
    for _ in range(steps):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
    return [*model.parameters(), *model.buffers()]


def options() -> None:
    tell("one process", trained(made(), whole=True))
    for given in ({}, {"find_unused_parameters": True}, {"static_graph": True}, {"gradient_as_bucket_view": True},
                  {"bucket_cap_mb": 0.00001}):
        tell(f"parallel {given}", trained(DistributedDataParallel(made(), **given)))
    tell("buffers", trained(DistributedDataParallel(made(True))))
    model = DistributedDataParallel(made())
    with model.no_sync():
        model(X[part][:2]).sum().backward()
    model(X[part][2:]).sum().backward()
    tell("accumulated", [p.grad for p in model.parameters()])
    tell("one dim of a mesh", trained(DistributedDataParallel(
        made(), device_mesh=init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("a", "b"))["a"])))
    case("a mesh and a group", lambda: DistributedDataParallel(
        made(), process_group=dist.group.WORLD, device_mesh=init_device_mesh("cpu", (size,))))
    case("two dims of a mesh", lambda: DistributedDataParallel(
        made(), device_mesh=init_device_mesh("cpu", (2, size // 2))).device)
    case("no shapes", lambda: DistributedDataParallel(nn.LazyLinear(3)))
    for given in ({"broadcast_buffers": False}, {"forward_sync_buffers": False}, {}):
        own = made(True)
        own[1].running_mean.fill_(rank)
        model = DistributedDataParallel(own, **given)
        found: list[Any] = [None] * size
        dist.all_gather_object(found, model.module[1].running_mean[0].item())
        tell(f"first buffers {given}", found)


class Branches(nn.Module):
    """One of two layers is used, and a third one never."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = nn.Linear(6, 3), nn.Linear(6, 3), nn.Linear(6, 3)

    def forward(self, x: torch.Tensor, first: bool) -> torch.Tensor:
        return self.a(x) if first else self.b(x)


def unused() -> None:
    torch.manual_seed(0)
    model = DistributedDataParallel(Branches(), find_unused_parameters=True)
    for step in range(2):
        model(X[part], rank == 0).sum().backward()
        tell(f"unused {step}", [p.grad for p in model.parameters()])
    model = DistributedDataParallel(Branches())
    model(X[part], True).sum().backward()
    case("left out", lambda: model(X[part], True))


class Two(Branches):
    """Gives a second output, which the loss leaves out."""

    def forward(self, x: torch.Tensor, first: bool) -> list[torch.Tensor]:
        return [super().forward(x, first), self.b(x)]


def changed() -> None:
    """Which layers are used changes between the steps."""
    modes: dict[str, dict[str, Any]] = {
        "usual": {}, "find": {"find_unused_parameters": True}, "static": {"static_graph": True},
        "both": {"find_unused_parameters": True, "static_graph": True}}
    for mode, options in modes.items():
        for kind in (Branches, Two):
            for used in ("fff", "fss", "sff", "ssss"):
                torch.manual_seed(0)
                model = DistributedDataParallel(kind(), **options)

                def steps(model: Any = model, used: str = used) -> list[Any]:
                    for each in used:
                        model(X[part], each == "f")[0].sum().backward()
                    return [p.grad for p in model.parameters()]

                case(f"{mode} {kind.__name__} {used}", steps)


def uneven() -> None:
    for divides in (True, False):
        for normalized in (True, False):
            model = DistributedDataParallel(made(normalized))
            optimizer = torch.optim.SGD(model.parameters(), 0.1)
            with model.join(divide_by_initial_world_size=divides):
                for i in range(2 + rank):
                    optimizer.zero_grad()
                    (model(X[part] * (i + 1)) - Y[part]).square().mean().backward()
                    optimizer.step()
            tell(f"uneven {divides} {normalized}", [*model.parameters(), *model.buffers()])

    model = DistributedDataParallel(made(True))
    with model.join():
        for i in range(2 + 2 * rank):
            with model.no_sync() if i % 2 == 0 else nullcontext():
                model(X[part]).square().mean().backward()
    tell("uneven, added up", [*model.buffers(), *[p.grad for p in model.parameters()]])
    case("nothing joins", lambda: Join.notify_join_context(3))  # type: ignore[arg-type]

    def early() -> None:
        model = DistributedDataParallel(made())
        with model.join(throw_on_early_termination=True):
            for _ in range(1 + rank):
                model(X[part]).sum().backward()

    case("early", early)


def hooks() -> None:
    def own(state, bucket):  # PyTorch looks at annotations here
        work = dist.all_reduce(bucket.buffer() / size, async_op=True)
        return work.get_future().then(lambda future: future.value()[0] * 2)

    wrapped = default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)
    found = {"own": own, "allreduce": default_hooks.allreduce_hook, "halves": default_hooks.fp16_compress_hook,
             "halves by wrapping": wrapped}
    for name, hook in found.items():
        model = DistributedDataParallel(made())
        model.register_comm_hook(None, hook)
        tell(f"hook {name}", trained(model))
    case("second hook", lambda: model.register_comm_hook(None, own))
    case("no hook", lambda: DistributedDataParallel(made()).register_comm_hook(None, 3))
    model = DistributedDataParallel(made())
    register_ddp_comm_hook(DDPCommHookType.POWER_SGD_RANK2, model)
    tell("hook by name", trained(model))

    def of_numbers(state, bucket: int):
        return bucket

    case("annotated hook", lambda: DistributedDataParallel(made()).register_comm_hook(None, of_numbers))
    model = DistributedDataParallel(made())
    state = power.PowerSGDState(None, 2, start_powerSGD_iter=2, min_compression_rate=1)
    model.register_comm_hook(state, power.powerSGD_hook)
    before = (model(X) - Y).square().mean().item()
    trained(model, steps=30)
    tell("power", ((model(X) - Y).square().mean().item() < 0.7 * before, state.compression_stats()[1:]))


def shared() -> None:
    model = DistributedDataParallel(made())
    optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.05)
    tell("shared", trained(model, optimizer=optimizer))
    optimizer.consolidate_state_dict(0)
    if rank == 0:
        state = optimizer.state_dict()
        tell("state", (state["state"], [group["params"] for group in state["param_groups"]]))
    else:
        case("not here", optimizer.state_dict)
    alone = made()
    tell("alone", trained(alone, whole=True, optimizer=torch.optim.Adam(alone.parameters(), lr=0.05)))


def gradients() -> None:
    x = (torch.arange(3.) + rank).requires_grad_()
    many = range(size)
    found = {
        "all_reduce": lambda: over.all_reduce(x), "broadcast": lambda: over.broadcast(x, 1),
        "reduce": lambda: over.reduce(x, 0), "all_gather": lambda: torch.stack(over.all_gather(x)).sum(0),
        "gather": lambda: torch.stack(over.gather(x, 0)).sum(0),
        "scatter": lambda: over.scatter([x * (i + 1) for i in many], 1),
        "all_to_all": lambda: torch.stack(over.all_to_all(
            [torch.zeros(3) for _ in many], [x * (i + 1) for i in many])).sum(0)}
    for name, call in found.items():
        x.grad = None
        result = call()
        (result * torch.tensor([1., 2., 3.]) * (rank + 1)).sum().backward()
        tell(f"gradient of {name}", (result, x.grad))


for each in (options, unused, changed, uneven, hooks, shared, gradients):
    each()
if OURS:
    tell("whole batch", trained(made(True), whole=True))
    tell("synchronized", trained(DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(made(True)))))
ended()
