"""Methods that PyTorch has given up, sums of bits, and types of gradients. The facts were taken from PyTorch 2.13."""

from __future__ import annotations

import pytest

import retrograd as torch


def test_resize_keeps_the_elements_and_warns() -> None:
    x = torch.arange(6.0).requires_grad_()
    with pytest.warns(UserWarning, match="non-inplace resize is deprecated"):
        out = (x * 1).resize(2, 3)
    assert (out.tolist(), out.grad_fn.name()) == ([[0, 1, 2], [3, 4, 5]], "ResizeBackward")
    with pytest.warns(UserWarning, match="non-inplace resize_as"), pytest.raises(RuntimeError, match="resize to 3 "):
        x.resize_as(torch.ones(3))


def test_volatile_and_reinforce_say_what_to_use() -> None:
    x = torch.ones(2)
    with pytest.warns(UserWarning, match="volatile was removed"):
        assert x.volatile is False
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        x.volatile = True
    with pytest.raises(RuntimeError, match=r"reinforce\(\) was removed"):
        x.reinforce(1.0)


def test_bits_are_joined_by_exclusive_or() -> None:
    assert torch.hash_tensor(torch.tensor([[1, 2], [4, 8]]), 0).tolist() == [5, 10]
    assert torch.hash_tensor(torch.tensor([1, -1], dtype=torch.int8)).item() == 2**64 - 2
    assert torch.tensor([1.5], dtype=torch.float16).hash_tensor(keepdim=True).tolist() == [4609434218613702656]
    with pytest.raises(RuntimeError, match="Unknown hash_tensor mode: 1"):
        torch.hash_tensor(torch.ones(2), mode=1)


def test_a_leaf_may_want_its_gradient_in_another_type() -> None:
    x = torch.ones(2, requires_grad=True)
    assert x.grad_dtype is torch.float32
    loss = (x * x).sum()
    x.grad_dtype = torch.float64
    seen = []
    x.register_hook(lambda g: seen.append(g.dtype))
    loss.backward()
    (x * x).sum().backward()
    assert (x.grad.dtype, x.grad.tolist(), seen) == (torch.float64, [4.0, 4.0], [torch.float64] * 2)
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype to 'Float' because there is already a gradient"):
        x.grad_dtype = torch.float32
    with pytest.raises(RuntimeError, match="with dtype 'float' to a tensor with grad_dtype 'Double'"):
        x.grad = torch.ones(2)
    x.grad_dtype = None
    x.grad = torch.ones(2, dtype=torch.float16)
    assert x.grad_dtype is None


def test_only_leaves_have_such_a_type() -> None:
    y = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="grad_dtype can only be accessed on leaf tensors"):
        assert y.grad_dtype
    with pytest.raises(RuntimeError, match="grad_dtype can only be set on leaf tensors"):
        y.grad_dtype = torch.float64
