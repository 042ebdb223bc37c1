"""Tensors over several processes: what they are in one process, and what several compute."""

from __future__ import annotations

import gc
import io
import pickle
import re
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from needing import needs
from programs.launched import launched
from retrograd import distributed
from retrograd.distributed import fsdp
from retrograd.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_state_dict,
    set_state_dict,
)
from retrograd.distributed.device_mesh import DeviceMesh, init_device_mesh
from retrograd.distributed.tensor import (
    DTensor,
    Partial,
    Replicate,
    Shard,
    distribute_module,
    distribute_tensor,
    parallel,
    zeros,
)
from retrograd.distributed.tensor.experimental import implicit_replication, local_map
from retrograd.distributed.tensor.moving import bounds
from retrograd.distributed.tensor.placement_types import _StridedShard


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    distributed.init_process_group("gloo", store={}, rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,), mesh_dim_names=("all",))
    distributed.destroy_process_group()


@pytest.mark.sampled(3)
@needs("mpi4py", "mpiexec")
@pytest.mark.parametrize("count", [3, 2, 4])
def test_parts_compute_what_wholes_compute(count: int) -> None:
    result = launched("wholes", count, 100)
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"wholes by \d", result.stdout)) == [f"wholes by {rank}" for rank in range(count)]


def test_chunks_are_those_of_torch_chunk() -> None:
    for n in range(12):
        for count in range(1, 6):
            ends = [bounds(n, count, place) for place in range(count)]
            sizes = [len(part) for part in torch.arange(n).chunk(count)] if n else []
            assert [end - begin for begin, end in ends] == sizes + [0] * (count - len(sizes))


def test_a_tensor_keeps_its_class(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(0)]).requires_grad_()
    y = (x * 2).sum()
    y.backward()
    for tensor in (x, y, x.grad, x.detach(), x.data, torch.zeros_like(x), x[0], x.t(), *x.unbind(0)):
        assert type(tensor) is DTensor
    assert type(x.to_local()) is type(x.full_tensor()) is torch.Tensor
    parameter = torch.nn.Parameter(x.detach())
    assert isinstance(parameter, DTensor)
    assert isinstance(parameter, torch.nn.Parameter)
    assert parameter.requires_grad
    assert torch.equal(x.full_tensor(), torch.ones(2, 3))


def test_other_tensors_must_be_distributed(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(0)])
    with pytest.raises(RuntimeError, match="got mixed torch.Tensor and DTensor, need to convert all torch.Tensor to"):
        x + torch.ones(2, 3)
    with implicit_replication():
        assert (x + torch.ones(2, 3)).full_tensor().sum() == 12
    assert (x + torch.tensor(1.0)).full_tensor().sum() == 12
    with pytest.raises(RuntimeError, match="is not supported for tensor subclasses"):
        x.numpy()
    with pytest.raises(NotImplementedError, match="this tensor is torch.strided on cpu"):
        distributed.all_reduce(x)


def test_equal_tensors(mesh: DeviceMesh) -> None:
    x, y = [distribute_tensor(torch.ones(2, 3), mesh, [place]) for place in (Shard(0), Replicate())]
    assert torch.equal(x, y)
    assert x.equal(x)
    assert not torch.equal(x, y * 2)
    assert not torch.equal(x, x[:1])


def test_answers_about_the_whole(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.arange(6.0).view(2, 3), mesh, [Shard(0)])
    assert torch.allclose(x, x)
    assert not torch.allclose(x, x + 1)
    assert 5 in x
    assert 9 not in x
    assert x.nbytes == 24


def test_placements_that_do_not_fit(mesh: DeviceMesh) -> None:
    square = init_device_mesh("cpu", (1, 1))
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(0)])
    for places, kind, text in (([Shard(2)], IndexError, r"range of \[-2, 1\], but got 2"),
                               ([Shard(-3)], IndexError, "Dimension out of range"),
                               ([0], RuntimeError, "unsupported placements 0 on device mesh dimension 0"),
                               ([Shard(0)] * 2, ValueError, "must have the same length as `device_mesh.ndim`")):
        for call in (partial(distribute_tensor, torch.ones(2, 3)), x.redistribute):
            with pytest.raises(kind, match=text):
                call(mesh, places)
    with pytest.raises(IndexError, match="Dimension out of range"):
        distribute_tensor(torch.tensor(1.0), mesh, [Shard(0)])
    with pytest.raises(AssertionError, match="mesh dimension does not match the length of placements"):
        zeros(2, device_mesh=mesh, placements=[Shard(0)] * 2)
    with pytest.raises(NotImplementedError, match="Cross device mesh comm not supported yet!"):
        x.redistribute(square, [Replicate()] * 2)
    with pytest.raises(ValueError, match=r"Replicate to Partial\(product\) conversion is not supported"):
        distribute_tensor(torch.ones(2), mesh, [Partial("product")])


def test_parts_that_do_not_fit(mesh: DeviceMesh) -> None:
    part: Any = torch.ones(2, 3)
    for given, places, kind, text in (
            (part, [Shard(2)], RuntimeError, "^Sharding dim 2 greater than tensor ndim 2 for placement number 0$"),
            (part, [Shard(-3)], RuntimeError, r"negative dims normalized in the user-facing APIs: S\(-1\)$"),
            (part, [0], RuntimeError, "unsupported placements 0 on device mesh dimension 0"),
            (part, [Shard(0)] * 2, ValueError, "must have the same length as `device_mesh.ndim`"),
            ([1.0], [Shard(0)], AttributeError, "^'list' object has no attribute 'device'"),
            (DTensor.from_local(part, mesh), [Shard(0)], RuntimeError, "only accepts torch.Tensor but got .*DTensor")):
        with pytest.raises(kind, match=text):
            DTensor.from_local(given, mesh, places)
    lain = DTensor.from_local(torch.ones(2, 3).t(), mesh, [Shard(0)], run_check=True)
    assert lain.stride() == (1, 3)


def test_outputs_of_another_shape(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.arange(4.0), mesh, [Shard(0)])
    for shape in ((3,), (0,), (2, 3)):
        into = zeros(*shape, device_mesh=mesh, placements=[Shard(0)])
        resized = pytest.warns(UserWarning, match="An output with one or more elements was resized")
        with resized if into.numel() else nullcontext():
            assert torch.add(x, x, out=into) is into
        assert (into.full_tensor().tolist(), into.placements) == ([0, 2, 4, 6], (Shard(0),))
    assert x.clone().resize_(2, 3).full_tensor().tolist() == [[0, 1, 2], [3, 0, 0]]
    assert x.clone().resize_as_(x[:2]).full_tensor().tolist() == [0, 1]
    with pytest.raises(NotImplementedError, match=r"^Operator aten\.set_\.default does not have a sharding strategy"):
        x.clone().set_()


def test_styles_show_their_options(mesh: DeviceMesh) -> None:
    assert repr(parallel.ColwiseParallel()) == (
        "ColwiseParallel(input_layouts=(Replicate(),), output_layouts=(Shard(dim=-1),), use_local_output=True)")
    assert repr(parallel.SequenceParallel()) == "SequenceParallel(sequence_dim=1, use_local_output=False)"
    both = parallel.PrepareModuleInputOutput(
        input_layouts=Shard(0), desired_input_layouts=Replicate(), output_layouts=None, desired_output_layouts=None)
    assert "use_local_input=False, output_layouts=None" in repr(both)
    with pytest.warns(UserWarning, match="'a.c' could not be resolved: no submodule matching token 'a' in module Lin"):
        parallel.parallelize_module(torch.nn.Linear(2, 2), mesh, {"a.c": parallel.ColwiseParallel()})


def test_a_move_in_another_dtype(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(3), mesh, [Shard(0)]).requires_grad_()
    y = x.redistribute(mesh, [Replicate()], forward_dtype=torch.float64, backward_dtype=torch.float16)
    assert (y.dtype, y.grad_fn.name()) == (torch.float64, "RedistributeBackward")
    (y * 1.0001).sum().backward()
    assert (x.grad.dtype, x.grad.placements) == (torch.float32, (Shard(0),))
    assert x.grad.full_tensor().tolist() == [1.0] * 3


def test_gradients_of_dims_from_the_end(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.ones(2, 3), mesh, [Shard(1)]).requires_grad_()
    (x.to_local(grad_placements=[Shard(-1)]) * 2).sum().backward()
    assert x.grad.placements == (Shard(1),)


def test_writes_over_sums_of_parts(mesh: DeviceMesh) -> None:
    for reduction, write in (("max", lambda x: x.mul_(-1)), ("min", lambda x: x.add_(x)), ("sum", lambda x: x.add_(1)),
                             ("product", lambda x: x.mul_(2)), ("sum", lambda x: x[0].fill_(1))):
        with pytest.raises(RuntimeError, match="in-place operations that require placement changes"):
            write(DTensor.from_local(torch.ones(2, 2), mesh, [Partial(reduction)]))
    whole = DTensor.from_local(torch.ones(2, dtype=torch.int64), mesh, [Partial()])
    with pytest.raises(RuntimeError, match="in-place operations that require placement changes"):
        whole.copy_(distribute_tensor(torch.ones(2), mesh, [Replicate()]))
    for reduction in ("sum", "avg", "max", "min"):
        x = DTensor.from_local(torch.ones(2, 2), mesh, [Partial(reduction)])
        assert x.detach().placements == x.t().placements == x[0].placements == (Partial(reduction),)
    assert x.long().placements == (Replicate(),)


def through_a_file(value: Any) -> Any:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file)


def test_pickles_and_files(mesh: DeviceMesh) -> None:
    x = torch.nn.Parameter(distribute_tensor(torch.arange(6.0).view(3, 2).t(), mesh, [Shard(0)]))
    for found in (pickle.loads(pickle.dumps(x)), through_a_file({"x": x})["x"]):
        assert isinstance(found, DTensor)
        assert isinstance(found, torch.nn.Parameter)
        assert (found.placements, found.stride(), found.requires_grad) == (x.placements, x.stride(), True)
        assert found.device_mesh == mesh
        assert torch.equal(found.full_tensor(), x.full_tensor())
    again = pickle.loads(pickle.dumps(mesh))
    assert again.get_group() is mesh.get_group()
    assert pickle.loads(pickle.dumps(Partial("max"))) == Partial("max")


def test_a_mesh_without_groups() -> None:
    distributed.init_process_group("gloo", store={}, rank=0, world_size=1)
    pickled = pickle.dumps(init_device_mesh("cpu", (1,)))
    distributed.destroy_process_group()
    gc.collect()
    distributed.init_process_group("gloo", store={}, rank=0, world_size=1)
    with pytest.raises(RuntimeError, match="DeviceMesh process groups not initialized"):
        pickle.loads(pickled).get_group()
    distributed.destroy_process_group()


def test_states(mesh: DeviceMesh, tmp_path: Path) -> None:
    full = StateDictOptions(full_state_dict=True)
    model, other = [fsdp.fully_shard(torch.nn.Linear(2, 2), mesh=mesh) for _ in range(2)]
    steps, others = [torch.optim.Adam(each.parameters()) for each in (model, other)]
    model(torch.ones(1, 2)).sum().backward()
    steps.step()
    state, own = get_state_dict(model, steps, options=full)
    assert type(state["weight"]) is type(own["state"]["bias"]["exp_avg"]) is torch.Tensor
    set_state_dict(other, others, model_state_dict=state, optim_state_dict=own, options=full)
    assert torch.equal(other.weight.full_tensor(), model.weight.full_tensor())
    assert torch.equal(others.state[other.bias]["exp_avg"].full_tensor(), own["state"]["bias"]["exp_avg"])
    with pytest.raises(ValueError, match="full_state_dict must be True when broadcast_from_rank0 is True"):
        get_model_state_dict(model, options=StateDictOptions(broadcast_from_rank0=True))
    with pytest.raises(NotImplementedError, match="submodules"):
        get_model_state_dict(model, submodules={model})
    distributed.checkpoint.save(model.state_dict(), checkpoint_id=tmp_path / "saved")
    found = {"weight": torch.zeros(2, 2)}
    distributed.checkpoint.load(found, checkpoint_id=tmp_path / "saved")
    assert torch.equal(found["weight"], state["weight"])


def test_functions_of_parts(mesh: DeviceMesh) -> None:
    x = distribute_tensor(torch.arange(6.0).view(2, 3), mesh, [Shard(0)]).requires_grad_()
    doubled = local_map(lambda part: part * 2, out_placements=[Shard(0)], in_placements=([Shard(0)],))
    y = doubled(x)
    assert y.placements == (Shard(0),)
    y.sum().backward()
    assert x.grad.full_tensor().tolist() == [[2.0] * 3] * 2
    with pytest.raises(ValueError, match="in local_map has a mismatched placements"):
        local_map(lambda part: part, [Shard(0)], ([Replicate()],))(x)


def test_results_and_arguments_that_do_not_fit(mesh: DeviceMesh) -> None:
    x, cut = distribute_tensor(torch.ones(2, 2), mesh, [Shard(0)]), [Shard(0)]
    two = local_map(lambda parts: [part + 1 for part in parts], (cut, [Replicate()]), (cut, cut))([x, x])
    assert [part.placements for part in two] == [(Shard(0),), (Replicate(),)]
    for call, out, given, text in (
            (lambda part: (part, part), (cut,), (cut,), "be provided for each output value, received 1"),
            (lambda part: part, cut, (cut, cut), "in_placements length 2 does not match the number of input args 1"),
            (lambda part: part, cut, (None,), "expects placements but received None"),
            (lambda part: 3, cut, (cut,), "Non-tensor output 3 expects None placements"),
            (lambda part: x, cut, (cut,), "torch.Tensor output expected but received")):
        with pytest.raises(AssertionError, match=text):
            local_map(call, out, given)(x)
    plain = torch.ones(2)
    assert local_map(lambda part: part, cut, device_mesh=mesh)(plain) is plain


def test_modules_that_are_not_sharded(mesh: DeviceMesh) -> None:
    scalar = torch.nn.Linear(2, 2)
    scalar.bias = torch.nn.Parameter(torch.tensor(1.0))
    turned = torch.nn.Linear(2, 3)
    turned.weight = torch.nn.Parameter(torch.ones(2, 3).t())
    sharded = fsdp.fully_shard(torch.nn.Linear(2, 2), mesh=mesh)
    for module, options, kind, text in (
            (scalar, {}, ValueError, "scalar parameters. Change bias to a 1D tensor"),
            (turned, {}, NotImplementedError, "non-contiguous parameters"),
            (sharded, {}, AssertionError, "fully_shard has already been applied to the following module"),
            (torch.nn.ReLU(), {"mesh": init_device_mesh("cpu", (1, 1, 1))}, ValueError, "1D or 2D DeviceMesh"),
            (torch.nn.Linear(2, 2), {"shard_placement_fn": lambda _: Replicate()}, ValueError, "Invalid shard"),
            (torch.nn.Linear(2, 2), {"shard_placement_fn": lambda _: Shard(3)}, AssertionError, "Shard dim 3 is inv")):
        with pytest.raises(kind, match=text):
            fsdp.fully_shard(module, **{"mesh": mesh, **options})


def test_a_mesh_in_one_process(mesh: DeviceMesh) -> None:
    assert repr(mesh) == "DeviceMesh((all=1), 'cpu', stride=((),))"
    assert mesh["all"] is mesh
    assert (mesh.size(), mesh.get_local_rank(), mesh.get_coordinate()) == (1, 0, (0,))
    with mesh:
        assert zeros(2, 2).placements == (Replicate(),)
    with pytest.raises(RuntimeError, match="No device mesh is currently active"):
        zeros(2, 2)
    with pytest.raises(KeyError, match="Valid mesh_dim_names are"):
        mesh["other"]
    with pytest.raises(KeyError, match="Mesh dimension 'other' does not exist"):
        mesh.get_group("other")
    square = init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b"))
    with pytest.raises(RuntimeError, match=r"Slicing overlapping dim_names \('a', 'a'\) is not allowed"):
        square["a", "a"]
    with pytest.raises(ValueError, match="a already exists for submesh"):
        square._flatten("a")
    with pytest.raises(RuntimeError, match="Cannot flatten a DeviceMesh without mesh_dim_names"):
        init_device_mesh("cpu", (1, 1))._flatten()
    with pytest.raises(ValueError, match=r"Invalid mesh \[1\] for ProcessGroup with ranks \[0\]"):
        DeviceMesh.from_group(mesh.get_group(), "cpu", [1])
    with pytest.raises(ValueError, match="Mixed Partial reduce types are not supported"):
        distribute_tensor(torch.ones(2), init_device_mesh("cpu", (1, 1)), [Partial("sum"), Partial("max")])


def test_a_split_layer_is_sharded_too() -> None:
    distributed.init_process_group("gloo", store={}, rank=0, world_size=1)
    both = init_device_mesh("cpu", (1, 1), mesh_dim_names=("data", "model"))
    layer, other = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
    other.load_state_dict(layer.state_dict())
    fsdp.fully_shard(parallel.parallelize_module(layer, both["model"], parallel.ColwiseParallel()), mesh=both["data"])
    assert [parameter.device_mesh for parameter in layer.parameters()] == [both] * 2
    assert layer.weight.placements == (Shard(0), Shard(0))
    for model in (layer, other):
        (model(torch.ones(1, 2)) ** 2).sum().backward()
    for mine, plain in zip(layer.parameters(), other.parameters()):
        assert mine.grad.placements == mine.placements
        assert torch.equal(mine.grad.full_tensor(), plain.grad)
    row = init_device_mesh("cpu", (1,), mesh_dim_names=("all",))
    for split, sentence in ((row, "^Cannot concatenate overlapping meshes"), (both["model"], "overlapping meshes")):
        with pytest.raises(RuntimeError, match=sentence):
            fsdp.fully_shard(distribute_module(torch.nn.Linear(2, 2), split), mesh=row)
    with pytest.raises(TypeError, match="^Invariant encountered: value was None when it should not be$"):
        DeviceMesh._concatenate([init_device_mesh("cpu", (1,))])
    distributed.destroy_process_group()


def test_a_cut_of_parts() -> None:
    cut = _StridedShard(0, split_factor=2)
    assert (repr(cut), str(cut)) == ("_StridedShard(dim=0, sf=2)", "_S(0, 2)")
    assert not cut.is_shard()
    assert cut != Shard(0)
    assert through_a_file(cut) == pickle.loads(pickle.dumps(cut)) == cut


def test_names_that_are_not_built_say_so(mesh: DeviceMesh) -> None:
    for call in (fsdp.FullyShardedDataParallel, lambda: fsdp.fully_shard(  # type: ignore[attr-defined]
            torch.nn.Linear(2, 2), mp_policy=fsdp.MixedPrecisionPolicy(reduce_dtype=torch.float32)),
            lambda: parallel.ColwiseParallel()._apply(torch.nn.Tanh(), mesh)):
        with pytest.raises(NotImplementedError):
            call()


def test_mixed_precision_of_a_sharded_module(mesh: DeviceMesh) -> None:
    policy = fsdp.MixedPrecisionPolicy(param_dtype=torch.float64, output_dtype=torch.float32)
    model: Any = fsdp.fully_shard(torch.nn.Linear(2, 2), mesh=mesh, mp_policy=policy)
    seen = []
    model.register_forward_hook(lambda module, given, result: seen.append((given[0].dtype, result.dtype)))
    model(torch.ones(1, 2)).sum().backward()
    assert seen == [(torch.float32, torch.float32)]
    assert model.weight.grad.dtype == model.weight.dtype == torch.float32
    assert model.weight.grad.full_tensor().tolist() == [[1.0, 1.0]] * 2
    model.unshard()
    assert type(model.weight) is torch.Tensor
    model.reshard()
    assert type(model.weight) is not torch.Tensor
