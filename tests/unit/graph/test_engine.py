"""The backward pass itself: its order, what it keeps for another, where gradients accumulate, which are asked for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import retrograd as torch
from retrograd.ops.framework import elementwise, operator
from retrograd.tensors.recording.calls import recorded


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def numbers(tensor: Any) -> list[float]:
    return tensor.tolist()


def second_pass() -> Any:
    return pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time")


# Order


def named_leaves(seen: list[str]) -> list[Any]:
    leaves = [leaf(1, 2) for _ in "abc"]
    for name, x in zip("abc", leaves, strict=True):
        x.register_post_accumulate_grad_hook(lambda _, name=name: seen.append(name))
    return leaves


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b, c: a * b * c, "cab"),
        (lambda a, b, c: a + (b + c), "abc"),
        (lambda a, b, c: c + b * (a * b), "cab"),
        (lambda a, b, c: (a * b).exp() * (c + a), "cab"),
        (lambda a, b, c: a + b + c + a + b + c, "cab"),
    ],
)
def test_a_leaf_accumulates_as_soon_as_nothing_is_due(function: Callable[..., Any], expected: str) -> None:
    # Recorded from PyTorch 2.13.0: of what is ready, leaves come first, then what was made last.
    seen: list[str] = []
    function(*named_leaves(seen)).sum().backward()
    assert "".join(seen) == expected


@pytest.mark.parametrize("statement", [
    operator("scaled", lambda w, x: w * x, x=lambda g, w: g * w),
    elementwise("scaled", np.multiply, arguments="w x", x=lambda g, w: g * w),
    operator("scaled", lambda x, w: w * x, x=lambda g, w: g * w, tensors=2),
], ids=["operator", "short", "last"])
def test_a_leaf_gets_its_gradients_beside_an_operand_without_a_rule(statement: Any) -> None:
    scaled, w, x = recorded(statement), leaf(2, 3), leaf(4, 5)
    operands = {"w": w, "x": x}
    made = scaled(*[operands[name] for name in statement.arguments])
    assert [node for node, _ in made.grad_fn.next_functions if node] == [torch.autograd.graph.get_gradient_edge(x).node]
    (made.sum() + w.sum()).backward()
    assert [numbers(w.grad), numbers(x.grad)] == [[1, 1], [2, 3]]
    operands["x"] = x.detach()
    assert not scaled(*[operands[name] for name in statement.arguments]).requires_grad


def test_a_node_runs_once_after_everything_made_from_it() -> None:
    x = leaf(3)
    runs: list[str] = []
    y = x * 2
    parts = [y * 3, y.exp(), y + 1]
    for name, node in [("y", y), *zip("abc", parts, strict=True)]:
        node.grad_fn.register_hook(lambda *_, name=name: runs.append(name))
    (parts[0] * parts[2] + parts[1]).sum().backward()
    assert runs == ["c", "b", "a", "y"]


@given(st.data())
def test_any_graph_of_sums_and_products_gives_the_derivative_of_its_polynomial(data: st.DataObject) -> None:
    """Build a random graph twice: of tensors, and of dual numbers (value, derivative)."""
    value = 0.5
    x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
    tensors, duals = [x, torch.tensor(2.0, dtype=torch.float64)], [(value, 1.0), (2.0, 0.0)]
    for _ in range(data.draw(st.integers(1, 12))):
        i, j = (data.draw(st.integers(0, len(tensors) - 1)) for _ in range(2))
        (p, dp), (q, dq) = duals[i], duals[j]
        if data.draw(st.booleans()):
            tensors.append(tensors[i] + tensors[j])
            duals.append((p + q, dp + dq))
        else:
            tensors.append(tensors[i] * tensors[j])
            duals.append((p * q, dp * q + p * dq))
    total, (expected, slope) = tensors[-1] + x * 0, duals[-1]
    total.backward()
    assert total.item() == pytest.approx(expected, rel=1e-9)
    assert x.grad.item() == pytest.approx(slope, rel=1e-9)


# What is kept for a second pass


def test_a_second_pass_fails_where_something_was_saved_and_names_it() -> None:
    y = (leaf(1, 2).exp()).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="a second time") as caught:
        y.backward()
    assert caught.value.__notes__ == [
        "  freed      the values that ExpBackward0 saved",
        "  instead    make one pass over the sum of the results, or pass retain_graph=True to the first pass",
        "  read more  retrograd help second-backward"]


def test_a_second_pass_is_fine_where_nothing_was_saved() -> None:
    x = leaf(1, 2)
    y = (x + x).sum()
    y.backward()
    y.backward()
    assert numbers(x.grad) == [4, 4]


def test_retain_graph_keeps_it_and_create_graph_does_unless_told_otherwise() -> None:
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    torch.autograd.grad(y, x, create_graph=True)
    torch.autograd.grad(y, x, create_graph=True, retain_graph=False)
    with second_pass():
        y.backward()


def test_a_pass_to_one_input_frees_only_what_it_ran() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    left, right = x * x, w * w
    total = (left + right).sum()
    torch.autograd.grad(total, x)
    assert numbers(torch.autograd.grad(right.sum(), w)[0]) == [6, 8]
    with second_pass():
        left.sum().backward()


# Accumulation


def test_a_gradient_accumulates_into_the_same_tensor_and_moves_its_version() -> None:
    x = leaf(1, 2)
    (x * 3).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first
    assert first._version == 1
    assert numbers(first) == [6, 6]


def test_with_create_graph_a_new_gradient_takes_the_old_ones_place() -> None:
    x = leaf(1, 2)
    (x * x).sum().backward()
    first = x.grad
    with pytest.warns(UserWarning, match="create_graph=True will create a reference cycle"):
        (x * x * x).sum().backward(create_graph=True)
    assert x.grad is not first
    assert numbers(first) == [2, 4]
    assert numbers(torch.autograd.grad(x.grad.sum(), x)[0]) == [6, 12]
    x.grad = None


def test_no_two_gradients_share_memory() -> None:
    x, w, seed = leaf(1, 2), leaf(3, 4), torch.tensor([1.0, 1.0])
    (x + w).backward(seed)
    arrays = [x.grad.numpy(), w.grad.numpy(), seed.numpy()]
    for i, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[:i])
    x.grad.zero_()
    assert numbers(w.grad) == numbers(seed) == [1, 1]


def test_a_gradient_never_aliases_what_a_hook_or_retain_grad_saw() -> None:
    x = leaf(1, 2)
    y = x.view(2)
    y.retain_grad()
    seen: list[Any] = []
    y.register_hook(seen.append)
    (y + 0).sum().backward()
    x.grad.zero_()
    assert numbers(y.grad) == [1, 1]
    assert numbers(seen[0]) == [1, 1]


def test_a_gradient_has_its_leafs_dtype_and_order_of_axes() -> None:
    half = torch.ones(2, dtype=torch.half, requires_grad=True)
    (half.double() * 3).sum().backward()
    assert half.grad.dtype is torch.half
    transposed = torch.ones(3, 2).t().requires_grad_()
    (transposed * torch.ones(2, 3)).sum().backward()
    assert transposed.grad.stride() == (1, 2)
    stretched = torch.ones(2, 1).expand(2, 3).requires_grad_()
    (stretched * 2).sum().backward()
    assert stretched.grad.is_contiguous()


def test_a_constant_gets_no_gradient_and_no_node() -> None:
    x, c = leaf(1, 2), torch.ones(2)
    y = x * c
    assert y.grad_fn.next_functions[1] == (None, 0)
    y.sum().backward()
    assert c.grad is None


# Which gradients are asked for


def test_inputs_limit_the_pass_to_leaves_and_to_results_on_the_way() -> None:
    x, w = leaf(1, 2), leaf(3, 4)
    y = x * w
    (y * y).sum().backward(inputs=[x, y])
    assert numbers(x.grad) == [18, 64]
    assert numbers(y.grad) == [6, 16]
    assert w.grad is None


def test_the_same_input_twice_and_one_that_leads_to_another() -> None:
    x = leaf(1, 2)
    y = x * 3
    y.register_hook(lambda g: g * 10)
    gx, gy, again = torch.autograd.grad((y * y).sum(), [x, y, x])
    assert numbers(gx) == numbers(again) == [180, 360]
    assert numbers(gy) == [6, 12]  # captured before its hooks since the pass goes on from it, as in PyTorch
    y = x * 3
    y.register_hook(lambda g: g * 10)
    assert numbers(torch.autograd.grad((y * y).sum(), y)[0]) == [60, 120]


def test_a_result_may_be_its_own_input() -> None:
    x = leaf(1, 2)
    y = x * 2
    seed = torch.tensor([5.0, 6.0])
    assert numbers(torch.autograd.grad(y, y, seed)[0]) == [5, 6]
    assert numbers(torch.autograd.grad(x, x, seed)[0]) == [5, 6]


def test_an_input_without_influence() -> None:
    x, unused = leaf(1, 2), leaf(5)
    total = (x * x).sum()
    keep = {"retain_graph": True}
    with pytest.raises(RuntimeError, match="^The differentiated Tensor at index 1 appears to not have been used"):
        torch.autograd.grad(total, [x, unused], **keep)
    assert torch.autograd.grad(total, unused, allow_unused=True, **keep) == (None,)
    assert numbers(torch.autograd.grad(total, unused, materialize_grads=True, **keep)[0]) == [0]
    with pytest.raises(ValueError, match="^Expected allow_unused to be True or not passed"):
        torch.autograd.grad(total, unused, materialize_grads=True, allow_unused=False)
    total.backward(inputs=[unused])
    assert unused.grad is None


def test_parts_of_one_node_are_addressed_one_by_one() -> None:
    x = leaf(1, 2, 3)
    a, b, _ = x.unbind()
    first, second, whole = torch.autograd.grad(a * b * b, [a, b, x])
    assert (first.item(), second.item()) == (4, 4)
    assert numbers(whole) == [4, 4, 0]
    a, b, _ = x.unbind()
    assert numbers(torch.autograd.grad([b, a], x, [torch.tensor(2.0), torch.tensor(3.0)])[0]) == [3, 2, 0]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: x.backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (lambda x: (x * 1j).sum().backward(), RuntimeError, "grad can be implicitly created only for real scalar"),
        (lambda x: x.detach().sum().backward(), RuntimeError, "element 0 of tensors does not require grad and does"),
        (lambda x: x.backward(torch.ones(3)), RuntimeError, "Mismatch in shape: grad_output[0] has a shape of torch.S"),
        (lambda x: x.backward(torch.ones(2) * 1j), RuntimeError, "For complex Tensors, both grad_output and output"),
        (lambda x: x.backward([3]), TypeError, "gradients can be either Tensors or None, but got int"),
        (lambda x: x.sum().backward(inputs=[]), RuntimeError, "`inputs` argument to `backward()` cannot be empty"),
        (lambda x: torch.autograd.grad(x.sum(), []), RuntimeError, "`inputs` argument to `grad()` cannot be empty"),
        (lambda x: torch.autograd.grad(x.sum(), [3]), RuntimeError, "all inputs have to be Tensors or GradientEdges"),
        (lambda x: torch.autograd.backward([x, x], [x]), RuntimeError, "got 2 tensors and 1 gradients"),
        (lambda x: torch.autograd.grad(x.sum(), torch.ones(2)), RuntimeError, "One of the differentiated Tensors does"),
    ],
)
def test_what_is_refused(call: Callable[[Any], Any], error: type[Exception], message: str) -> None:
    x = leaf(1, 2)
    with pytest.raises(error) as caught:
        call(x)
    assert str(caught.value).startswith(message)
    assert x.grad is None
    assert torch.is_grad_enabled()


# A bias for a single row: the gradient is the row


def test_the_gradient_for_a_single_row_is_summed_only_where_the_sum_is_recorded() -> None:
    x, bias, rows = leaf(1, 2), leaf(3, 4), torch.ones(1, 2)
    y = ((rows * x + bias) ** 2).sum()
    recorded, _ = torch.autograd.grad(y, (bias, x), create_graph=True)
    plainly, _ = torch.autograd.grad(y, (bias, x), retain_graph=True)
    assert recorded.grad_fn.name() == "ViewBackward0"
    assert recorded.grad_fn.next_functions[0][0].name() == "SumBackward1"
    assert numbers(recorded) == numbers(plainly) == [8, 12]
    y.backward()
    bias.grad.add_(1)                                        # the memory of no other gradient
    assert numbers(bias.grad) == [9, 13]
    assert numbers(x.grad) == [8, 12]


def test_gradients_are_no_views_while_a_graph_of_a_batch_lives() -> None:
    """Then the rules of all passes compute with tensors."""
    weight = leaf(1, 2)
    alive = torch.vmap(lambda row: row * weight)(torch.ones(3, 2))
    x, bias = torch.ones(2, 2, requires_grad=True), leaf(0, 0)
    for y, to in ((x.t().exp(), x), (torch.ones(1, 2) + bias, bias)):
        (g,) = torch.autograd.grad(y.sum(), to)
        assert not g._is_view()
        assert g._base is None
    assert alive.grad_fn is not None
