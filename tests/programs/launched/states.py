"""Pickles, files and states of DTensors, of sharded modules and of their optimizers."""

import copy
import io
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from telling import OURS, case, ended, tell
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
row = init_device_mesh("cpu", (size,), mesh_dim_names=("row",))
square = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("dp", "tp"))
R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


X = drawn(8, 6)


def seen(value: Any) -> Any:
    """The class, the placements, the part and the whole of a DTensor; other values as they are."""
    if isinstance(value, DTensor):
        return [isinstance(value, nn.Parameter), value.requires_grad, value.is_leaf, str(value.placements),
                [*value.shape], value.stride(), value.detach().to_local(), value.detach().full_tensor()]
    if isinstance(value, dict):
        return {key: seen(part) for key, part in value.items()}
    return [seen(part) for part in value] if isinstance(value, (list, tuple)) else value


def through_a_file(value: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


def pickled() -> None:
    for mesh, placements in ((row, [R]), (row, [S0]), (row, [S1]), (row, [P]), (square, [S0, S1]), (square, [R, S0]),
                             (square["tp"], [S1])):
        for name, make in (("plain", lambda x: x), ("uneven", lambda x: x[:5]), ("turned", lambda x: x.t())):
            made = distribute_tensor(make(X).contiguous(), mesh, placements)
            for how, copied in (("pickle", lambda x: pickle.loads(pickle.dumps(x))), ("file", through_a_file),
                                ("copy", copy.deepcopy)):
                found = copied(made)
                tell(f"{how} {name} {placements} {mesh.mesh_dim_names}", [
                    seen(found), found.device_mesh == mesh, found.device_mesh.mesh_dim_names])
    x = distribute_tensor(X, row, [S0]).requires_grad_()
    tell("leaf", seen(pickle.loads(pickle.dumps(x))))
    tell("parameter", seen(through_a_file(nn.Parameter(distribute_tensor(X, row, [S0])))))
    tell("fixed parameter", seen(through_a_file(nn.Parameter(distribute_tensor(X, row, [S0]), requires_grad=False))))
    tell("computed", seen(pickle.loads(pickle.dumps((x * 2).detach()))))
    again = pickle.loads(pickle.dumps(x))
    (again * again).sum().backward()
    tell("gradient", seen(again.grad))
    tell("with the first", seen((again * x).detach()))
    tell("anything", seen(through_a_file([x, {"y": x.detach()}, 3], weights_only=False)))
    tell("mesh", [str(pickle.loads(pickle.dumps(row))) if size > 2 else "", pickle.loads(pickle.dumps(row)) == row,
                  pickle.loads(pickle.dumps(square["tp"])).size(), pickle.loads(pickle.dumps(square)).get_coordinate()])
    group = pickle.loads(pickle.dumps(square))["dp"].get_group()
    total = torch.ones(1) * rank
    dist.all_reduce(total, group=group)
    tell("group of a mesh", total)


class Net(nn.Module):
    """Two linear layers and a norm, with numbers that do not depend on the process."""

    def __init__(self, seed: int = 10) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.BatchNorm1d(6), nn.Linear(6, 8), nn.Linear(8, 6)
        self.down.bias.requires_grad_(False)
        for i, parameter in enumerate(self.parameters()):
            parameter.data = drawn(*parameter.shape, seed=seed + i)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(self.norm(x)).relu())


def sharded(seed: int = 10) -> Any:
    model = Net(seed)
    fully_shard(model.up, mesh=row)
    return fully_shard(model, mesh=row)


KINDS: dict[str, Callable[..., Any]] = {
    "sharded": sharded, "bare": Net, "copied": lambda seed=10: DistributedDataParallel(Net(seed))}
OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "adamw": lambda params: torch.optim.AdamW(params, lr=0.01),
    "sgd": lambda params: torch.optim.SGD(params, lr=0.1, momentum=0.9),
    "groups": lambda params: (lambda listed: torch.optim.Adam(
        [{"params": listed[:2], "lr": 0.5}, {"params": listed[2:]}], lr=0.01))([*params])}
FULL = StateDictOptions(full_state_dict=True)


def stepped(model: Any, optimizer: Any) -> None:
    model(X[rank * 8 // size:(rank + 1) * 8 // size]).pow(2).sum().backward()
    optimizer.step()
    optimizer.zero_grad()


def models() -> None:
    options = {"usual": None, "full": FULL, "first": StateDictOptions(full_state_dict=True, cpu_offload=True),
               "cpu": StateDictOptions(cpu_offload=True), "free": StateDictOptions(ignore_frozen_params=True)}
    for kind, make in KINDS.items():
        for name, chosen in options.items():
            case(f"get {kind} {name}", lambda make=make, chosen=chosen: seen(get_model_state_dict(
                make(), options=chosen)))
        whole = get_model_state_dict(make(30), options=FULL)
        for name, given, chosen in (
                ("usual", get_model_state_dict(make(30)), None), ("full", whole, FULL),
                ("from the first", whole if rank == 0 else {}, StateDictOptions(
                    full_state_dict=True, broadcast_from_rank0=True)),
                ("more", {**whole, "more": torch.ones(2)}, FULL),
                ("less", {key: value for key, value in whole.items() if "up" not in key}, FULL),
                ("lax", {**whole, "more": torch.ones(2)}, StateDictOptions(full_state_dict=True, strict=False)),
                ("nothing", {}, None), ("wrong", whole, StateDictOptions(broadcast_from_rank0=True))):
            def given_to(make: Any = make, given: Any = given, chosen: Any = chosen) -> Any:
                model = make()
                found = set_model_state_dict(model, dict(given), options=chosen)
                return [[*found[0]], [*found[1]], seen(model.state_dict())]

            case(f"set {kind} {name}", given_to)
    model = sharded()
    case("file", lambda: seen(through_a_file(model.state_dict())))
    case("loaded", lambda: [str(sharded(40).load_state_dict(through_a_file(model.state_dict()))),
                            seen(model.state_dict())])
    case("compiled", lambda: [*get_model_state_dict(torch.compile(Net()))])


def optimizers() -> None:
    flat = StateDictOptions(flatten_optimizer_state_dict=True)
    for kind, make in KINDS.items():
        for name, optimizer_of in OPTIMIZERS.items():
            for steps in (0, 2):
                model = make()
                optimizer = optimizer_of(model.parameters())
                for _ in range(steps):
                    stepped(model, optimizer)
                label = f"{kind} {name} {steps}"
                for option, chosen in (("usual", None), ("full", FULL), ("flat", flat)):
                    case(f"state {label} {option}", lambda m=model, o=optimizer, c=chosen: told(
                        get_optimizer_state_dict(m, o, options=c)))
                for option, chosen in (("usual", None), ("full", FULL), ("flat", flat)):
                    state, own = get_state_dict(model, optimizer, options=chosen)
                    other = make(50)
                    again = optimizer_of(other.parameters())
                    set_state_dict(other, again, model_state_dict=state, optim_state_dict=own, options=chosen)
                    stepped(other, again)
                    tell(f"given {label} {option}", [seen(other.state_dict()), [g["lr"] for g in again.param_groups]])
    model = sharded()
    optimizer = OPTIMIZERS["adamw"](model.parameters())
    state = get_optimizer_state_dict(model, optimizer)
    case("nothing", lambda: set_optimizer_state_dict(model, optimizer, {}))
    del state["state"]["up.weight"]
    case("less", lambda: set_optimizer_state_dict(model, optimizer, copy.deepcopy(state)))
    case("lax", lambda: set_optimizer_state_dict(model, optimizer, copy.deepcopy(state), options=StateDictOptions(
        strict=False)))


def from_the_first() -> None:
    """PyTorch waits for ever in the state of the optimizer of a sharded module."""
    model, other = sharded(), sharded(50)
    optimizer, again = [OPTIMIZERS["groups"](each.parameters()) for each in (model, other)]
    stepped(model, optimizer)
    state, own = get_state_dict(model, optimizer, options=FULL)
    set_state_dict(other, again, model_state_dict=state if rank == 0 else {},
                   optim_state_dict=own if rank == 0 else {},
                   options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True))
    stepped(model, optimizer)
    stepped(other, again)
    for mine, given in zip(model.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine.full_tensor(), given.full_tensor())


def told(state: Any) -> Any:
    """The state of an optimizer without options that are new."""
    found = seen(state)
    if "param_groups" in found:
        found["param_groups"] = [[group["params"], group["lr"]] for group in state["param_groups"]]
        return found
    return {key: value for key, value in found.items() if key.startswith("state") or key.endswith(".lr")}


def checkpoints() -> None:
    folder = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(folder, 0)
    place = os.path.join(str(folder[0]), "saved")
    checkpoint.save({"model": sharded(60).state_dict(), "x": distribute_tensor(X, square, [S0, S1])},
                    checkpoint_id=place)
    state = {"model": sharded().state_dict(), "x": distribute_tensor(torch.zeros(8, 6), row, [S1])}
    checkpoint.load(state, checkpoint_id=place)
    tell("read", seen(state))
    whole = {"model": Net().state_dict(), "x": torch.zeros(8, 6)}
    checkpoint.load(whole, checkpoint_id=place)
    tell("read as whole tensors", seen(whole))
    dist.barrier()
    if rank == 0:
        shutil.rmtree(str(folder[0]))


for part in (pickled, models, optimizers, checkpoints):
    part()
if OURS:
    from_the_first()
ended()
