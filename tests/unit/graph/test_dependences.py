"""Which gradients of a recorded pass require grad though their numbers do not depend on the input. From PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from op_table.queries import stated_ops
from retrograd.tensors.recording import dependences

F: Any = torch.nn.functional
IMAGE = (1, 2, 6, 6)
CALLS: dict[str, tuple[tuple[int, ...], Any, bool]] = {
    "leaky_relu": ((3,), F.leaky_relu, True),
    "hardtanh": ((3,), F.hardtanh, True),
    "relu6": ((3,), F.relu6, True),
    "relu": ((3,), F.relu, True),
    "threshold": ((3,), lambda x: F.threshold(x, 0.1, 2.0), True),
    "hardshrink": ((3,), F.hardshrink, True),
    "softshrink": ((3,), F.softshrink, True),
    "hardsigmoid": ((3,), F.hardsigmoid, True),
    "rrelu": ((3,), F.rrelu, True),
    "prelu": ((3,), lambda x: F.prelu(x, torch.ones(1)), True),
    "conv2d": (IMAGE, lambda x: F.conv2d(x, torch.ones(3, 2, 2, 2)), True),
    "max_pool2d": (IMAGE, lambda x: F.max_pool2d(x, 2), True),
    "avg_pool2d": (IMAGE, lambda x: F.avg_pool2d(x, 2), True),
    "adaptive_avg_pool2d": (IMAGE, lambda x: F.adaptive_avg_pool2d(x, 3), True),
    "pad reflect": (IMAGE, lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"), True),
    "batch_norm": (IMAGE, lambda x: F.batch_norm(x, torch.zeros(2), torch.ones(2)), True),
    "nll_loss": ((2, 3), lambda x: F.nll_loss(x, torch.tensor([0, 1])), True),
    "mul by a constant": ((3,), lambda x: x * 2, False),
    "sum": ((3,), lambda x: x.sum(), False),
    "neg": ((3,), lambda x: -x, False),
    "linear": ((2, 3), lambda x: F.linear(x, torch.ones(2, 3)), False),
    "pad constant": (IMAGE, lambda x: F.pad(x, (1, 1)), False),
    "clamp": ((3,), lambda x: x.clamp(0.1, 0.5), False),
    "abs": ((3,), lambda x: x.abs(), True),
    "max": ((3,), lambda x: x.max(), False),
    "div floor": ((3,), lambda x: torch.div(x, 2.0, rounding_mode="floor"), False),
    "layer_norm": ((2, 3), lambda x: F.layer_norm(x, (3,)), True),
}


@pytest.mark.parametrize("name", CALLS)
def test_whether_a_gradient_requires_grad(name: str) -> None:
    shape, call, expected = CALLS[name]
    x = torch.rand(shape, requires_grad=True)
    y = call(x)
    gradient: Any = torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]
    assert gradient.requires_grad == expected
    assert (gradient.grad_fn is not None) == expected
    plainly = torch.autograd.grad(call(x), x, torch.ones_like(y))[0]
    assert not plainly.requires_grad


def test_the_second_derivative_is_zero() -> None:
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    gradient, = torch.autograd.grad(F.leaky_relu(x).sum(), x, create_graph=True)
    assert gradient.tolist() == [pytest.approx(0.01), 1.0]
    assert str(gradient) == "tensor([0.0100, 1.0000], grad_fn=<TiedBackward0>)"
    ((gradient - 1) ** 2).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_a_bias_counts_only_where_pytorch_is_given_it() -> None:
    x, weight, bias = torch.rand(1, 2, 3), torch.ones(2), torch.ones(2, requires_grad=True)
    y = F.group_norm(x, 1, weight, bias)
    assert not torch.autograd.grad(y, bias, torch.ones_like(y), create_graph=True)[0].requires_grad
    layer = torch.ones(3, requires_grad=True)
    y = F.layer_norm(x, (3,), None, layer)
    assert torch.autograd.grad(y, layer, torch.ones_like(y), create_graph=True)[0].requires_grad


def test_the_table_names_operators_and_their_inputs() -> None:
    arguments: dict[str, set[str]] = {}
    for op in stated_ops():
        arguments.setdefault(op.name, set()).update(op.arguments)
    for name, inputs in dependences._INPUTS.items():
        assert {*inputs.replace(":", "").split()} <= arguments[name], name
