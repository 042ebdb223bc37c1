"""A world of one process: programs for several processes run in it, and it says what it cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import retrograd as torch
from retrograd import distributed
from retrograd.nn.parallel import DistributedDataParallel
from retrograd.utils.data import DistributedSampler


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    distributed.init_process_group("gloo")
    yield distributed
    distributed.destroy_process_group()


def test_the_environment_says_the_place(world: Any) -> None:
    assert (world.get_rank(), world.get_world_size(), world.get_backend()) == (0, 1, "gloo")
    assert [*DistributedSampler(range(3), shuffle=False)] == [0, 1, 2]


def test_the_process_is_in_its_groups(world: Any) -> None:
    groups = (None, distributed.new_group([0]), distributed.GroupMember.NON_GROUP_MEMBER)
    assert [distributed._rank_not_in_group(group) for group in groups] == [False, False, True]


def test_more_than_one_process_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    message = "started as one process, but world_size is 4. Start all processes together: retrograd launch --nproc 4"
    with pytest.raises(RuntimeError, match=message):
        distributed.init_process_group("gloo", "file:///tmp/meeting", rank=0, world_size=4)
    with pytest.raises(RuntimeError, match="rank < size"):
        distributed.init_process_group("gloo", "tcp://127.0.0.1:29500", rank=1, world_size=1)
    assert not distributed.is_initialized()


@pytest.mark.parametrize("name", ["send", "recv", "isend", "irecv"])
def test_there_is_nobody_to_talk_to(world: Any, name: str) -> None:
    with pytest.raises(RuntimeError, match="There is no process 1"):
        getattr(world, name)(torch.ones(1), 1)
    with pytest.raises(ValueError, match="should not be the same as the rank of the current process"):
        getattr(world, name)(torch.ones(1), 0)


def test_outputs_are_written_and_not_recorded(world: Any) -> None:
    x, into = torch.ones(2, requires_grad=True), [torch.zeros(2)]
    world.all_gather(into, x * 2)
    assert into[0].tolist() == [2, 2]
    assert not into[0].requires_grad


def test_a_training_step(world: Any) -> None:
    torch.manual_seed(0)
    alone = torch.nn.Linear(3, 2)
    model = DistributedDataParallel(alone)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    with model.no_sync():
        assert not model.require_backward_grad_sync
    before = alone.weight.detach().clone()
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
    assert torch.allclose(alone.weight, before - 0.4)
    with model.join():
        model.register_comm_hook(None, lambda state, bucket: bucket)
    assert [*model.state_dict()] == ["module.weight", "module.bias"]


def test_gradients_travel_while_the_pass_goes_on(world: Any) -> None:
    torch.manual_seed(0)
    alone = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(3)])
    model = DistributedDataParallel(alone, bucket_cap_mb=0.00001)
    missing: list[int] = []

    def hook(state: Any, bucket: Any) -> Any:
        assert state == "state"
        assert [p.shape for p in bucket.parameters()] == [g.shape for g in bucket.gradients()]
        missing.append(sum(p.grad is None for p in alone.parameters()))
        assert bucket.is_last() == (bucket.index() == 5)
        return world.all_reduce(bucket.buffer() * 2, async_op=True).get_future().then(lambda done: done.value()[0])

    model.register_comm_hook("state", hook)
    for _ in range(2):
        model.zero_grad()
        model(torch.ones(2, 4)).sum().backward()
        # Each bucket leaves as soon as it is full: while all gradients before it are still missing.
        assert missing == [5, 4, 3, 2, 1, 0]
        missing.clear()
    doubled = [p.grad.clone() for p in alone.parameters()]
    alone.zero_grad()
    with model.no_sync():
        model(torch.ones(2, 4)).sum().backward()
    assert all(two.equal(one.grad * 2) for one, two in zip(alone.parameters(), doubled))
    assert missing == []


def test_a_parameter_used_twice_needs_a_static_graph(world: Any) -> None:
    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x: Any) -> Any:
            call = torch.utils.checkpoint.checkpoint
            return call(self.layer, call(self.layer, x, use_reentrant=True), use_reentrant=True)

    x = torch.ones(2, 3, requires_grad=True)
    for static in (True, False):
        alone = Twice()
        model = DistributedDataParallel(alone, static_graph=static)
        model.register_comm_hook(None, lambda state, bucket: world.all_reduce(
            bucket.buffer() * 3, async_op=True).get_future().then(lambda done: done.value()[0]))
        if not static:
            with pytest.raises(RuntimeError, match="^Expected to mark a variable ready only once"):
                model(x).sum().backward()
            break
        for _ in range(2):
            model.zero_grad()
            model(x).sum().backward()
            found = alone.layer.weight.grad.clone()
            model.zero_grad()
            alone.layer(alone.layer(x)).sum().backward()
            assert torch.allclose(found, alone.layer.weight.grad * 3)


def test_sparse_gradients_are_refused(world: Any) -> None:
    model = DistributedDataParallel(torch.nn.Embedding(3, 2, sparse=True))
    model.register_comm_hook(None, lambda state, bucket: bucket)
    with pytest.raises(NotImplementedError, match="^Collectives take dense tensors on the CPU, and"):
        model(torch.tensor([1])).sum().backward()


def test_modules_without_gpus() -> None:
    module = torch.nn.Linear(3, 2)
    for made in (torch.nn.DataParallel(module), torch.nn.DataParallel(module, [0, 1])):
        assert made(torch.ones(1, 3)).equal(module(torch.ones(1, 3)))
        with pytest.raises(AssertionError, match="Broadcast function not implemented for CPU tensors"):
            made.replicate(module, [0])
        with pytest.raises(AssertionError, match="Gather function not implemented for CPU tensors"):
            made.gather([], 0)
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            made.parallel_apply([module], [()], None)
        assert made.scatter((1, {"a": [2]}), {"b": 3}, ["cpu"]) == (((1, {"a": [2]}),), ({"b": 3},))
    state = torch.nn.DataParallel(module).state_dict()
    torch.nn.modules.utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert [*state] == ["weight", "bias"]


def test_gradients_flow_through_operations_of_all_processes(world: Any) -> None:
    x = torch.tensor([1., 2.], requires_grad=True)
    nn = world.nn
    warned = {"_AllReduce": lambda: nn.all_reduce(x), "_Broadcast": lambda: nn.broadcast(x, 0),
              "_AllGather": lambda: nn.all_gather(x)[0],
              "_Reduce_Scatter": lambda: nn.reduce_scatter(torch.zeros(2), [x]),
              "_AlltoAllSingle": lambda: nn.all_to_all_single(torch.zeros(2), x)}
    silent = {"_Reduce": lambda: nn.reduce(x, 0), "_Gather": lambda: nn.gather(x)[0],
              "_Scatter": lambda: nn.scatter([x]), "_AlltoAll": lambda: nn.all_to_all([torch.zeros(2)], [x])[0]}
    for name, operation in (warned | silent).items():
        if name in warned:
            with pytest.warns(FutureWarning, match=r"^torch.distributed.nn.functional.\w+ is deprecated, use"):
                result = operation()
        else:
            result = operation()
        assert result.grad_fn.name() == f"{name}Backward"
        assert result.tolist() == [1, 2]
        assert result.data_ptr() != x.data_ptr()
        assert torch.autograd.grad(result, x, torch.tensor([3., 4.]))[0].tolist() == [3, 4]


@pytest.mark.filterwarnings("ignore:torch.distributed.nn")
def test_operations_with_gradients_need_the_group_and_its_members(world: Any) -> None:
    with pytest.raises(RuntimeError, match="^ProcessGroupGloo::broadcast: invalid root rank: 1"):
        world.nn.broadcast(torch.ones(1), 1)
    world.destroy_process_group()
    with pytest.raises(ValueError, match="^Default process group has not been initialized"):
        world.nn.all_reduce(torch.ones(1))
    world.init_process_group("gloo")
