"""The borders between DTensors and tensors of one process."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest

import retrograd as torch
from retrograd import distributed
from retrograd.distributed import fsdp
from retrograd.distributed.device_mesh import DeviceMesh, init_device_mesh
from retrograd.distributed.optim import ZeroRedundancyOptimizer
from retrograd.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    distributed.init_process_group("gloo", store={}, rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,), mesh_dim_names=("all",))
    distributed.destroy_process_group()


def test_a_part_with_a_history_refuses_writes(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2, 2), mesh, [Replicate()]).requires_grad_()
    y = x * 2
    for part in (y.to_local(), y.full_tensor()):
        assert part._is_view()
        with pytest.raises(RuntimeError, match="^Output 0 of _ToTorchTensor is a view and is being modified inplace"):
            part.mul_(3)
    with torch.no_grad():
        y.to_local().mul_(3)
    assert y.full_tensor().tolist() == [[6.0, 6.0]] * 2
    plain = distribute_tensor(torch.ones(2), mesh, [Shard(0)])
    plain.to_local().add_(1)
    assert plain.full_tensor().tolist() == [2.0, 2.0]


def test_views_see_writes_over_what_they_view(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.arange(6.0).view(2, 3), mesh, [Shard(0)])
    row, inner = x[1], x[1][1:]
    x.mul_(2)
    assert row.full_tensor().tolist() == row.to_local().tolist() == [6.0, 8.0, 10.0]
    row.add_(1)
    assert inner.full_tensor().tolist() == [9.0, 11.0]
    inner.zero_()
    assert x.full_tensor().tolist() == [[0.0, 2.0, 4.0], [7.0, 0.0, 0.0]]


def test_a_write_over_a_view_counts_as_one_over_what_it_views(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(0)]).requires_grad_()
    y = x * 2
    product, row = y * y, y[0]
    row.mul_(3)
    assert y._version == row._version == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_the_part_of_a_parameter(mesh: DeviceMesh) -> None:
    parameter = torch.nn.Parameter(distribute_tensor(torch.ones(2), mesh, [Shard(0)]))
    assert isinstance(parameter.to_local(), torch.nn.Parameter)
    assert not isinstance(parameter.full_tensor(), torch.nn.Parameter)
    (parameter.to_local() * 2).sum().backward()
    assert parameter.grad.full_tensor().tolist() == [2.0, 2.0]


def test_tensors_of_one_process(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2), mesh, [Shard(0)])
    with pytest.warns(UserWarning, match="^Found a non-scalar tensor with numel=1 and ndim!=0, we are implicitly crea"):
        assert (x + torch.ones(1)).full_tensor().tolist() == [2.0, 2.0]
    one = distribute_tensor(torch.ones(1), mesh).requires_grad_()
    assert torch.autograd.grad([one * 2], [one], [torch.ones(1)])[0].tolist() == [2.0]          # without a warning
    with pytest.raises(RuntimeError, match="got mixed torch.Tensor and DTensor"):
        x.copy_(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^\.numpy\(\) is not supported for tensor subclasses"):
        np.asarray(x)


def test_strides_and_summands_of_a_whole_tensor(mesh: DeviceMesh) -> None:
    assert distribute_tensor(torch.ones(2, 3).t(), mesh, [Shard(0)]).stride() == (1, 3)
    assert distribute_tensor(torch.arange(3), mesh, [Partial()]).dtype == torch.float32
    assert distribute_tensor(torch.arange(3), mesh, [Partial("max")]).dtype == torch.int64


def test_whole_results_lie_as_those_of_one_process(mesh: DeviceMesh) -> None:
    plain = torch.eye(3) * 2
    x = distribute_tensor(plain, mesh, [Replicate()])
    for call in (torch.linalg.inv, lambda x: torch.linalg.qr(x).Q, lambda x: x.nonzero(), lambda x: x.flip(0)):
        assert call(x).stride() == call(plain).stride()
        assert call(x).full_tensor().equal(call(plain))


def test_reductions_of_parts(mesh: DeviceMesh) -> None:
    for name in ("band", "bor", "bxor"):
        parts = DTensor.from_local(torch.arange(3), mesh, [Partial(name)])
        assert parts.full_tensor().tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="^Unrecognized reduce_op: median"):
        DTensor.from_local(torch.arange(3), mesh, [Partial("median")]).full_tensor()
    norm = distribute_tensor(torch.ones(4), mesh, [Shard(0)]).norm(3)
    assert str(norm.placements[0]) == "_NormP(3)"


def test_names_of_dims_that_are_flattened_or_unknown(mesh: DeviceMesh) -> None:
    both = init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b"))
    flat = both._flatten("c")
    with pytest.warns(UserWarning, match=r"^Slicing a flattened dim from root mesh will be deprecated in PT 2\.11"):
        assert both["c"] is flat
    with pytest.raises(KeyError) as raised:
        both.get_group("d")
    assert raised.value.args == (
        "Mesh dimension 'd' does not exist.", "Available mesh dimensions are: mesh_dim_names=('a', 'b')")
    assert both["a"]._get_root_mesh() is both


def test_groups_of_accelerators_alone_are_split(mesh: DeviceMesh) -> None:
    with pytest.raises(ValueError, match="^split_ranks cannot be None or empty$"):
        distributed.split_group()
    with pytest.raises(RuntimeError, match="^No device associated with the default pg, not safe to split any process"):
        distributed.split_group(split_ranks=[[0]])


def test_the_debug_level(monkeypatch: pytest.MonkeyPatch) -> None:
    before = distributed.get_debug_level()
    distributed.set_debug_level(distributed.DebugLevel.INFO)
    assert distributed.get_debug_level() is distributed.DebugLevel.INFO
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "detail")
    distributed.set_debug_level_from_env()
    assert int(distributed.get_debug_level()) == 2
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", "more")
    with pytest.raises(ValueError, match="^The value of TORCH_DISTRIBUTED_DEBUG must be OFF, INFO, or DETAIL"):
        distributed.set_debug_level_from_env()
    distributed.set_debug_level(before)
    assert distributed.get_default_backend_for_device("cuda:0") == "nccl"


def test_parameters_to_divide(mesh: DeviceMesh) -> None:
    one, other = torch.ones(2), torch.ones(2, dtype=torch.float64)
    for given, kind, text in (
            ([one, other], ValueError, "for all parameters but got both torch.FloatTensor and torch.DoubleTensor$"),
            ([{"params": [one]}, {"params": iter([other])}], ValueError, "but got both torch.FloatTensor and torch.Do"),
            ([torch.ones(2, 2).to_sparse()], ValueError, "for all parameters but got torch.sparse.FloatTensor$"),
            (one, TypeError, "^`params` argument should be an iterable of Tensors, but got torch.FloatTensor$"),
            (3, TypeError, "^`params` argument should be an iterable of Tensors or dicts, but got int$"),
            ([one, 3], TypeError, "^`params` argument should be an iterable of Tensors or dicts$"),
            ([{"lr": 1.0}], ValueError, "must have a 'params' key mapping to the parameters in the group$")):
        with pytest.raises(kind, match=text):
            ZeroRedundancyOptimizer(given, torch.optim.SGD, lr=0.1)
    divided = ZeroRedundancyOptimizer([{"params": iter([one])}], torch.optim.SGD, lr=0.1)
    assert divided.param_groups[0]["params"][0] is one


def test_parameters_of_a_sharded_module_keep_their_places(mesh: DeviceMesh) -> None:
    class Penalized(torch.nn.Linear):
        def forward(self, input: torch.Tensor) -> torch.Tensor:
            return super().forward(input).sum() + sum([p.pow(2).sum() for p in self.parameters()])

    model = Penalized(2, 2)
    expected = model(torch.ones(1, 2)).item()
    fsdp.fully_shard(model, mesh=mesh, ignored_params={model.bias})
    loss = model(torch.ones(1, 2))
    assert loss.item() == pytest.approx(expected)
    loss.backward()
    assert isinstance(model.weight.grad, DTensor)
    assert [*dict(model.named_parameters())] == ["weight", "bias"]
    model.unshard()
    assert [isinstance(p, torch.nn.Parameter) for p in model.parameters()] == [True, True]
    assert not any(isinstance(p, DTensor) for p in model.parameters())
    assert [isinstance(p, DTensor) for p in model.state_dict().values()] == [True, False]


def test_a_sharded_module_refuses_copies(mesh: DeviceMesh) -> None:
    model = fsdp.fully_shard(torch.nn.Linear(2, 2), mesh=mesh)
    with pytest.raises(AssertionError, match=r"^FSDP does not support deepcopy\. Please use state dict for serializat"):
        copy.deepcopy(model)
