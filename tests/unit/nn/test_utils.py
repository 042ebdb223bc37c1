"""Parametrized, pruned and normalized weights, lazy layers, and the state of modules. The numbers are PyTorch's."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn.utils import parametrizations, parametrize, prune


class Doubled(nn.Module):
    def forward(self, x: Any) -> Any:
        return 2 * x

    def right_inverse(self, x: Any) -> Any:
        return x / 2


def rounded(tensor: Any) -> Any:
    return [[round(value, 4) for value in row] for row in tensor.tolist()]


def test_a_parametrized_layer_has_a_class_of_its_own() -> None:
    layer: Any = nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Doubled())
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert [*layer.state_dict()] == ["bias", "parametrizations.weight.original"]
    assert torch.equal(layer.weight, before)
    layer.weight = torch.eye(2)
    assert layer.parametrizations.weight.original.tolist() == [[0.5, 0], [0, 0.5]]
    layer.weight.sum().backward()
    assert layer.parametrizations.weight.original.grad.tolist() == [[2, 2], [2, 2]]
    twin = copy.deepcopy(layer)
    assert type(twin) is type(layer)
    assert torch.equal(twin.weight, layer.weight)
    with pytest.raises(RuntimeError, match="Serialization of parametrized modules is only supported through"):
        pickle.dumps(layer)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert [*layer.state_dict()] == ["bias", "weight"]
    assert layer.weight.tolist() == [[1, 0], [0, 1]]


def test_the_norms_of_a_weight_are_trained_apart() -> None:
    torch.manual_seed(0)
    layer: Any = parametrizations.weight_norm(nn.Linear(3, 2))
    assert rounded(layer.parametrizations.weight.original0) == [[0.5672], [0.5039]]
    assert layer.weight.grad_fn.name() == "WeightNormInterfaceBackward0"
    old: Any = nn.Linear(3, 2)
    with pytest.warns(FutureWarning, match="is deprecated in favor of"):
        nn.utils.weight_norm(old)
    assert [*old.state_dict()] == ["bias", "weight_g", "weight_v"]
    layer.load_state_dict(old.state_dict())
    assert torch.equal(layer.weight, old.weight)


def test_spectral_norms_divide_by_the_largest_singular_value() -> None:
    torch.manual_seed(0)
    for normalize in (parametrizations.spectral_norm, nn.utils.spectral_norm):
        layer: Any = normalize(nn.Linear(3, 4), n_power_iterations=300)
        layer(torch.ones(3))
        assert torch.linalg.matrix_norm(layer.weight, 2).item() == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("name", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_orthogonal_maps_give_orthonormal_columns_or_rows(name: str, shape: tuple[int, int]) -> None:
    layer: Any = parametrizations.orthogonal(nn.Linear(shape[1], shape[0]), orthogonal_map=name)
    weight = layer.weight if shape[0] >= shape[1] else layer.weight.mT
    assert torch.allclose(weight.mT @ weight, torch.eye(min(shape)), atol=1e-5)


def test_pruning_draws_the_same_numbers() -> None:
    torch.manual_seed(0)
    layer: Any = nn.Linear(4, 3)
    prune.random_unstructured(layer, "weight", 0.3)
    assert layer.weight_mask.tolist() == [[1, 1, 0, 1], [1, 1, 0, 1], [0, 1, 1, 0]]
    prune.l1_unstructured(layer, "weight", 2)
    assert layer.weight_mask.tolist() == [[0, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 0]]
    prune.remove(layer, "weight")
    assert [*layer.state_dict()] == ["bias", "weight"]
    assert (layer.weight == 0).sum().item() == 6


def test_a_refused_amount_leaves_the_parameter_as_it_was() -> None:
    layer: Any = nn.Linear(4, 3)
    weight = layer.weight
    with pytest.raises(ValueError, match="amount=100 should be smaller than the number of parameters to prune=12"):
        prune.l1_unstructured(layer, "weight", 100)
    assert layer.weight is weight
    assert not layer._buffers
    assert not prune.is_pruned(layer)


def test_a_lazy_layer_becomes_the_plain_one() -> None:
    torch.manual_seed(0)
    layer: Any = nn.LazyLinear(3)
    assert repr(layer.weight) == "<UninitializedParameter>"
    assert layer.has_uninitialized_params()
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
        layer.weight.numel()
    assert pickle.loads(pickle.dumps(layer)).has_uninitialized_params()
    result = layer(torch.ones(1, 5))
    assert type(layer) is nn.Linear
    assert type(layer.weight) is nn.Parameter
    assert layer.weight.shape == (3, 5)
    assert rounded(result) == [[-0.6163, 0.7211, -0.8625]]


def test_hooks_on_a_state_see_and_change_it() -> None:
    net: Any = nn.Sequential(nn.Linear(1, 1))
    seen: list[Any] = []
    net[0].register_state_dict_pre_hook(lambda module, prefix, keep: seen.append((prefix, keep)))
    net[0].register_state_dict_post_hook(lambda module, state, prefix, meta: state.pop(f"{prefix}bias") and None)
    assert [*net.state_dict()] == ["0.weight"]
    assert seen == [("0.", False)]
    net[0].register_load_state_dict_pre_hook(lambda module, state, prefix, *rest: state.pop(f"{prefix}old", None))
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    assert not net.load_state_dict({"0.weight": torch.ones(1, 1), "0.old": 1}).missing_keys


def test_hooks_on_all_modules_stand_in_dictionaries_of_the_module_file() -> None:
    file: Any = nn.modules.module
    handle = file.register_module_forward_hook(lambda module, args, output: output + 1)
    relu = nn.ReLU()
    assert relu(torch.ones(1)).item() == 2
    kept, file._global_forward_hooks = file._global_forward_hooks, {}
    assert relu(torch.ones(1)).item() == 1
    file._global_forward_hooks = kept
    handle.remove()
    assert not kept
    assert not file._has_any_global_hook()


def test_a_function_that_hides_a_module_stays_a_function() -> None:
    """Also where a program imports the module by PyTorch's name."""
    program = ("import retrograd; retrograd.as_torch(); import torch.nn.utils.spectral_norm; "
               "from torch.nn.utils.weight_norm import WeightNorm; from torch.nn.utils import weight_norm; "
               "print(weight_norm.__name__, torch.nn.utils.spectral_norm.__name__, WeightNorm.__name__)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["weight_norm", "spectral_norm", "WeightNorm"]


def test_swapped_parameters_are_the_same_objects() -> None:
    parameter, other = nn.Parameter(torch.ones(2)), torch.zeros(3)
    loss = (parameter * 2).sum()
    torch.utils.swap_tensors(parameter, other)
    assert type(parameter) is torch.Tensor
    assert type(other) is nn.Parameter
    assert other.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="Trying to execute AccumulateGrad node that was poisoned by swap_tensors"):
        loss.backward()


def test_a_module_is_called_with_other_parameters() -> None:
    layer = nn.Linear(1, 1)
    given = {"weight": torch.tensor([[2.]], requires_grad=True), "bias": torch.tensor([1.])}
    with pytest.warns(FutureWarning, match="Please use `torch.func.functional_call` instead"):
        result = nn.utils.stateless.functional_call(layer, given, torch.ones(1))
    result.sum().backward()
    assert result.tolist() == [3]
    assert given["weight"].grad.tolist() == [[1]]
    assert layer.weight.grad is None


def test_norms_of_another_dtype_are_refused() -> None:
    with pytest.raises(RuntimeError, match="expected scalar type BFloat16 but found Float"):
        torch._weight_norm(torch.ones(3, 4, dtype=torch.bfloat16), torch.ones(3, 1))


def test_the_state_of_a_spectral_norm_has_its_version() -> None:
    layer = nn.utils.spectral_norm(nn.Linear(3, 2))
    state = layer.state_dict()
    assert state._metadata[""]["spectral_norm"] == {"weight.version": 1}  # type: ignore[attr-defined]
    nn.utils.remove_spectral_norm(layer)
    assert "spectral_norm" not in layer.state_dict()._metadata[""]  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_norm_of_gradients_whose_squares_are_too_large(dtype: str) -> None:
    parameter = nn.Parameter(torch.zeros(4, dtype=getattr(torch, dtype)))
    parameter.grad = torch.full((4,), 300.0, dtype=parameter.dtype)
    assert nn.utils.clip_grad_norm_([parameter], 6.0).item() == 600
    assert parameter.grad.tolist() == pytest.approx([3.0] * 4, rel=1e-3)
