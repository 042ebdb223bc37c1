"""Meshes, DTensors, split layers and sharded modules: their numbers, their placements and their errors."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from telling import case, ended, tell
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    full,
    ones,
    zeros,
)
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
row = init_device_mesh("cpu", (size,), mesh_dim_names=("row",))
square = init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("dp", "tp"))
R, S0, S1, P = Replicate(), Shard(0), Shard(1), Partial()


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


X, W, B = drawn(8, 12), drawn(16, 12, seed=1), drawn(16, seed=2)


def seen(value: Any) -> Any:
    """The placements and the whole of a DTensor."""
    if isinstance(value, DTensor):
        return [str(value.placements), [*value.shape], value.detach().full_tensor()]
    return [seen(part) for part in value] if isinstance(value, tuple) else value


def whole(value: Any) -> Any:
    """The whole of a DTensor, whatever its placements."""
    if isinstance(value, DTensor):
        return value.detach().full_tensor()
    return [whole(part) for part in value] if isinstance(value, tuple) else value


def kind(call: Callable[[], Any]) -> str:
    """The type of the error that a call raises. The texts differ: ours say what to do."""
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "no error"


def meshes() -> None:
    case("row", lambda: [str(row), row.shape, row.ndim, row.size(), row.get_local_rank(), row.mesh_dim_names,
                         row.mesh, row.device_type, row.get_coordinate()])
    case("square", lambda: [str(square) if size > 2 else "", square.shape, square.ndim, square.size(), square.size(0),
                            square.mesh, square.get_coordinate(), square.get_local_rank("tp"), square.get_rank()])
    part = square["tp"]
    case("part", lambda: [str(part) if size > 2 else "", part.mesh, part.mesh_dim_names, part.get_local_rank(),
                          part.size(), dist.get_process_group_ranks(part.get_group()), square["dp", "tp"] == square,
                          dist.get_process_group_ranks(square.get_group("dp")), part == square["tp"]])
    total = torch.ones(1) * rank
    dist.all_reduce(total, group=square["dp"].get_group())
    tell("sum along a dim", total)
    cube = init_device_mesh("cpu", (2, 1, size // 2), mesh_dim_names=("a", "b", "c"))
    flat = cube["a", "b"]._flatten("x")
    for names in ("a", "c", ("a", "b"), ("b", "c"), ("b", "a"), ("c", "a"), ("a", "a"), "x", ("x", "c"), ("x", "a")):
        case(f"of a cube {names}", lambda names=names: (lambda part: [
            str(part), part.mesh, part.mesh_dim_names, part.get_coordinate(),
            [dist.get_process_group_ranks(group) for group in part.get_all_groups()]])(cube[names]))
    case("flat", lambda: [str(flat), flat.size(), flat is cube["a", "b"]._flatten("x"), row._flatten() is row,
                          dist.get_process_group_ranks(cube.get_group("x"))])
    case("flat again", lambda: cube["a", "c"]._flatten("x"))
    case("flat name", kind, lambda: cube["a", "c"]._flatten("b"))
    case("flat without names", lambda: DeviceMesh("cpu", [*range(size)])._flatten())
    last = DeviceMesh("cpu", [size - 1])
    case("outside", lambda: [last.get_coordinate(), kind(last.get_group), kind(last.get_local_rank)])
    case("no dim", kind, square.get_group)
    case("no local rank", kind, square.get_local_rank)
    case("unknown", lambda: square["pp"])
    case("no names", lambda: DeviceMesh("cpu", [*range(size)])["tp"])
    case("too large", lambda: init_device_mesh("cpu", (size * 2,)))
    case("names", lambda: init_device_mesh("cpu", (size,), mesh_dim_names=("a", "b")))
    case("twice", lambda: init_device_mesh("cpu", (size // 2, 2), mesh_dim_names=("a", "a")))
    case("no mesh", lambda: distribute_tensor(X))
    with row:
        case("entered", lambda: seen(distribute_tensor(X)))
    case("of a group", lambda: str(DeviceMesh.from_group(square.get_group("dp"), "cpu")))


def moves() -> None:
    for name, tensor in (("even", X), ("uneven", drawn(5, 3)), ("small", drawn(1, 7))):
        for before in (R, S0, S1, P):
            made = distribute_tensor(tensor, row, [before])
            case(f"{name} {before}", lambda made=made: [made.to_local(), *seen(made)])
            for after in (R, S0, S1, P):
                case(f"{name} {before} to {after}", lambda made=made, after=after: (
                    lambda moved: [moved.to_local(), *seen(moved)])(made.redistribute(row, [after])))
    for before in ([S0, S0], [S0, S1], [R, S0], [S1, R], [P, S0], [P, R], [R, R]):
        made = distribute_tensor(drawn(8, 6), square, before)
        for after in ([S0, S0], [S1, S0], [S0, R], [R, S1], [R, R]):
            case(f"{before} to {after}", lambda made=made, after=after: (
                lambda moved: [moved.to_local(), *seen(moved)])(made.redistribute(square, after)))


def operators() -> None:
    calls: dict[str, Callable[[Any], Any]] = {
        "mul": lambda x: x * 2, "own": lambda x: x * x, "add": lambda x: x + 1, "relu": lambda x: x.relu(),
        "exp": lambda x: x.exp(), "gt": lambda x: (x > 0).float(), "neg": lambda x: -x, "double": lambda x: x.double(),
        "where": lambda x: torch.where(x > 0, x, x * 0), "sum": lambda x: x.sum(), "sum 0": lambda x: x.sum(0),
        "sum keep": lambda x: x.sum(1, keepdim=True), "mean": lambda x: x.mean(), "mean 1": lambda x: x.mean(1),
        "max": lambda x: x.max(), "amax": lambda x: x.amax(0), "max 0": lambda x: tuple(x.max(0)),
        "norm": lambda x: x.norm(), "var": lambda x: x.var(0), "softmax": lambda x: x.softmax(0),
        "log softmax": lambda x: F.log_softmax(x, -1), "argmax": lambda x: x.argmax(1), "t": lambda x: x.t(),
        "flat": lambda x: x.view(8, 4, 3), "unsqueeze": lambda x: x.unsqueeze(0), "row": lambda x: x[0],
        "columns": lambda x: x[:, 2:6], "split": lambda x: x.split(6, 1), "cat": lambda x: torch.cat([x, x]),
        "stack": lambda x: torch.stack([x, x]), "expand": lambda x: x.expand(3, 8, 12), "cumsum": lambda x: x.cumsum(0),
        "sort": lambda x: tuple(x.sort(1)), "zeros": torch.zeros_like, "square": lambda x: x @ x.t(),
        "written": lambda x: x.clone().mul_(3).add_(x)}
    for place in (R, S0, S1):
        x = distribute_tensor(X, row, [place])
        for name, call in calls.items():
            case(f"{name} of {place}", lambda call=call, x=x: seen(call(x)))
    parts = distribute_tensor(X, row, [P])
    for name in ("mul", "neg", "double", "own", "relu", "exp", "sum", "sum 0", "t", "unsqueeze", "row", "expand"):
        case(f"{name} of a sum", lambda name=name: seen(calls[name](parts)))
    for name in calls:
        case(f"{name} of parts", lambda name=name: whole(calls[name](distribute_tensor(X, row, [P]))))
    case("mixed", lambda: str(_refused(lambda: parts + X)))
    case("in place", lambda: _refused(lambda: distribute_tensor(X, row, [P]).relu_()))


def _refused(call: Callable[[], Any]) -> str:
    try:
        call()
    except RuntimeError as error:
        return "got mixed torch.Tensor and DTensor" if "mixed" in str(error) else "in-place operations that require"
    return "nothing"


def gradients() -> None:
    for first in (R, S0, S1):
        for second in (R, S0, S1):
            x = distribute_tensor(X, row, [first]).requires_grad_()
            w = distribute_tensor(W, row, [second]).requires_grad_()
            b = distribute_tensor(B, row, [S0 if second == S0 else R]).requires_grad_()
            y = F.linear(x, w, b)
            (y * y).sum().backward()
            tell(f"linear {first} {second}", [seen(y)[0], *map(whole, (y, x.grad, w.grad, b.grad))])
    for place in (R, S0, S1, P):
        x = distribute_tensor(X, row, [place]).requires_grad_()
        local = x.to_local()
        (local * (rank + 1)).sum().backward()
        tell(f"to_local {place}", [local.grad_fn.name(), *seen(x.grad)])
        x.grad = None
        ((x * x).full_tensor() * X).sum().backward()
        tell(f"full_tensor {place}", seen(x.grad))
        leaf = torch.ones(2, 6, requires_grad=True)
        made = DTensor.from_local(leaf * (rank + 1), row, [place])
        (made * made).sum().backward()
        tell(f"from_local {place}", [made.grad_fn.name(), [*made.shape], leaf.grad])
        for after in (R, S0, S1):
            x.grad = None
            moved = x.redistribute(row, [after])
            moved.softmax(1).pow(2).sum().backward()
            tell(f"redistribute {place} {after}", [moved.grad_fn.name(), *seen(x.grad)])
    x = distribute_tensor(X, row, [S0]).requires_grad_()
    (slope,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (curve,) = torch.autograd.grad(slope.sum(), x)
    tell("second", [whole(slope), whole(curve)])
    table, index = distribute_tensor(W, row, [S1]).requires_grad_(), torch.tensor([[1, 2], [2, 15]])
    F.embedding(distribute_tensor(index, row, [R]), table).pow(2).sum().backward()
    tell("embedding", whole(table.grad))
    x = distribute_tensor(X, row, [S0]).requires_grad_()
    scale = distribute_tensor(torch.ones(12), row, [R]).requires_grad_()
    F.layer_norm(x, (12,), scale).mul(2).relu().sum().backward()
    tell("layer norm", [whole(x.grad), whole(scale.grad)])


class Net(nn.Module):
    """Two linear layers and a norm, with numbers that do not depend on the process."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(12), nn.Linear(12, 16), nn.Linear(16, 12)
        for i, parameter in enumerate(self.parameters()):
            parameter.data = drawn(*parameter.shape, seed=10 + i) * 0.3

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(F.gelu(self.up(self.norm(x))))


def trained(name: str, model: nn.Module, given: Any, make: Callable[..., Any], steps: int = 3,
            clip: bool = False) -> None:
    """Train for some steps, and tell the losses and the parameters."""
    optimizer, losses = make(model.parameters()), []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = model(given).pow(2).mean()
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), 0.05)
        optimizer.step()
        losses.append(whole(loss) if isinstance(loss, DTensor) else loss.item())
    tell(name, [losses, {key: seen(p) for key, p in model.named_parameters()}])


def adamw(params: Any) -> Any:
    return torch.optim.AdamW(params, lr=0.01)


def momentum(params: Any) -> Any:
    return torch.optim.SGD(params, lr=0.1, momentum=0.9, weight_decay=0.01)


def split_layers() -> None:
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel()}
    trained("columns and rows", parallelize_module(Net(), row, plan), X, adamw)
    trained("sgd", parallelize_module(Net(), row, plan), X, momentum)
    along = {"norm": SequenceParallel(sequence_dim=0), "up": ColwiseParallel(input_layouts=S0),
             "down": RowwiseParallel(output_layouts=S0)}
    model = parallelize_module(Net(), row, along)
    begin, end = rank * 8 // size, (rank + 1) * 8 // size
    loss = model(X[begin:end]).pow(2).sum()
    loss.backward()
    tell("along the sequence", [loss, *[whole(p.grad) for p in model.parameters()]])
    model = parallelize_module(Net(), row, {"": PrepareModuleInput(
        input_layouts=S0, desired_input_layouts=R, use_local_output=True)})
    tell("prepared input", model(X[begin:end]))
    model = parallelize_module(Net(), row, PrepareModuleOutput(output_layouts=R, desired_output_layouts=S0))
    tell("prepared output", model(X))
    case("not a layer", kind, lambda: parallelize_module(nn.Conv1d(2, 2, 1), row, ColwiseParallel()))
    case("plan", lambda: parallelize_module(Net(), row, 3))  # type: ignore[arg-type]
    case("two dims", kind, lambda: parallelize_module(Net(), square, plan))
    model = distribute_module(Net(), row, None, lambda _, inputs, mesh: (distribute_tensor(inputs[0], mesh, [S0]),),
                              lambda _, output, mesh: output.full_tensor())
    trained("distributed module", model, X, momentum)
    case("module twice", lambda: distribute_module(model, row))


def sharded_modules() -> None:
    begin, end = rank * 8 // size, (rank + 1) * 8 // size
    for name, make, clip in (("adamw", adamw, False), ("sgd", momentum, False), ("clipped", adamw, True)):
        model = Net()
        for child in (model.up, model.down):
            fully_shard(child, mesh=row)
        fully_shard(model, mesh=row)
        trained(f"sharded {name}", model, X[begin:end], make, clip=clip)
    model = fully_shard(Net(), mesh=square)
    trained("sharded twice", model, X[begin:end], adamw)
    tell("class", [type(model).__name__, isinstance(model, FSDPModule), isinstance(model, Net)])
    for reshard in (True, False):
        model = fully_shard(Net(), mesh=row, reshard_after_forward=reshard)
        for _ in range(2):
            model(X[begin:end]).sum().backward()
        tell(f"two passes {reshard}", {key: seen(p.grad) for key, p in model.named_parameters()})
        state = model.state_dict()
        tell(f"state {reshard}", {key: seen(value) for key, value in state.items()})
    for dim in (None, 1):
        model = parallelize_module(Net(), square["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        for child in (model.up, model.down):
            fully_shard(child, mesh=square["dp"], shard_placement_fn=lambda p, dim=dim: dim and Shard(dim % p.ndim))
        place = square.get_local_rank("dp")
        trained(f"split and sharded {dim}", model, X[place * 4:place * 4 + 4], adamw)
        tell(f"norm of what is split and sharded {dim}", whole(nn.utils.clip_grad_norm_(model.up.parameters(), 0.05)))
    tell("meshes of what is split and sharded", [str(p.device_mesh) for p in model.up.parameters()])
    case("overlapping meshes", kind, lambda: fully_shard(distribute_module(Net(), row), mesh=row))
    case("list of modules", lambda: fully_shard(nn.ModuleList([nn.Linear(2, 2)]), mesh=row))


def made() -> None:
    for place in (R, S0, S1):
        case(f"zeros {place}", lambda place=place: seen(zeros(5, 4, device_mesh=row, placements=[place])))
        case(f"ones {place}", lambda place=place: seen(ones((4, 4), device_mesh=row, placements=[place])))
        case(f"full {place}", lambda place=place: seen(full((4, 4), 2.5, device_mesh=row, placements=[place])))
    x = distribute_tensor(X, row, [S0])
    case("text", lambda: str(distribute_tensor(torch.ones(size, 2), row, [S0])))
    case("again", lambda: distribute_tensor(x, row, [S0]) is x)
    case("otherwise", lambda: distribute_tensor(x, row, [S1]))
    case("placements", lambda: distribute_tensor(X, row, [S0, S0]))
    case("computed", lambda: distribute_tensor((X * 1).requires_grad_() * 2, row, [S0]))
    case("to a sum", lambda: x.redistribute(row, [P]))
    case("nowhere", lambda: x.redistribute())
    case("numpy", kind, x.numpy)
    case("list", kind, x.tolist)
    case("parameter", lambda: [isinstance(nn.Parameter(x), nn.Parameter), isinstance(nn.Parameter(x), DTensor),
                               str(nn.Parameter(x).placements), nn.Parameter(x).is_leaf])
    case("facts", lambda: [x.is_leaf, x.dim(), x.numel(), x.stride(), str(x.dtype), str(x.device), len(x), x.size(1)])
    case("shares", lambda: (x.to_local().zero_(), whole(x))[1])
    case("negative", lambda: str(distribute_tensor(X, row, [Shard(-1)]).placements))
    case("item", lambda: round(distribute_tensor(torch.ones(4), row, [R]).sum().item(), 3))


def writes_over_parts() -> None:
    """A part with a history refuses writes, which the history of the whole would not know of."""
    x = distribute_tensor(X, row, [R])
    given = distribute_tensor(X, row, [R]).requires_grad_()
    for name, part in (("part", lambda x: x.to_local()), ("whole", lambda x: x.full_tensor())):
        case(f"write over a {name}", lambda part=part: (part(x).add_(1), whole(x))[1])
        case(f"write over a {name} with a history", lambda part=part: part(given * 1).add_(1))
        case(f"view of a {name}", lambda part=part: [part(given * 1)._is_view(), part(given * 1)._base is not None])
    parameter = nn.Parameter(distribute_tensor(X, row, [S0]))
    case("part of a parameter", lambda: [isinstance(parameter.to_local(), nn.Parameter),
                                         isinstance(parameter.full_tensor(), nn.Parameter)])
    case("written by a tensor of one process", kind, lambda: x.copy_(X))
    case("one element", lambda: seen(x + torch.ones(1)))
    case("copied", lambda: deepcopy(fully_shard(Net(), mesh=row)))


def parts_of_processes() -> None:
    """`from_local`, also in a process outside of the mesh, as process 0 is."""
    last = DeviceMesh("cpu", [size - 1])
    case("outside, from its part", lambda: (DTensor.from_local(X, last, [S0]).shape,
                                            DTensor.from_local(X, last, [S0]).to_local()))
    case("outside, from the whole", lambda: distribute_tensor(X, last, [S0]).to_local())
    case("outside, computed", lambda: (DTensor.from_local(X, last, [R]) + 1).to_local())
    case("outside, whole", lambda: DTensor.from_local(X, last, [R]).full_tensor())
    case("outside, gradient", lambda: DTensor.from_local(X.clone().requires_grad_(), last, [R]).requires_grad)
    case("strides", lambda: DTensor.from_local(torch.ones(2, 3).t(), row, [S0]).stride())
    case("alike", lambda: whole(DTensor.from_local(torch.ones(2) * (rank + 3), row, [R], run_check=True)))
    case("other shapes", lambda: DTensor.from_local(torch.ones(2 + rank), row, [S0], run_check=True))
    case("other dtypes", lambda: DTensor.from_local(
        torch.ones(2, dtype=torch.float64 if rank else torch.float32), row, [S0], run_check=True))
    for name, given, placements in (("list", [1.0], [R]), ("nothing", None, [R]), ("dim", X, [Shard(3)]),
                                    ("dim from behind", X, [Shard(-4)]), ("number", torch.tensor(1.), [S0])):
        case(f"from a part: {name}", lambda given=given, placements=placements: DTensor.from_local(
            given, row, placements))
    case("two reductions", kind, lambda: DTensor.from_local(X, square, [Partial("max"), P]))
    parts = distribute_tensor(torch.arange(2. * size), row, [S0])
    for n in (3, 0):
        into = zeros(n, device_mesh=row, placements=[S0])
        case(f"out= of {n}", lambda into=into: torch.add(parts, parts, out=into).to_local())
    for reduction in ("product", "band", "bor", "bxor", "median"):
        case(f"parts of integers by {reduction}", lambda reduction=reduction: DTensor.from_local(
            torch.arange(3) + rank, row, [Partial(reduction)]).full_tensor())
        case(f"parts of floats by {reduction}", lambda reduction=reduction: DTensor.from_local(
            torch.arange(3.) + rank, row, [Partial(reduction)]).full_tensor())
    for value in (torch.arange(6), torch.tensor([True, False]), torch.arange(6.).view(2, 3).t()):
        for place in (P, R, S0):
            case(f"distributed {value.dtype} {place}", lambda value=value, place=place: (
                lambda made: [made.stride(), made.to_local(), *seen(made)])(distribute_tensor(value, row, [place])))
    case("norm text", lambda: str(distribute_tensor(X, row, [S0]).norm(3).placements[0]))
    case("other memory", lambda: parts.clone().set_())
    case("styles", lambda: [str(style) for style in (
        ColwiseParallel(), RowwiseParallel(output_layouts=S0), SequenceParallel(),
        PrepareModuleInput(input_layouts=S0, desired_input_layouts=R),
        PrepareModuleOutput(output_layouts=S0, desired_output_layouts=R))])
    case("no wanted layout", lambda: PrepareModuleInput(input_layouts=S0))
    case("a rectangle", lambda: parallelize_module(nn.Conv1d(2, 2, 1), row, RowwiseParallel()))


class Penalized(nn.Module):
    """A module that goes over its parameters while it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.scale = nn.Parameter(drawn(4, 4)), nn.Parameter(drawn(4, seed=1))

    def forward(self, x: torch.Tensor) -> Any:
        return (x @ self.first * self.scale).sum() + sum([p.pow(2).sum() for p in self.parameters()]), names(self)


def names(module: nn.Module) -> Any:
    return [[name, isinstance(p, nn.Parameter), isinstance(p, DTensor), [*p.shape]] for name, p in
            module.named_parameters()]


def parameters_of_sharded_modules() -> None:
    """Inside of a call, the parameters are whole. They keep their order, also beside one that is not cut."""
    model = Penalized()
    fully_shard(model, mesh=row, ignored_params={model.scale})
    case("inside of a call", lambda: ((found := model(drawn(2, 4) + rank))[0].backward(), found[1])[1])
    case("after a call", lambda: [names(model), seen(model.first.grad)])
    case("made whole", lambda: (model.unshard(), names(model))[1])
    case("saved while whole", lambda: [[*model.state_dict()], names(model)])


for part in (meshes, moves, operators, gradients, split_layers, sharded_modules, made, writes_over_parts,
             parts_of_processes, parameters_of_sharded_modules):
    part()
ended()
