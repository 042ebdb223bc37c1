"""Tensors on the device meta: what programs see of them, without PyTorch."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest

import retrograd as torch


def _meta(*sizes: int, **options: Any) -> Any:
    return torch.empty(*sizes, device="meta", **options)


@pytest.mark.parametrize(("tensor", "text"), [
    (lambda: _meta(2, 3), "tensor(..., device='meta', size=(2, 3))"),
    (lambda: torch.empty((), device="meta"), "tensor(..., device='meta', size=())"),
    (lambda: _meta(2, dtype=torch.int64), "tensor(..., device='meta', size=(2,), dtype=torch.int64)"),
    (lambda: _meta(2, requires_grad=True) * 2, "tensor(..., device='meta', size=(2,), grad_fn=<MulBackward0>)"),
    (lambda: torch.nn.Parameter(_meta(2)),
     "Parameter containing:\ntensor(..., device='meta', size=(2,), requires_grad=True)")])
def test_text(tensor: Any, text: str) -> None:
    assert repr(tensor()) == text


@pytest.mark.parametrize(("call", "kind", "message"), [
    (lambda m: m.tolist(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda m: m.cpu(), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda m: m.to("cpu"), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda m: torch.ones(2, 3).copy_(m), NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (lambda m: m.sum().item(), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    (lambda m: bool(m.sum()), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    (lambda m: float(m.sum()), RuntimeError, r"Tensor.item\(\) cannot be called on meta tensors"),
    (lambda m: m.item(), RuntimeError, "a Tensor with 6 elements cannot be converted to Scalar"),
    (lambda m: m.numpy(), TypeError, "can't convert meta device type tensor to numpy"),
    (lambda m: m + torch.ones(2, 3), RuntimeError, "Tensor on device cpu is not on the expected device meta!"),
    (lambda m: torch.ones(2, 3) + m, RuntimeError, "Tensor on device meta is not on the expected device cpu!"),
    (lambda m: torch.cat([m, torch.ones(2, 3)]), RuntimeError, "Tensor on device cpu is not on the expected"),
    (lambda m: m[m > 0], NotImplementedError, r"The register_meta function for torch.nonzero\(\) raises unimplemented"),
    (lambda m: m.unique(), NotImplementedError, "aten::_unique2: attempted to run this operator with Meta tensors"),
    (lambda m: setattr(torch.nn.Parameter(torch.ones(2)), "grad", m), RuntimeError,
     "attempting to assign a gradient with device type 'meta' to a tensor with device type 'cpu'"),
    (lambda m: setattr(torch.ones(2), "data", m), RuntimeError, r"Attempted to call `variable.set_data\(tensor\)`"),
    (lambda m: m + _meta(5), RuntimeError, r"The size of tensor a \(3\) must match the size of tensor b \(5\)"),
    (lambda m: m.add_(_meta(4, 2, 3)), RuntimeError, "output with shape .2, 3. doesn't match the broadcast shape"),
    (lambda m: torch.nn.Linear(2, 3, device="meta").to("cpu"), NotImplementedError,
     "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty")])
def test_what_needs_numbers_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call(_meta(2, 3))


def test_facts() -> None:
    m = _meta(2, 3)
    assert m.is_meta
    assert m.device == torch.device("meta")
    assert not m.is_cpu
    assert not torch.ones(1).is_meta
    assert (m.data_ptr(), m.untyped_storage().nbytes(), m.get_device()) == (0, 24, -1)
    assert m.type() == "torch.meta.FloatTensor"
    assert (m + torch.tensor(1.0) + 2).is_meta
    assert m.mm(torch.ones(3, 2)).shape == (2, 2)
    assert m[1].storage_offset() == 3
    assert m[1]._base is m
    assert m.T.stride() == (1, 3)
    assert m.to("meta") is m
    assert torch.ones(3).to("meta").is_meta
    assert torch.ones(3, 1).T.to(m).is_meta
    assert torch.zeros_like(m, device="cpu").tolist() == [[0.0] * 3] * 2
    assert copy.deepcopy(m).shape == pickle.loads(pickle.dumps(m)).shape == (2, 3)


def test_large_tensors_take_no_memory() -> None:
    x = torch.rand(1 << 20, 1 << 20, device="meta")
    assert (x @ x + 1).T.shape == (1 << 20, 1 << 20)


def test_no_random_numbers_are_drawn() -> None:
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    torch.rand(3, device="meta").normal_().bernoulli_()
    torch.nn.functional.dropout(_meta(3))
    torch.randperm(5, device="meta")
    assert torch.equal(torch.rand(1), expected)


def test_a_model_is_made_and_trained_without_memory() -> None:
    nn = torch.nn
    with torch.device("meta"):
        assert torch.get_default_device() == torch.device("meta")
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
    assert torch.get_default_device() == torch.device("cpu")
    assert torch.ones(1).device == torch.device("cpu")
    out = model(_meta(2, 3, 8, 8))
    nn.functional.cross_entropy(out, torch.zeros(2, dtype=torch.int64, device="meta")).backward()
    optimizer = torch.optim.Adam(model.parameters())
    optimizer.step()
    assert all(p.is_meta and p.grad.is_meta and p.grad.shape == p.shape for p in model.parameters())
    assert optimizer.state[model[4].weight]["exp_avg"].is_meta
    assert type(out.grad_fn).__name__ == "AddmmBackward0"
    model.to_empty(device="cpu")
    assert model(torch.ones(2, 3, 8, 8)).shape == (2, 10)


def test_default_device() -> None:
    torch.set_default_device("meta")
    try:
        assert torch.ones(2).is_meta
        assert not torch.ones(2, device="cpu").is_meta
        with torch.device("cpu"):
            assert not torch.ones(2).is_meta
    finally:
        torch.set_default_device(None)
    assert not torch.ones(2).is_meta


def test_states_are_assigned_to_a_module_without_memory() -> None:
    source, model = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match="copying from a non-meta parameter in the checkpoint to a meta parameter"):
        model.load_state_dict(source.state_dict())
    assert model.weight.is_meta
    model.load_state_dict(source.state_dict(), assign=True)
    assert torch.equal(model.weight, source.weight)
    assert isinstance(model.weight, torch.nn.Parameter)
    assert torch.nn.Linear(2, 3).to("meta").weight.is_meta
    assert torch.nn.utils.skip_init(torch.nn.Linear, 2, 3, device="meta").weight.is_meta


def test_files() -> None:
    file = io.BytesIO()
    torch.save({"a": torch.ones(2, 3), "m": _meta(3)}, file)
    file.seek(0)
    found = torch.load(file)
    assert found["a"].tolist() == [[1.0] * 3] * 2
    assert found["m"].is_meta
    file.seek(0)
    found = torch.load(file, map_location="meta")
    assert found["a"].is_meta
    assert found["a"].shape == (2, 3)
