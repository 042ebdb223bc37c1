"""Compiled functions that communicate run as they are. The group here has one process; `test_launched` starts several.

Each public function of `torch.distributed` either ends a trace, or is known to depend on what a guard compares.
"""

from __future__ import annotations

import inspect
import json
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.utils.checkpoint
from compiled.sizes import EXECUTORS
from needing import needs
from programs.communicating_programs import checked
from retrograd import distributed as dist, nn
from retrograd.distributed import checkpoint, collectives
from retrograd.distributed.algorithms.join import Join
from retrograd.distributed.optim import ZeroRedundancyOptimizer

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "60"))


@pytest.fixture(autouse=True)
def group() -> Iterator[None]:
    dist.init_process_group(store=object(), rank=0, world_size=1)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("part", range(8))
def test_random_programs(backend: str, part: int) -> None:
    state, reasons = torch.get_rng_state(), []
    for seed in range(part, COUNT, 8):
        author, difference, reason = checked(torch, seed, backend)
        assert not difference, "\n".join([f"seed {seed}, arguments {author.specs}", *author.lines, difference])
        reasons.append(str(reason))
    torch.set_rng_state(state)
    assert len([reason for reason in reasons if "torch.distributed" in reason]) > len(reasons) // 3


def noted(function: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, str]:
    """What the first call of a compiled function returns, and why the function runs as it is; "" if it does not."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = torch.compile(function, **options)(*args)
    said = [str(each.message) for each in found if "torch.compile runs" in str(each.message)]
    return result, said[0] if said else ""


X = torch.ones(1, 2)
# One process may not send to itself, so messages are tried by several processes.
MESSAGES = {"isend", "irecv", "send", "recv", "batch_isend_irecv", "send_object_list", "recv_object_list"}
CALLS: dict[str, Callable[..., Any]] = {
    "all_gather": lambda x: dist.all_gather([x], x * 1),
    "all_gather_single": lambda x: dist.all_gather_single(x, x * 1),
    "all_gather_object": lambda x: dist.all_gather_object([None], 3), "all_reduce": lambda x: dist.all_reduce(x),
    "all_to_all": lambda x: dist.all_to_all([x], [x * 1]),
    "all_to_all_single": lambda x: dist.all_to_all_single(x, x * 1), "barrier": lambda x: dist.barrier(),
    "allow_pickled_objects": lambda x: dist.allow_pickled_objects(False),
    "broadcast": lambda x: dist.broadcast(x, 0), "broadcast_object_list": lambda x: dist.broadcast_object_list([1], 0),
    "destroy_process_group": lambda x: dist.destroy_process_group(), "gather": lambda x: dist.gather(x, [x * 1], 0),
    "gather_object": lambda x: dist.gather_object(1, [None], 0),
    "monitored_barrier": lambda x: dist.monitored_barrier(),
    "new_group": lambda x: dist.new_group([0]), "reduce": lambda x: dist.reduce(x, 0),
    "reduce_scatter": lambda x: dist.reduce_scatter(x, [x * 1]),
    "reduce_scatter_single": lambda x: dist.reduce_scatter_single(x, x * 1),
    "scatter": lambda x: dist.scatter(x, [x * 1], 0),
    "scatter_object_list": lambda x: dist.scatter_object_list([None], [1], 0)}
# Calls that communicate by one of these.
BY_OTHERS = {"all_reduce_coalesced": "all_reduce", "all_gather_into_tensor": "all_gather_single",
             "reduce_scatter_tensor": "reduce_scatter_single", "new_subgroups": "new_group",
             "new_subgroups_by_enumeration": "new_group", "split_group": "new_group",
             "init_process_group": "it raises an error in a group"}
# What the group of all processes and the arguments decide: the guard compares this group.
BY_THE_GROUP = {"get_backend", "get_backend_config", "get_default_backend_for_device", "get_global_rank",
                "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size", "is_available",
                "is_gloo_available", "is_initialized", "is_nccl_available", "is_ucc_available", "is_xccl_available",
                "supports_complex"}
# These look at the environment, at what is installed or at a count, and each trace that calls them ends.
OF_STATES = {"get_debug_level", "get_node_local_rank", "get_pg_count", "is_backend_available", "is_mpi_available",
             "is_torchelastic_launched", "set_debug_level", "set_debug_level_from_env"}


def test_each_function_is_known() -> None:
    functions = {name for name in dist.__all__ if inspect.isfunction(getattr(dist, name))}
    assert functions == {*CALLS, *BY_OTHERS, *BY_THE_GROUP, *OF_STATES, *MESSAGES}


@pytest.mark.parametrize("name", CALLS)
def test_operations_end_the_trace(name: str) -> None:
    def step(x: Any) -> Any:
        x = x * 2
        CALLS[name](x)
        return x + 1

    result, reason = noted(step, X)
    assert result.tolist() == [[3, 3]]
    assert f"the program calls torch.distributed.{name}, in File" in reason
    assert "line" in reason
    if name == "destroy_process_group":
        dist.init_process_group(store=object(), rank=0, world_size=1)
    with pytest.raises(RuntimeError, match=rf"step cannot be compiled: the program calls torch\.distributed\.{name}"):
        torch.compile(step, fullgraph=True)(X)
    assert dist.is_initialized()                           # nothing was done


@pytest.mark.parametrize("name", sorted(OF_STATES))
def test_questions_about_more_than_the_group_end_the_trace(name: str) -> None:
    ask = getattr(dist, name)
    args = {"get_node_local_rank": (0,), "is_backend_available": ("gloo",),
            "set_debug_level": (dist.DebugLevel.OFF,)}.get(name, ())
    assert "ask is a function or type that may read or change" in noted(lambda x: x * int(ask(*args) or 1), X)[1]


@pytest.mark.parametrize("backend", EXECUTORS)
def test_the_group_of_all_processes_is_compared(backend: str) -> None:
    def step(x: Any) -> Any:
        return x * (2 + dist.get_rank() + dist.get_world_size()) if dist.is_initialized() else x

    compiled = torch.compile(step, backend=backend)
    assert compiled(X).tolist() == [[3, 3]]
    dist.destroy_process_group()
    assert compiled(X).tolist() == [[1, 1]]
    dist.init_process_group(store=object(), rank=0, world_size=1)
    assert compiled(X).tolist() == [[3, 3]]
    assert noted(step, X)[1] == ""


def test_other_things_that_communicate_end_the_trace(tmp_path: Path) -> None:
    model = nn.Linear(2, 2)
    zero = ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, lr=0.1)
    parallel = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
    work: Any = dist.barrier(async_op=True)
    place = str(tmp_path / "there")
    checkpoint.save({"x": 1}, checkpoint_id=place)
    programs: dict[str, Callable[[Any], Any]] = {
        "torch.distributed.checkpoint.save": lambda x: checkpoint.save({"x": 1}, checkpoint_id=place),
        "torch.distributed.checkpoint.load": lambda x: checkpoint.load({"x": 0}, checkpoint_id=place),
        "step of ZeroRedundancyOptimizer": lambda x: zero.step(),
        "enters a Join": lambda x: Join([parallel]).__enter__(),
        "waits for an operation": lambda x: x + work.is_completed(),
        "or asks about it": lambda x: work.get_future().wait() and None}
    for words, program in programs.items():
        assert words in noted(program, X)[1]


def test_a_module_of_one_process_is_compiled() -> None:
    parallel = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(2, 2), nn.SyncBatchNorm(2)))
    assert noted(lambda x: parallel(x).sum(), torch.randn(4, 2))[1] == ""


def plainly(g: Any) -> None:
    dist.barrier()


def stubbornly(g: Any) -> None:
    with suppress(RuntimeError):
        g.nonzero()                                        # cannot be traced
    dist.barrier()


def inside(g: Any) -> None:
    torch.vmap(lambda x: (dist.barrier(), x)[1])(g)


@pytest.mark.parametrize("sends", [plainly, stubbornly, inside])
def test_the_traced_backward_pass_sends_nothing(sends: Callable[[Any], None]) -> None:
    count = [0]

    class Sent(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            sends(g)
            count[0] += 1
            return g * 2

    x = torch.ones(2, requires_grad=True)
    compiled = torch.compile(lambda x: Sent.apply(x) * 3)
    for i in range(1, 4):
        with warnings.catch_warnings(action="ignore"):
            result = compiled(x)
        assert count == [i - 1]
        result.sum().backward()
        assert count == [i]


def test_real_arrays_are_sent() -> None:
    kinds = []

    def step(x: Any) -> Any:
        x = x * 2
        dist.all_reduce(x)
        kinds.append(type(x._array))
        return x

    noted(step, X)
    assert kinds == [np.ndarray]


def test_another_thread_may_send_a_tensor_of_the_trace() -> None:
    shared, box, errors = torch.ones(2), list[int](), list[Exception]()

    def send() -> None:
        while not box:
            time.sleep(0.001)
        try:
            dist.all_reduce(shared)
        except Exception as error:
            errors.append(error)
        box.append(2)

    def step(x: Any) -> Any:
        box.append(1)
        while len(box) < 2:
            pass
        return x + shared

    thread = threading.Thread(target=send)
    thread.start()
    result, _ = noted(step, X)
    thread.join()
    assert not errors
    assert result.tolist() == [[2, 2]]


def named() -> None:
    dist.barrier()


def unnamed() -> None:
    getattr(getattr(torch, "".join(["dis", "tributed"])), "barrier")()  # noqa: B009


@pytest.mark.parametrize("sends", [named, unnamed])
@pytest.mark.parametrize("dynamic", [None, True])
def test_a_call_that_communicates_is_not_run_again(dynamic: bool | None, sends: Callable[[], None],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace for many sizes is made again if a library takes no size in place of an int."""
    sent, outside = [0], collectives.outside

    def counting(group: Any, operation: str) -> bool:
        sent[0] += 1
        return outside(group, operation)

    monkeypatch.setattr(collectives, "outside", counting)

    def step(x: Any) -> Any:
        if x.shape[0] > 4:
            sends()
        return x * len(json.dumps(x.shape[0]))

    compiled = torch.compile(step, dynamic=dynamic)
    with warnings.catch_warnings(action="ignore"):
        for number, size in enumerate((2, 3, 4, 50, 5, 6, 100)):
            before = sent[0]
            assert compiled(torch.ones(size))[0] == len(str(size)), number
            assert sent[0] - before == (size > 4)


def test_an_operation_keeps_the_tensor_that_it_was_given() -> None:
    batches = [torch.ones(2), torch.zeros(2)]

    def step(x: Any) -> Any:
        return dist.all_reduce(x, async_op=True), batches[0] * 2

    (work, _), _ = noted(step, batches[0])
    assert work.result()[0] is batches[0]


@needs("mpi4py")
def test_objects_that_c_has_made_are_refused() -> None:
    from mpi4py import MPI

    comm = MPI.COMM_SELF
    for program in (lambda x: x + comm.allreduce(1), lambda x: x + MPI.COMM_SELF.allreduce(1)):
        result, reason = noted(program, X)
        assert result.tolist() == [[2, 2]]
        assert "of the type mpi4py.MPI.Intracomm, whose state the compiler does not see" in reason
    with pytest.raises(RuntimeError, match="a function or type that may read"):
        torch.compile(lambda x: x + MPI.Info().Get_nkeys(), fullgraph=True)(X)
