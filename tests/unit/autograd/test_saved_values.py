"""The `_saved_*` attributes of nodes and hooks on single saved values. Facts recorded from PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks


def leaf(*values: float) -> Any:
    return torch.tensor(values, requires_grad=True)


def same(tensor: Any) -> Any:
    return tensor


def test_saved_inputs_are_leaves_themselves_or_have_their_history() -> None:
    x, w = leaf(1., 2.), leaf(3., 4.)
    a = x * 2
    node = (a * w).grad_fn
    assert node._saved_other is w
    assert node._saved_self.grad_fn is a.grad_fn
    assert np.shares_memory(node._saved_self.detach().numpy(), a.detach().numpy())
    assert (x * torch.ones(2)).grad_fn._saved_self is None


def test_saved_results_have_the_history_of_the_result() -> None:
    y = leaf(1., 2.).exp()
    result = y.grad_fn._saved_result
    assert result.requires_grad
    assert result.grad_fn is y.grad_fn


def test_options_are_kept_as_unsigned_integers() -> None:
    x = leaf(1., 2.)
    assert x.sum(0).grad_fn._saved_dim == (0,)
    assert x.sum(0).grad_fn._saved_keepdim is False
    assert x.sum(0).grad_fn._saved_self_sym_sizes == (2,)
    assert (x ** 3).grad_fn._saved_exponent == 3
    assert torch.clamp(x, min=-0.5).grad_fn._saved_min == -0.5
    assert torch.clamp(x, min=-0.5).grad_fn._saved_max is None
    assert torch.diagonal(torch.ones(3, 3, requires_grad=True), -1).grad_fn._saved_offset == 2**64 - 1
    loss = torch.nn.functional.nll_loss(x[None], torch.tensor([0]))
    assert (loss.grad_fn._saved_ignore_index, loss.grad_fn._saved_reduction) == (2**64 - 100, 1)


def test_saved_indices_are_a_tuple() -> None:
    node = leaf(1., 2.)[torch.tensor([1])].grad_fn
    assert str(node._saved_indices) == "(tensor([1]),)"
    (indices,) = node._raw_saved_indices
    indices.register_hooks(lambda t: t + 0, same)
    assert str(node._saved_indices) == "(tensor([1]),)"
    absent, _ = torch.ones(1, 2, requires_grad=True)[:, torch.tensor([1])].grad_fn._raw_saved_indices
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        absent.register_hooks(same, same)


def test_the_attributes_are_listed_and_others_are_refused() -> None:
    node = (leaf(1.) * leaf(2.)).grad_fn
    assert {name for name in dir(node) if "saved_" in name and name.startswith("_")} == {
        "_saved_self", "_saved_other", "_raw_saved_self", "_raw_saved_other"}
    for name in ("_saved_nothing", "_raw_saved_nothing", "nothing"):
        with pytest.raises(AttributeError, match=f"'MulBackward0' object has no attribute '{name}'"):
            getattr(node, name)
    with pytest.raises(AttributeError):
        node._saved_self = 3


def test_freed_values_are_refused() -> None:
    y = leaf(1., 2.) * leaf(3., 4.)
    y.sum().backward()
    with pytest.raises(RuntimeError, match=r"backward through the graph a second time \(or directly access saved"):
        _ = y.grad_fn._saved_self
    with pytest.raises(RuntimeError, match="Calling register_hooks on a saved tensor after it has been freed"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)


def test_values_that_were_written_to_are_refused_when_they_are_read() -> None:
    w = leaf(3., 4.)
    a = leaf(1., 2.) * 1
    node = (a * w).grad_fn
    a.mul_(2)
    assert node._saved_other is w
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        _ = node._saved_self


def test_hooks_on_one_value() -> None:
    seen: list[Any] = []
    x, w = leaf(1., 2.), leaf(3., 4.)
    y = x * w

    def pack(tensor: Any) -> Any:
        seen.append((tensor is x, tensor.requires_grad, torch.is_grad_enabled()))
        return tensor * 2

    y.grad_fn._raw_saved_self.register_hooks(pack, same)
    assert seen == [(False, False, False)]
    value = y.grad_fn._saved_self
    assert value.is_leaf
    assert value.requires_grad
    np.testing.assert_array_equal(value.detach().numpy(), [2., 4.])
    y.sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [2., 4.])
    np.testing.assert_array_equal(x.grad.numpy(), [3., 4.])


def test_values_without_hooks_are_guarded_beside_those_with() -> None:
    a, b = leaf(1., 2.) * 1, leaf(3., 4.) * 1
    y = a * b
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t.clone(), same)
    a.mul_(2)
    y.sum().backward(retain_graph=True)
    b.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_result_under_hooks_of_its_own_keeps_its_history() -> None:
    y = leaf(1., 2.).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t.numpy().copy(), torch.from_numpy)
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn


def test_when_hooks_on_one_value_are_refused() -> None:
    x, w = leaf(1., 2.), leaf(3., 4.)

    def write(tensor: Any) -> Any:
        return tensor.mul_(1)

    y = x * w
    raw = y.grad_fn._raw_saved_self
    with pytest.raises(TypeError, match="both hooks must be callable"):
        raw.register_hooks(same, 3)
    with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
        raw.register_hooks(write, same)
    raw.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)
    with saved_tensors_hooks(same, same):
        y = x * w
    with pytest.raises(RuntimeError, match="whose hooks have already been set"):
        y.grad_fn._raw_saved_self.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        (x * torch.ones(2)).grad_fn._raw_saved_self.register_hooks(same, same)
    with disable_saved_tensors_hooks("off"):
        (x * w).grad_fn._raw_saved_self.register_hooks(same, same)


class Pair(torch.autograd.Function):
    """Saves an input, its output and nothing."""

    @staticmethod
    def forward(ctx: Any, a: Any, b: Any) -> Any:
        out = a * b
        ctx.save_for_backward(a, out, None)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        a, _, _ = ctx.saved_tensors
        return g * a, g * a


def test_the_saved_tensors_of_a_function() -> None:
    calls: list[str] = []
    x, w = leaf(1., 2.), leaf(3., 4.)
    y = Pair.apply(x, w)
    first, second, nothing = y.grad_fn._raw_saved_tensors
    first.register_hooks(lambda t: calls.append("pack") or t.detach(), lambda t: calls.append("unpack") or t)
    second.register_hooks(same, same)
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        nothing.register_hooks(same, same)
    assert calls == ["pack"]
    a, out, none = y.grad_fn.saved_tensors
    assert a.requires_grad
    assert out.grad_fn is y.grad_fn
    assert none is None
    y.sum().backward()
    assert calls == ["pack", "unpack", "unpack"]
    with pytest.raises(RuntimeError, match="a second time"):
        _ = y.grad_fn._raw_saved_tensors
    fresh = Pair.apply(x, w)
    raw = fresh.grad_fn._raw_saved_tensors[0]
    fresh.sum().backward()
    with pytest.raises(RuntimeError, match="after it has been freed"):
        raw.register_hooks(same, same)


@pytest.mark.parametrize("mode", ["floor", "trunc"])
def test_a_rounded_quotient_saves_its_operands_as_pytorch_does(mode: str) -> None:
    x, y = leaf(1., 2.), leaf(3., 4.)
    z = torch.div(x, y, rounding_mode=mode)
    assert z.grad_fn._saved_self is x
    assert z.grad_fn._saved_other is y
    assert z.grad_fn._saved_rounding_mode == mode
    z.sum().backward(retain_graph=True)
    assert x.grad.tolist() == y.grad.tolist() == [0.0, 0.0]
    z.sum().backward()
    with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
        z.sum().backward()
    assert torch.div(x, torch.ones(2), rounding_mode=mode).grad_fn._saved_self is None     # not needed, and not saved
    z = torch.div(x, y, rounding_mode=mode)
    with torch.no_grad():
        y.mul_(2)
    with pytest.raises(RuntimeError, match="^one of the variables needed for gradient computation has been modified"):
        z.sum().backward()
