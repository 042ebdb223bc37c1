"""torch.func: modules as functions of their state. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.func import functional_call, replace_all_batch_norm_modules_, stack_module_state

WEIGHT, BIAS = {"weight": torch.ones(1, 2)}, {"bias": torch.zeros(1)}


@pytest.mark.parametrize("given", [WEIGHT | BIAS, (WEIGHT, BIAS), [BIAS, WEIGHT]])
def test_a_module_is_called_with_other_tensors(given: Any) -> None:
    layer = nn.Linear(2, 1)
    before = layer.weight
    assert functional_call(layer, given, torch.ones(1, 2)).tolist() == [[2]]
    assert functional_call(layer, given, (torch.ones(1, 2),)).tolist() == [[2]]
    assert functional_call(layer, given, kwargs={"input": torch.ones(1, 2)}).tolist() == [[2]]
    assert layer.weight is before


def test_gradients_reach_the_given_tensors() -> None:
    weight = torch.ones(1, 2, requires_grad=True)
    functional_call(nn.Linear(2, 1), {"weight": weight}, torch.tensor([[3., 4.]])).backward()
    assert weight.grad.tolist() == [[3, 4]]


def test_a_call_gives_back_the_buffers_that_it_sets() -> None:
    norm = nn.BatchNorm1d(1, momentum=1.0)
    buffers = dict(norm.named_buffers())
    functional_call(norm, buffers, torch.tensor([[1.], [3.]]))
    assert buffers["num_batches_tracked"].item() == 1
    assert buffers["running_mean"].tolist() == [2]


@pytest.mark.parametrize(("given", "error"), [
    ((WEIGHT, WEIGHT), r"\['weight'\] appeared in multiple dictionaries; behavior of functional call is ambiguous"),
    (3, "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got <class 'int'>"),
    ((WEIGHT, 3), "Expected all elements of parameter_and_buffer_dicts to be dictionaries"),
])
def test_other_dictionaries_are_refused(given: Any, error: str) -> None:
    with pytest.raises(ValueError, match=f"^{error}$"):
        functional_call(nn.Linear(2, 1), given, torch.ones(1, 2))


def test_strict_names() -> None:
    assert functional_call(nn.Linear(2, 1), {"other": torch.ones(1)}, torch.ones(1, 2)).shape == (1, 1)
    error = r"^Error\(s\) in reparametrizing for Linear:\n\tUnexpected key\(s\): 'w'.\n\tMissing key\(s\): 'bias', 'w"
    with pytest.raises(RuntimeError, match=error):
        functional_call(nn.Linear(2, 1), {"w": torch.ones(1)}, torch.ones(1, 2), strict=True)


def test_the_state_of_modules_is_stacked() -> None:
    layers = [nn.BatchNorm1d(2) for _ in range(3)]
    parameters, buffers = stack_module_state(layers)
    assert {name: (type(value), value.shape) for name, value in parameters.items()} == {
        "weight": (torch.Tensor, (3, 2)), "bias": (torch.Tensor, (3, 2))}
    assert all(value.requires_grad and value.is_leaf for value in parameters.values())
    assert buffers["num_batches_tracked"].tolist() == [0, 0, 0]
    assert not buffers["running_mean"].requires_grad
    assert not stack_module_state([nn.Linear(1, 1).requires_grad_(False)])[0]["weight"].requires_grad


@pytest.mark.parametrize(("models", "error"), [
    ([], "stack_module_state: Expected at least one model, got 0."),
    ([nn.Linear(1, 1), nn.ReLU()], "stack_module_state: Expected all models to be of the same class."),
    ([nn.Linear(1, 1), nn.Linear(1, 1).eval()], "stack_module_state: Expected all models to have the same "),
    ([nn.Linear(1, 1), nn.Linear(1, 1).requires_grad_(False)], "Expected weight from each model to have"),
    ([nn.Linear(1, 1), nn.Linear(1, 2)], r"stack expects each tensor to be equal size, but got \[1, 1\] at entry 0"),
])
def test_modules_that_do_not_fit_each_other(models: Any, error: str) -> None:
    with pytest.raises(RuntimeError, match=f"^{error}"):
        stack_module_state(models)


def test_batch_norms_lose_their_statistics() -> None:
    model = nn.Sequential(nn.Sequential(nn.BatchNorm2d(2)), nn.InstanceNorm1d(2, track_running_stats=True))
    assert replace_all_batch_norm_modules_(model) is model
    assert model[0][0].running_mean is model[0][0].running_var is model[0][0].num_batches_tracked is None
    assert not model[0][0].track_running_stats
    assert model[1].running_mean is not None


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_hessian_of_determinants_in_a_batch(dtype: torch.dtype) -> None:
    """One of the matrices is singular, so both formulas of the gradient are computed."""
    matrices = torch.tensor([[[2.0, 1.0], [0.5, 3.0]], [[1.0, 2.0], [2.0, 4.0]]], dtype=dtype)
    found = torch.vmap(torch.func.hessian(torch.linalg.det))(matrices)
    expected = torch.tensor([[[[0, 0], [0, 1]], [[0, 0], [-1, 0]]], [[[0, -1], [0, 0]], [[1, 0], [0, 0]]]], dtype=dtype)
    torch.testing.assert_close(found, expected.expand(2, 2, 2, 2, 2))
