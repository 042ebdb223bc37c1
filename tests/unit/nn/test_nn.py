"""Modules and layers: what they hold, compute and refuse. The numbers are closed forms, or PyTorch 2.13's."""

from __future__ import annotations

import copy
import pickle
import re
import weakref
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn
from retrograd.nn import functional as F


def tensor(values: Any, **options: Any) -> torch.Tensor:
    return torch.tensor(np.asarray(values, dtype=float), **options)


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.ones(1))
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("scratch", torch.zeros(2), persistent=False)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(3, 1, bias=False))

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)) * self.scale


# Modules

def test_manual_seed_gives_the_weights_of_pytorch() -> None:
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    np.testing.assert_allclose(layer.weight.detach().numpy(), [[-0.0043, 0.3097, -0.4752], [-0.4249, -0.2224, 0.1548]],
                               atol=5e-5)
    np.testing.assert_allclose(layer.bias.detach().numpy(), [-0.0114, 0.4578], atol=5e-5)


def test_members_are_listed_in_order() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == ["scale", "first.weight", "first.bias", "rest.1.weight"]
    assert [n for n, _ in net.named_buffers()] == ["mean", "scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "first", "rest", "rest.0", "rest.1"]
    assert [*net.state_dict()] == ["scale", "mean", "first.weight", "first.bias", "rest.1.weight"]


def test_a_shared_parameter_is_listed_once() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    assert len([*net.parameters()]) == 3
    assert len([*net.named_parameters(remove_duplicate=False)]) == 4


def test_assignment_moves_a_name_from_kind_to_kind() -> None:
    net = Net()
    net.mean = nn.Parameter(torch.ones(2))
    assert "mean" in net._parameters
    assert "mean" not in net._buffers
    del net.scale
    net.scale = 2.0
    assert net.scale == 2.0
    with pytest.raises(TypeError, match="as child module 'first'"):
        net.first = 3
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'other'"):
        _ = net.other


def test_a_deleted_weight_may_become_an_ordinary_attribute() -> None:
    layer = nn.Linear(2, 1, bias=False)
    del layer.weight
    layer.weight = torch.ones(1, 2)
    assert layer(torch.ones(2)).item() == 2.0
    assert [*layer.parameters()] == []


def test_init_has_to_come_first() -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            self.layer = nn.Linear(1, 1)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early()


def test_what_a_module_prints() -> None:
    assert repr(Net()) == ("Net(\n  (first): Linear(in_features=2, out_features=3, bias=True)\n  (rest): Sequential(\n"
                           "    (0): ReLU()\n    (1): Linear(in_features=3, out_features=1, bias=False)\n  )\n)")
    modules = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    assert repr(modules) == "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Tanh()\n)"


def test_saving_and_loading() -> None:
    net, other = Net(), Net()
    result = other.load_state_dict(pickle.loads(pickle.dumps(net.state_dict())))
    assert str(result) == "<All keys matched successfully>"
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters(), strict=True))
    assert other.load_state_dict({}, strict=False).missing_keys == [*net.state_dict()]
    with pytest.raises(RuntimeError, match='Missing key\\(s\\) in state_dict: "scale"'):
        other.load_state_dict({"other": torch.ones(1)})
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        other.load_state_dict({**net.state_dict(), "scale": torch.ones(2)})


def test_a_copy_shares_nothing() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    with torch.no_grad():
        net.scale.add_(1)
    assert twin.scale.item() == 1.0
    assert isinstance(twin.scale, nn.Parameter)
    assert net(torch.ones(1, 2)).item() == pytest.approx(2 * twin(torch.ones(1, 2)).item())


def test_conversion_keeps_the_parameters() -> None:
    net = Net()
    scale = net.scale
    net(torch.ones(1, 2)).sum().backward()
    net.double()
    assert net.scale is scale
    assert scale.dtype == torch.float64
    assert scale.grad is not None
    assert scale.grad.dtype == torch.float64
    net(torch.ones(1, 2, dtype=torch.float64)).sum().backward()


def test_train_and_eval_reach_all_modules() -> None:
    net = nn.Sequential(nn.Dropout(0.5), nn.Sequential(nn.Dropout(0.5)))
    assert not net.eval()[1][0].training
    x = torch.ones(8)
    assert net(x) is x
    assert net.train()[1][0].training


@pytest.mark.usefixtures("no_collector")
def test_a_module_goes_without_the_garbage_collector() -> None:
    net = Net()
    net.register_full_backward_hook(lambda module, gi, go: None)
    net(torch.ones(1, 2, requires_grad=True)).sum().backward()
    gone = weakref.ref(net)
    del net
    assert gone() is None


# Hooks

def test_forward_hooks_may_change_arguments_and_results() -> None:
    layer = nn.Identity()
    first = layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    second = layer.register_forward_hook(lambda module, args, out: out + args[0])
    assert layer(torch.ones(1)).item() == 4.0
    first.remove()
    assert layer(torch.ones(1)).item() == 2.0
    second.remove()
    assert layer(torch.ones(1)).item() == 1.0


def test_hooks_run_in_order_and_may_be_put_first() -> None:
    layer, seen = nn.Identity(), []
    layer.register_forward_hook(lambda *_: seen.append("second"))
    layer.register_forward_hook(lambda *_: seen.append("first"), prepend=True)
    layer(torch.ones(1))
    assert seen == ["first", "second"]


def test_full_backward_hooks_see_and_replace_gradients() -> None:
    layer, seen = nn.Linear(1, 1, bias=False), []

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((grad_input[0].item(), grad_output[0].item()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_hook(hook)
    layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 3,))
    with torch.no_grad():
        layer.weight.fill_(2.0)
    x = torch.ones(1, 1, requires_grad=True)
    layer(x).backward()
    assert seen == [(6.0, 3.0)]
    assert x.grad is not None
    assert x.grad.item() == 60.0


# Layers and containers

def test_sequential_is_a_list_of_modules() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    assert len(net[:2]) == 2
    assert net[-1] is net[2]
    assert net.extend([]) is net
    del net[1]
    assert [*net.state_dict()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    with pytest.raises(IndexError, match="index 5 is out of range"):
        net[5]


def test_parameter_containers_own_what_is_put_in() -> None:
    class Holder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.many = nn.ParameterList([torch.ones(2), torch.ones(3)])
            self.named = nn.ParameterDict({"a": torch.ones(1)})

    holder = Holder()
    assert [n for n, _ in holder.named_parameters()] == ["many.0", "many.1", "named.a"]
    holder.many.append(torch.zeros(1))
    assert [p.numel() for p in holder.many] == [2, 3, 1]
    with pytest.raises(KeyError, match="name can"):
        holder.named["a.b"] = torch.ones(1)
    assert [*holder.named] == ["a"]


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 3), (0, 3)])
def test_linear_is_a_product_and_a_sum(shape: tuple[int, ...]) -> None:
    draws = np.random.default_rng(0)
    x, w, b = draws.standard_normal(shape), draws.standard_normal((4, 3)), draws.standard_normal(4)
    inputs = [tensor(a, requires_grad=True) for a in (x, w, b)]
    out = F.linear(*inputs)
    np.testing.assert_allclose(out.detach().numpy(), x @ w.T + b)
    out.sum().backward()
    grads = [t.grad.numpy() for t in inputs if t.grad is not None]
    np.testing.assert_allclose(grads[0], np.broadcast_to(w.sum(0), shape))
    np.testing.assert_allclose(grads[1], np.broadcast_to(x.reshape(-1, 3).sum(0), (4, 3)), atol=1e-12)
    np.testing.assert_allclose(grads[2], np.full(4, x.size // 3))


def test_linear_leaves_the_nodes_of_pytorch() -> None:
    out = F.linear(torch.ones(2, 3), torch.ones(4, 3, requires_grad=True), torch.ones(4, requires_grad=True))
    assert out.grad_fn is not None
    assert out.grad_fn.name() == "AddmmBackward0"
    names = [f and type(f).__name__ for f, _ in out.grad_fn.next_functions]
    assert names == ["AccumulateGrad", None, "TBackward0"]


def test_a_weight_that_was_written_to_is_refused_in_backward() -> None:
    layer, x = nn.Linear(2, 1), torch.ones(1, 2, requires_grad=True)
    out = layer(x)
    with torch.no_grad():
        layer.weight.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_attention_starts_from_biases_of_zero() -> None:
    layer = nn.MultiheadAttention(4, 2)
    assert layer.in_proj_bias is not None
    assert (layer.in_proj_bias.tolist(), layer.out_proj.bias.tolist()) == ([0.0] * 12, [0.0] * 4)
    assert [*nn.MultiheadAttention(4, 2, bias=False).state_dict()] == ["in_proj_weight", "out_proj.weight"]
    assert [*nn.MultiheadAttention(4, 2, bias=False, kdim=3).state_dict()] == [
        "q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"]


@pytest.mark.parametrize(("layer", "shape", "message"), [
    (nn.InstanceNorm1d(4, affine=True), (3, 5, 2), "expected input's size at dim=1 to match num_features (4), but"),
    (nn.InstanceNorm1d(4, affine=True), (5, 2), "expected input's size at dim=0 to match num_features (4), but"),
    (nn.InstanceNorm1d(4), (4,), "expected 2D or 3D input (got 1D input)"),
    (nn.InstanceNorm2d(4), (2, 4, 3, 3, 3), "expected 3D or 4D input (got 5D input)"),
])
def test_inputs_that_instance_norm_refuses(layer: nn.Module, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        layer(torch.ones(shape))


def test_dropout_scales_what_it_keeps() -> None:
    torch.manual_seed(0)
    out = F.dropout(torch.ones(10_000), 0.25)
    values = np.unique(out.numpy())
    np.testing.assert_allclose(values, [0, 4 / 3], rtol=1e-6)
    assert out.mean().item() == pytest.approx(1, abs=0.05)
    with pytest.raises(ValueError, match="between 0 and 1"):
        nn.Dropout(2)


# Tools

def test_vectors_and_back() -> None:
    net = Net()
    vector = nn.utils.parameters_to_vector(net.parameters())
    assert vector.shape == (13,)
    nn.utils.vector_to_parameters(torch.arange(13.0), net.parameters())
    assert net.first.bias.tolist() == [7.0, 8.0, 9.0]


def test_a_vector_that_is_too_short_changes_nothing() -> None:
    net = Net()
    before = nn.utils.parameters_to_vector(net.parameters())
    with pytest.raises(RuntimeError, match="is invalid for input of size"):
        nn.utils.vector_to_parameters(torch.arange(12.0), net.parameters())
    assert torch.equal(nn.utils.parameters_to_vector(net.parameters()), before)


def test_clipping() -> None:
    p = nn.Parameter(torch.zeros(2))
    p.grad = torch.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([p], 1.0).item() == 5.0
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.8], rtol=1e-5)
    nn.utils.clip_grad_value_(p, 0.7)
    np.testing.assert_allclose(p.grad.numpy(), [0.6, 0.7], rtol=1e-5)


def test_orthogonal_rows() -> None:
    w = nn.init.orthogonal_(torch.empty(3, 5)).numpy()
    np.testing.assert_allclose(w @ w.T, np.eye(3), atol=1e-6)


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="^module 'torch.nn' has no attribute 'Linaer'\n  nearest    Linear$"):
        _ = nn.Linaer
    for module in (nn, F, nn.init, nn.utils):
        assert all(hasattr(module, name) for name in module.__all__)
        assert len(set(module.__all__)) == len(module.__all__)
