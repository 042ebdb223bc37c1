"""A world of one process against PyTorch: how it begins, what it is asked, its operations, and its modules."""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd
from comparing.same_text import same


def distributed(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.distributed")


def begin(t: Any, backend: str = "gloo") -> Any:
    """The package, with a group of one process."""
    package = distributed(t)
    package.init_process_group(backend, store=torch.distributed.HashStore(), rank=0, world_size=1)
    return package


def inside(call: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """A case that runs in a group of one process. Programs see no warnings of old names."""
    def case(t: Any) -> Any:
        package = begin(t)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return call(t, package)
        finally:
            package.destroy_process_group()

    return case


def group_of_one(t: Any, d: Any) -> Any:
    other = d.new_group([0])
    return (d.is_initialized(), d.get_rank(), d.get_world_size(), d.get_backend(), d.group.WORLD is d.GroupMember.WORLD,
            d.get_rank(other), d.get_world_size(other), other.size(), other.rank(), d.get_process_group_ranks(other),
            d.get_global_rank(other, 0), d.get_group_rank(other, 0), d.get_process_group_ranks(None),
            [d._rank_not_in_group(group) for group in (None, other, d.GroupMember.NON_GROUP_MEMBER)])


def reductions(t: Any, d: Any) -> Any:
    found = []
    for op in (d.ReduceOp.SUM, d.ReduceOp.AVG, d.ReduceOp.PRODUCT, d.ReduceOp.MIN, d.ReduceOp.MAX):
        x = t.arange(3.0)
        found += [d.all_reduce(x, op=op), x, d.reduce(x, 0, op), x]
    whole = t.arange(3)
    work = d.all_reduce(whole, d.ReduceOp.BXOR, async_op=True)
    return found, whole, work.wait(), work.is_completed()


def movements(t: Any, d: Any) -> Any:
    x, lists, into = t.arange(3.0), [t.zeros(3)], t.zeros(3)
    found = [d.broadcast(x, 0), x.clone(), d.broadcast(x, group_src=0), d.all_gather(lists, x), lists[0].clone()]
    found += [d.gather(x + 1, lists, 0), lists[0].clone(), d.scatter(into, [x + 2], 0), into.clone()]
    found += [d.all_gather_into_tensor(into, x + 3), into.clone(), d.reduce_scatter(into, [x + 4]), into.clone()]
    found += [d.reduce_scatter_tensor(into, x + 5), into.clone(), d.all_to_all([into], [x + 6]), into.clone()]
    found += [d.all_to_all_single(into, x + 7), into.clone(), d.barrier(), d.monitored_barrier()]
    return found


def objects(t: Any, d: Any) -> Any:
    places: list[list[Any]] = [[None], [3, "x"], [None], [None]]
    d.all_gather_object(places[0], {"a": 1})
    d.broadcast_object_list(places[1], 0)
    d.gather_object(5, places[2], 0)
    d.scatter_object_list(places[3], [7], 0)
    return places


INSIDE: list[Callable[[Any, Any], Any]] = [
    group_of_one, reductions, movements, objects,
    lambda t, d: d.init_process_group("gloo", rank=0, world_size=1), lambda t, d: d.new_group([0, 1]),
    lambda t, d: d.new_group([5]), lambda t, d: d.broadcast(t.ones(1), 1), lambda t, d: d.reduce(t.ones(1), 1),
    lambda t, d: d.broadcast(t.ones(1)), lambda t, d: d.all_reduce(t.ones(1), d.ReduceOp.BOR),
    lambda t, d: d.all_reduce(3), lambda t, d: d.all_gather([t.zeros(3)] * 2, t.ones(3)),
    lambda t, d: d.all_gather([], t.ones(3)), lambda t, d: d.all_gather([t.zeros(2)], t.ones(3)),
    lambda t, d: d.all_gather([t.zeros(3).int()], t.ones(3)), lambda t, d: d.gather(t.ones(1)),
    lambda t, d: d.scatter(t.ones(1), None, 0), lambda t, d: d.gather_object(1), lambda t, d: d.send(t.ones(1), 0),
    lambda t, d: d.split_group(split_ranks=[[0]]),
    lambda t, d: d.gather(t.ones(3), [t.ones(2)], 0), lambda t, d: d.scatter(t.ones(3), [t.ones(2)], 0),
]


@pytest.mark.parametrize("number", range(len(INSIDE)))
def test_one_process(number: int) -> None:
    same(inside(INSIDE[number]))


OUTSIDE: list[Callable[[Any], Any]] = [
    lambda d: [ask() for ask in (d.is_available, d.is_initialized, d.is_gloo_available, d.is_nccl_available,
                                 d.is_ucc_available, d.is_xccl_available,
                                 d.is_torchelastic_launched)],
    lambda d: d.get_rank(), lambda d: d.get_world_size(), lambda d: d.get_backend(), lambda d: d.barrier(),
    lambda d: d.destroy_process_group(), lambda d: d.get_node_local_rank(), lambda d: d.get_node_local_rank(7),
    lambda d: d.init_process_group("gloo"), lambda d: d.init_process_group("gloo", rank=0),
    lambda d: d.init_process_group("gloo", rank=0, world_size=1),
    lambda d: d.init_process_group("gloo", "tcp://127.0.0.1:29513"),
    lambda d: d.init_process_group("gloo", "tcp://127.0.0.1:29513", rank=0),
    lambda d: d.init_process_group("gloo", "foo://x", rank=0, world_size=1),
    lambda d: d.init_process_group("gloo", store=torch.distributed.HashStore()),
    lambda d: d.init_process_group("gloo", "env://", store=torch.distributed.HashStore(), rank=0, world_size=1),
    lambda d: d.init_process_group(3, store=torch.distributed.HashStore(), rank=0, world_size=1),
    lambda d: [d.is_backend_available(name) for name in ("gloo", "nccl", "foo")],
    lambda d: (d.Backend("GLOO"), d.Backend.GLOO, d.Backend.NCCL, d.Backend("foo"), d.default_pg_timeout),
    lambda d: [(op.name, op.value) for op in (d.ReduceOp.SUM, d.ReduceOp.AVG, d.ReduceOp.MAX, d.ReduceOp.BXOR)],
    lambda d: d.group.WORLD, lambda d: d.split_group(), lambda d: d.split_group(split_ranks=[[0]]),
    lambda d: [d.supports_complex(op) for op in (d.ReduceOp.SUM, d.ReduceOp.AVG, d.ReduceOp.MAX, d.ReduceOp.BOR)],
    lambda d: [d.get_default_backend_for_device(kind) for kind in ("cpu", "cuda:0", "mps")],
    lambda d: d.get_default_backend_for_device("xla"), lambda d: d.set_debug_level(1),
    lambda d: [*d.DebugLevel.__members__, int(d.DebugLevel.INFO), repr(d.DebugLevel.OFF), str(d.DebugLevel.DETAIL)],
]


@pytest.mark.parametrize("number", range(len(OUTSIDE)))
def test_no_group(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"):
        monkeypatch.delenv(name, raising=False)
    same(lambda t: OUTSIDE[number](distributed(t)))


@pytest.mark.parametrize("said", ["off", "INFO", "Detail", "more", ""])
def test_the_debug_level_of_the_environment(said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", said)

    def told(t: Any) -> str:
        d = distributed(t)
        before = d.get_debug_level()
        try:
            d.set_debug_level_from_env()
            return str(d.get_debug_level())
        finally:
            d.set_debug_level(before)

    same(told)


def test_functions_are_called_alike() -> None:
    ours, theirs = distributed(retrograd), distributed(torch)
    for name in ours.__all__:
        bound = inspect.isbuiltin(getattr(theirs, name, None))             # from C++, without a signature
        if name != "allow_pickled_objects" and not bound and inspect.isfunction(getattr(ours, name)):
            expected = [n for n in inspect.signature(getattr(theirs, name)).parameters if n != "_ranks"]
            assert [*inspect.signature(getattr(ours, name)).parameters] == expected, name


def learned(t: Any, d: Any) -> Any:
    t.manual_seed(0)
    model = t.nn.parallel.DistributedDataParallel(t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4)))
    x = t.randn(5, 3)
    model(x).square().sum().backward()
    with model.no_sync():
        model(x).sum().backward()
    shown = {k: v for k, v in sorted(vars(model).items()) if k in (
        "device_ids", "output_device", "dim", "device", "find_unused_parameters", "require_backward_grad_sync",
        "static_graph", "device_type", "is_multi_device_module", "gradient_as_bucket_view", "forward_sync_buffers",
        "parameters_to_ignore", "mixed_precision")}
    return (model, model.state_dict(), [p.grad.double().round(decimals=3) for p in model.parameters()],
            shown, model.broadcast_buffers, model.will_sync_module_buffers(), model.module.training)


def test_modules_of_one_process() -> None:
    same(inside(learned))
    same(inside(lambda t, d: t.nn.parallel.DistributedDataParallel(t.nn.ReLU())))
    same(inside(lambda t, d: t.nn.parallel.DistributedDataParallel(t.nn.Linear(1, 1), device_ids=[0])))
    same(inside(lambda t, d: t.nn.parallel.DistributedDataParallelCPU(t.nn.Linear(1, 1))))
    same(lambda t: t.nn.parallel.DistributedDataParallel(t.nn.Linear(1, 1)))
    ours, theirs = (inspect.signature(t.nn.parallel.DistributedDataParallel.__init__) for t in (retrograd, torch))
    assert [(p.name, p.default) for p in ours.parameters.values()] == [
        (p.name, p.default) for p in theirs.parameters.values()]


def divided(t: Any, given: Any) -> Any:
    """How many groups `ZeroRedundancyOptimizer` has of these parameters."""
    made = importlib.import_module(f"{t.__name__}.distributed.optim").ZeroRedundancyOptimizer(given, t.optim.SGD, lr=1)
    return len(made.param_groups)


PARAMETERS: list[Callable[[Any], Any]] = [
    lambda t: [t.nn.Parameter(t.ones(2)), t.ones(2, requires_grad=True)], lambda t: t.ones(2), lambda t: 3,
    lambda t: None, lambda t: [], lambda t: [1, 2], lambda t: "ab", lambda t: {"a": 1}, lambda t: [{"lr": 1}],
    lambda t: [t.ones(2), t.ones(2, dtype=t.float64)], lambda t: [t.ones(2).half(), t.ones(2)],
    lambda t: [{"params": [t.ones(2)]}, {"params": [t.ones(2).double()]}], lambda t: [t.ones(2), {"params": []}],
    lambda t: [t.ones(2, 2).to_sparse()], lambda t: [{"params": []}], lambda t: [{"params": [t.ones(2)]}] * 1,
]


@pytest.mark.parametrize("number", range(len(PARAMETERS)))
def test_parameters_to_divide(number: int) -> None:
    same(inside(lambda t, d: divided(t, PARAMETERS[number](t))))


def cpu(t: Any) -> Any:
    return t.device("cpu")


WITHOUT_GPUS: list[Callable[[Any], Any]] = [
    lambda t: (lambda m: (m, m.device_ids, [*m.state_dict()], m(t.ones(2, 1)).shape))(
        t.nn.DataParallel(t.nn.Linear(1, 1), [0, 1], 0, 1)),
    lambda t: t.nn.parallel.data_parallel(t.nn.Linear(1, 1), t.ones(1, 1)),
    lambda t: t.nn.parallel.replicate(t.nn.Linear(1, 1), [0]),
    lambda t: t.nn.parallel.scatter(t.ones(2), [cpu(t)]), lambda t: t.nn.parallel.scatter(3, [cpu(t)]),
    lambda t: t.nn.parallel.gather([t.ones(1)] * 2, "cpu"),
    lambda t: t.nn.parallel.parallel_apply([t.nn.ReLU()], [(t.ones(1),)]),
    lambda t: t.nn.parallel.parallel_apply([t.nn.ReLU()], [(t.ones(1),), 1]),
]


@pytest.mark.parametrize("number", range(len(WITHOUT_GPUS)))
def test_without_gpus(number: int) -> None:
    same(WITHOUT_GPUS[number])


def test_samplers_ask_for_the_group() -> None:
    def sampled(t: Any, d: Any) -> Any:
        data = importlib.import_module(f"{t.__name__}.utils.data")
        return [*data.DistributedSampler(range(7))]

    same(inside(sampled))
    same(lambda t: importlib.import_module(f"{t.__name__}.utils.data").DistributedSampler(range(7)))
