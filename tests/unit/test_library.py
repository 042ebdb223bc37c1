"""Operators that programs define with torch.library, and their gradients."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd import library


def scaled(x: torch.Tensor, k: float = 2.0) -> torch.Tensor:
    """The operator of these tests. Its graph is never recorded."""
    return x.detach().sin() * k


def setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0])
    ctx.k = inputs[1]


def backward(ctx: Any, grad: Any) -> Any:
    x, = ctx.saved_tensors
    return grad * x.cos() * ctx.k, None


def test_an_operator_has_the_gradient_that_was_registered() -> None:
    op = library.custom_op("test::scaled", scaled, mutates_args=())
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    with pytest.raises(RuntimeError, match="Trying to backward through test.scaled.default but no autograd formula"):
        op(x).sum().backward()
    library.register_autograd("test::scaled", backward, setup_context=setup)
    y = op(x, k=3.0)
    assert type(y.grad_fn).__name__ == "GeneratedBackwardFor_test_scaled_defaultBackward"
    y.sum().backward()
    assert x.grad is not None
    assert torch.allclose(x.grad, 3.0 * x.detach().cos())
    assert op(x.detach()).grad_fn is None
    with torch.no_grad():
        assert not op(x).requires_grad
    assert torch.autograd.gradcheck(op, x.detach().double().requires_grad_())


def test_kernels_of_the_cpu_replace_the_function() -> None:
    op = library.custom_op("test::kernels", mutates_args=())(scaled)
    op.register_kernel("cuda")(lambda x, k: x)
    assert op(torch.zeros(1)).item() == 0.0
    op.register_kernel("cpu", lambda x, k: x + k)
    assert op(torch.zeros(1)).item() == 2.0
    assert library.register_fake(op)(backward) is backward


def test_wrong_operators_and_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="Parameter x must have a type annotation"):
        library.custom_op("test::bare", lambda x: x, mutates_args=())
    op = library.custom_op("test::calls", scaled, mutates_args=())
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type"):
        op(3)
    with pytest.raises(RuntimeError, match=r"expected at most 2 argument\(s\) but received 3"):
        op(torch.ones(1), 1.0, 2.0)
    with pytest.raises(RuntimeError, match="must not also be an input"):
        library.custom_op("test::same", same, mutates_args=())(torch.ones(1))
    written = library.custom_op("test::written", same, mutates_args={"x"})
    with pytest.raises(RuntimeError, match="Cannot register autograd formula for non-functional operator"):
        written.register_autograd(backward)
    with pytest.raises(NotImplementedError, match=r"define the operator with torch\.library\.custom_op"):
        library.Library("test", "DEF")


def same(x: torch.Tensor) -> torch.Tensor:
    return x
