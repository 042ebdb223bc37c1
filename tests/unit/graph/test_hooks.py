"""Hooks on tensors, on nodes and after accumulation: order, what they may replace, what happens when one fails."""

from typing import Any

import pytest

import retrograd as torch


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def numbers(tensor: Any) -> list[float]:
    return tensor.tolist()



def test_hooks_run_in_order_and_retain_grad_sees_what_they_made() -> None:
    x = leaf(1, 2)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    handle = y.register_hook(lambda g: g + 1)
    z = y.sum()
    z.backward(retain_graph=True)
    assert numbers(y.grad) == [11, 11]
    handle.remove()
    handle.remove()
    z.backward()
    assert numbers(y.grad) == [21, 21]
    assert numbers(x.grad) == [42, 42]


def test_hooks_of_several_outputs_run_in_order_of_registration_and_see_what_is_missing() -> None:
    seen: list[Any] = []
    a, b = leaf(1, 2).unbind()
    b.register_hook(lambda g: seen.append(("b", g)))
    a.register_hook(lambda g: seen.append(("a", g.item())))
    (a * 5).backward()
    assert seen == [("b", None), ("a", 5)]


def test_a_hook_on_a_node_sees_tuples_and_may_replace_them() -> None:
    x = leaf(1, 2)
    y = x * torch.tensor([3.0, 4.0])
    seen: list[Any] = []
    y.grad_fn.register_prehook(lambda gs: (gs[0] * 2,))
    y.grad_fn.register_hook(lambda grads, gs: seen.append((grads, gs)))
    y.grad_fn.register_hook(lambda grads, gs: (grads[0] + 1, None))
    y.sum().backward()
    ((grads, cotangents),) = seen
    assert numbers(grads[0]) == [6, 8]
    assert grads[1] is None
    assert numbers(cotangents[0]) == [2, 2]
    assert numbers(x.grad) == [7, 9]


def test_a_hook_that_raises_leaves_everything_as_it_was() -> None:
    x = leaf(1, 2)
    y = x + x

    def fail(g: Any) -> None:
        raise ValueError("mine")

    handle = y.register_hook(fail)
    with pytest.raises(ValueError, match="mine"), torch.enable_grad():
        y.sum().backward()
    assert torch.is_grad_enabled()
    assert x.grad is None
    handle.remove()
    y.sum().backward()
    assert numbers(x.grad) == [2, 2]


def test_hooks_after_accumulation_see_the_leaf_and_may_consume_its_gradient() -> None:
    x = leaf(1, 2)
    steps: list[Any] = []

    def step(x: Any) -> None:
        steps.append(numbers(x.grad))
        x.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    (x * 4).sum().backward()
    assert steps == [[3, 3], [4, 4]]
    assert x.grad is None
    assert numbers(torch.autograd.grad((x * 5).sum(), x)[0]) == [5, 5]
    assert len(steps) == 2


def test_a_pass_inside_a_hook() -> None:
    x, w = leaf(1, 2), leaf(3)

    def inner(g: Any) -> Any:
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            (w * w).sum().backward()
            (x * 5).sum().backward()
        return g * 2

    y = x * x
    y.register_hook(inner)
    y.sum().backward()
    assert numbers(w.grad) == [6]
    assert numbers(x.grad) == [9, 13]


def test_reading_the_gradient_of_what_is_no_leaf_warns() -> None:
    y = leaf(1, 2) * 2
    with pytest.warns(UserWarning, match="^The .grad attribute of a Tensor that is not a leaf Tensor is being accesse"):
        assert y.grad is None


def test_a_leaf_may_be_stepped_in_its_hook_without_harm_to_the_other_gradients_of_the_node() -> None:
    x, w = leaf(1, 2), leaf(3, 4)

    def step(p: Any) -> None:
        with torch.no_grad():
            p -= p.grad
        p.grad = None

    x.register_post_accumulate_grad_hook(step)
    w.register_post_accumulate_grad_hook(step)
    (x * w).sum().backward()
    assert numbers(x) == [-2, -2]
    assert numbers(w) == [2, 2]


def test_a_function_may_hook_its_own_node_while_it_runs() -> None:
    seen: list[Any] = []

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            ctx.register_hook(lambda grads, gs: seen.append(numbers(grads[0])))
            return g * 2

    Twice.apply(leaf(1, 2)).sum().backward()
    assert seen == [[2, 2]]


def test_the_node_of_a_write_to_a_slice_can_be_called_as_any_other() -> None:
    x = leaf(1, 2)
    y = x.clone()
    y[:1].mul_(3)
    gradient, of_the_slice = y.grad_fn(torch.ones(2))
    assert numbers(gradient) == [3, 1]
    assert of_the_slice is None
