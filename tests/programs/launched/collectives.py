"""All collectives with all dtypes and operations, and calls that are wrong in all processes."""

from collections.abc import Callable
from typing import Any

import torch
import torch.distributed as dist
from telling import case, ended

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
Op = dist.ReduceOp
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "complex128", "bool", "uint8", "int8", "int32",
          "int64", "int16", "uint16")


def numbers(dtype: str = "float32") -> torch.Tensor:
    return torch.tensor([1, 3, 5]).sub(rank).to(getattr(torch, dtype))


def written(tensor: torch.Tensor, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    return call(tensor, *args, **options), tensor


def parts(count: int = size, length: int = 4) -> list[torch.Tensor]:
    return [torch.ones(length) * (rank + i) for i in range(count)]


def reductions() -> None:
    for name in ("SUM", "AVG", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"):
        for dtype in DTYPES:
            case(f"all_reduce {name} {dtype}", written, numbers(dtype), dist.all_reduce, getattr(Op, name))
    for name in ("SUM", "MAX", "BOR"):
        case(f"reduce {name}", written, numbers("int64"), dist.reduce, 0, getattr(Op, name))
        case(f"reduce_scatter {name}", written, torch.zeros(3).long(), dist.reduce_scatter,
             [numbers("int64") + i for i in range(size)], getattr(Op, name))
    for op in (Op.SUM, Op.AVG):
        case(f"reduce_scatter_tensor {op}", written, torch.zeros(4), dist.reduce_scatter_tensor,
             torch.arange(4. * size) + rank, op)


def moves() -> None:
    for dtype in DTYPES:
        case(f"broadcast {dtype}", written, numbers(dtype), dist.broadcast, 1)
        case(f"all_gather {dtype}", written, [torch.zeros_like(numbers(dtype)) for _ in range(size)], dist.all_gather,
             numbers(dtype))
    case("all_gather_into_tensor", lambda: written(torch.zeros(3 * size), dist.all_gather_into_tensor, numbers()))
    into = [torch.zeros(3) for _ in range(size)]
    case("gather", lambda: (dist.gather(numbers(), into if rank == 0 else None, 0), into))
    case("scatter", lambda: written(torch.zeros(4), dist.scatter, parts() if rank == 1 else None, 1))
    numbered = [torch.tensor(float(i)) for i in range(size)]
    case("scatter of numbers", lambda: written(torch.tensor(0.), dist.scatter, numbered if rank == 1 else None, 1))
    case("gather of numbers", lambda: (dist.gather(numbered[rank] + 1, numbered if rank == 0 else None, 0), numbered))
    shapes = [torch.ones(i + 1, 2) * (rank + i) for i in range(size)]
    case("reduce_scatter of shapes", lambda: written(torch.zeros(rank + 1, 2), dist.reduce_scatter, shapes))
    case("all_gather_single", lambda: written(torch.zeros(3 * size), dist.all_gather_single, numbers()))
    case("reduce_scatter_single", lambda: written(torch.zeros(4), dist.reduce_scatter_single, torch.ones(4 * size)))
    case("reduce_scatter of numbers", lambda: written(torch.tensor(0.), dist.reduce_scatter, numbered))
    case("all_to_all", lambda: written(parts(), dist.all_to_all, [part * (rank + 2) for part in parts()]))
    case("all_to_all_single", lambda: written(
        torch.zeros(2 * size), dist.all_to_all_single, torch.arange(2. * size) + 10 * rank))
    rows = [1 + i for i in range(size)]
    given = torch.arange(2. * sum(rows)).view(-1, 2) + 100 * rank
    case("all_to_all_single, uneven", written, torch.zeros((rank + 1) * size, 2), dist.all_to_all_single, given,
         [rank + 1] * size, rows)
    columns = torch.arange(8.).view(2, 4)
    case("columns", lambda: written(columns.t(), dist.all_reduce))
    case("coalesced", lambda: written([torch.ones(2), torch.ones(3)], dist.all_reduce_coalesced))


def objects() -> None:
    places: list[Any] = [None] * size
    case("all_gather_object", lambda: (dist.all_gather_object(places, {"rank": (rank, "x")}), places))
    case("broadcast_object_list", lambda: written([rank, {"a": (rank,)}], dist.broadcast_object_list, 1))
    case("scatter_object_list", lambda: written(
        [None], dist.scatter_object_list, [*range(size)] if rank == 0 else None, 0))
    case("gather_object", lambda: (dist.gather_object(rank, places if rank == 0 else None, 0), places))
    case("empty scatter_object_list", lambda: dist.scatter_object_list([], [*range(size)] if rank == 0 else None, 0))


def messages() -> None:
    x = torch.arange(4.)
    around = (rank + 1) % size, (rank - 1) % size
    y = torch.zeros(4)
    case("batch", lambda: ([work.wait() for work in dist.batch_isend_irecv([
        dist.P2POp(dist.isend, x + rank, around[0]), dist.P2POp(dist.irecv, y, around[1])])], y))
    if rank < 2:
        case("any", lambda: dist.recv(y) if rank == 0 else dist.send(x * 2, 0))
        case("tag", lambda: (dist.recv(y, 1, tag=3), y) if rank == 0 else dist.send(x * 3, 0, tag=3))
        case("work", lambda: (lambda work: (work.wait(), work.is_completed()))(
            dist.irecv(y, 1) if rank == 0 else dist.isend(x, 0)))
        case("objects", lambda: (dist.recv_object_list(places := [None, None], 1), places) if rank == 0
             else dist.send_object_list(["a", {1: 2.5}], 0))
    case("to itself", lambda: dist.send(x, rank))
    case("no tensor", lambda: dist.send(3, 1))


def works() -> None:
    x = torch.ones(3) * (rank + 1)
    case("async", lambda: (lambda work: (work.wait(), work.is_completed(), work.result(), x))(
        dist.all_reduce(x, async_op=True)))
    case("future", lambda: dist.all_reduce(x, async_op=True).get_future().then(lambda f: f.value()[0] + 1).wait())
    many = [torch.full((5,), float(i + rank)) for i in range(8)]
    waits = [dist.all_reduce(each, async_op=True) for each in many]
    case("many", lambda: ([work.wait() for work in reversed(waits)], many))


def groups() -> None:
    x = torch.ones(2) * (rank + 1)
    one, both = dist.new_group([1]), dist.new_group([1, 0])
    case("outside", lambda: (dist.all_reduce(x, group=one), dist.barrier(one), dist.get_rank(one),
                             dist.get_world_size(one)) if rank == 0 else None)
    case("subgroup", lambda: (dist.all_reduce(x, group=both), x, dist.get_rank(both), dist.get_world_size(both),
                              dist.get_process_group_ranks(both), dist.get_global_rank(both, 1)) if rank < 2 else None)
    case("broadcast in it", lambda: written(numbers(), dist.broadcast, 1, both) if rank < 2 else None)
    own, made = dist.new_subgroups_by_enumeration([[i] for i in range(size)])
    case("subgroups", lambda: (dist.get_process_group_ranks(own), len(made)))
    case("unsorted", lambda: dist.get_process_group_ranks(dist.new_group([1, 0], sort_ranks=False)) if rank < 2
         else dist.new_group([1, 0], sort_ranks=False) and None)
    case("out of range", lambda: dist.new_group([0, 99][:size]))
    case("twice", lambda: dist.new_group([0, 0]))
    case("too large", lambda: dist.new_group([*range(size + 1)]))


def refused() -> None:
    x = torch.ones(4)
    calls: dict[str, Callable[[], Any]] = {
        "list": lambda: dist.all_gather(parts(1), x), "shape": lambda: dist.all_gather(parts(length=3), x),
        "dtype": lambda: dist.all_gather([part.int() for part in parts()], x),
        "no tensors": lambda: dist.all_gather([3] * size, x), "no list": lambda: dist.all_gather(3, x),
        "no tensor here": lambda: dist.all_gather(parts(), 3), "no root": lambda: dist.broadcast(x),
        "two roots": lambda: dist.broadcast(x, 0, group_src=0), "root": lambda: dist.broadcast(x, size),
        "no reduce root": lambda: dist.reduce(x), "reduce root": lambda: dist.reduce(x, size),
        "gather root": lambda: dist.gather(x, None, 9), "gather list": lambda: dist.gather(x, None, rank),
        "gather no list": lambda: dist.gather(x, parts(), (rank + 1) % size),
        "gather count": lambda: dist.gather(x, parts(size + 1), rank),
        "gather shape": lambda: dist.gather(x, parts(length=3), rank),
        "scatter list": lambda: dist.scatter(x, None, rank), "scatter root": lambda: dist.scatter(x, None, 9),
        "scatter no list": lambda: dist.scatter(x, parts(), (rank + 1) % size),
        "scatter count": lambda: dist.scatter(x, parts(size + 1), rank),
        "scatter shape": lambda: dist.scatter(x, parts(length=3), rank),
        "reduce_scatter count": lambda: dist.reduce_scatter(x, parts(size + 1)),
        "all_to_all count": lambda: dist.all_to_all(parts(size + 1), parts(size + 1)),
        "all_to_all dtype": lambda: dist.all_to_all(parts(), [part.int() for part in parts()]),
        "splits": lambda: dist.all_to_all_single(torch.zeros(4), x, [1] * size, [1] * (size - 1) + [9]),
        "count of splits": lambda: dist.all_to_all_single(torch.zeros(4), x, [1] * (size + 1), [4] + [0] * (size - 1)),
        "single dtype": lambda: dist.all_to_all_single(torch.zeros(4), x.long()),
        "all_reduce": lambda: dist.all_reduce(3), "twice": lambda: dist.init_process_group("gloo"),
        "group": lambda: dist.destroy_process_group(3), "timeout": lambda: dist.new_group(timeout=3),
    }
    for name, call in calls.items():
        case(f"refused: {name}", call)


for part in (reductions, moves, objects, messages, works, groups, refused):
    part()
ended()
