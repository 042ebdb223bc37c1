"""A compiled function whose results are differentiated outside of it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd import nn


@pytest.fixture(params=["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
def compiling(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """`torch.compile`, with each of the two ways to run a plan."""
    return lambda function: torch.compile(function, backend=request.param, fullgraph=True)


def leaf(*numbers: float) -> Any:
    """A leaf that requires grad."""
    return torch.tensor(numbers, requires_grad=True)


def test_a_model_with_the_loss_outside(compiling: Any) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    compiled = compiling(model)
    for _ in range(3):
        x, found = torch.randn(5, 3, requires_grad=True), []
        for function in (compiled, model):
            function(x).square().sum().backward()
            found.append([x.grad, *[p.grad for p in model.parameters()]])
            x.grad = None
            model.zero_grad()
        assert all([torch.allclose(a, b, rtol=1e-5, atol=1e-6) for a, b in zip(*found)])


def test_two_forward_passes_before_a_backward_pass(compiling: Any) -> None:
    compiled = compiling(lambda x: (x.exp() * x).sin())
    xs = [leaf(float(i), i + 0.5) for i in range(4)]
    ys = [compiled(x) for x in xs]
    for x, y in zip(xs, ys):
        y.sum().backward()
        again = x.detach().requires_grad_()
        (again.exp() * again).sin().sum().backward()
        assert torch.allclose(x.grad, again.grad)
        assert torch.allclose(y, (x.exp() * x).sin())


def test_a_second_pass_and_retain_graph(compiling: Any) -> None:
    compiled = compiling(lambda x: (x * x).sum())
    for _ in range(2):
        x = leaf(1., 2.)
        y = compiled(x)
        y.backward(retain_graph=True)
        y.backward()
        assert x.grad.tolist() == [4, 8]
        with pytest.raises(RuntimeError, match="^Trying to backward through the graph a second time"):
            y.backward()


def test_a_write_between_the_passes(compiling: Any) -> None:
    compiled = compiling(lambda x, w: (x * w, x.exp()))
    for _ in range(3):
        x, w = leaf(1., 2.), torch.tensor([3., 4.])
        y, z = compiled(x, w)
        w.add_(1)
        with pytest.raises(RuntimeError, match="^one of the variables needed for gradient computation has been"):
            y.sum().backward()
        x, w = leaf(1., 2.), torch.tensor([3., 4.])
        y, z = compiled(x, w)
        with torch.no_grad():
            z.zero_()                                      # its rule needs the result
        with pytest.raises(RuntimeError, match="^one of the variables needed for gradient computation has been"):
            (y.sum() + z.sum()).backward()


def test_results_that_are_not_used(compiling: Any) -> None:
    p, q = leaf(1., 2.), leaf(3., 4.)
    compiled = compiling(lambda: (p * 2, q * q, p * q))
    for _ in range(2):
        first, *_ = compiled()
        first.sum().backward()
        assert p.grad.tolist() == [2, 2]
        assert q.grad is None
        p.grad = None
        assert [g if g is None else g.tolist() for g in torch.autograd.grad(
            compiled()[1].sum(), [p, q], allow_unused=True)] == [None, [6, 8]]


def test_hooks_on_results_and_on_leaves(compiling: Any) -> None:
    p, seen = leaf(1., 2.), []
    p.register_hook(lambda g: g * 10)
    compiled = compiling(lambda: p * p)
    for _ in range(3):
        p.grad = None
        y = compiled()
        y.register_hook(lambda g: seen.append(g.tolist()))
        y.retain_grad()
        y.sum().backward()
        assert p.grad.tolist() == [20, 40]
        assert y.grad.tolist() == [1, 1]
    assert seen == [[1, 1]] * 3


def test_without_recording(compiling: Any) -> None:
    p = leaf(1., 2.)
    compiled = compiling(lambda: p * 2)
    for _ in range(2):
        with torch.no_grad():
            assert not compiled().requires_grad
        assert compiled().requires_grad
        with torch.inference_mode():
            y = compiled()
        assert y.is_inference()
        assert not y.requires_grad


def test_second_derivatives_that_are_refused(compiling: Any) -> None:
    compiled = compiling(lambda x: torch.nn.functional.dropout(x ** 3, 0.5))
    for _ in range(2):
        x = leaf(2.)
        with pytest.raises(RuntimeError, match=re.escape(
                "torch.compile with aot_autograd does not currently support double backward")):
            torch.autograd.grad(compiled(x).sum(), x, create_graph=True)


def test_views_of_arguments_and_of_parameters(compiling: Any) -> None:
    p = leaf(1., 2., 3., 4.)
    compiled = compiling(lambda x: (p.view(2, 2), x.t(), x.detach(), x[0], p * 2))
    for _ in range(3):
        x = torch.tensor([[0., 1.], [2., 3.]], requires_grad=True)
        a, b, c, d, e = compiled(x)
        assert a._base is p
        assert b._base is x
        assert (b.stride(), c.requires_grad) == ((1, 2), False)
        (a.sum() + (b * b).sum() + d.sum() + e.sum()).backward()
        assert p.grad.tolist() == [3, 3, 3, 3]
        assert x.grad.tolist() == [[1, 3], [4, 6]]
        p.grad = None
        with torch.no_grad():
            c[0, 0] = 9.
        assert x[0, 0].item() == 9


def test_what_is_returned_is_the_same_thing(compiling: Any) -> None:
    p, inner = leaf(1.), [1, 2]

    def function(x: Any, given: Any) -> Any:
        y = x + 1
        return y, y, x, p, given, inner, {"a": (y, 3)}, None

    compiled = compiling(function)
    for _ in range(3):
        x, given = torch.ones(2), [torch.ones(1)]
        first, second, same, leaf_, list_, again, parts, nothing = compiled(x, given)
        assert first is second is parts["a"][0]
        assert (same is x, leaf_ is p, list_ is given, again is inner, parts["a"][1], nothing) == (
            True, True, True, True, 3, None)


def test_arguments_of_any_kind(compiling: Any) -> None:
    def function(x: Any, *rest: Any, scale: Any = 2, **named: Any) -> Any:
        return [x * scale, *[r + 1 for r in rest], named["deep"]["y"][0] * 3]

    compiled = compiling(function)
    base = torch.arange(12.).reshape(3, 4)
    given: list[Any] = [base, base.t(), base[::2, 1:], torch.tensor(2.), torch.zeros(0, 3), torch.arange(3),
                        torch.tensor([True, False]), torch.tensor([1 + 2j]), torch.ones(2, dtype=torch.float64)]
    for x in given[:7]:
        for _ in range(2):
            found, wanted = [f(x, *given[3:5], scale=3, deep={"y": (given[2],)}) for f in (compiled, function)]
            assert all([torch.equal(a, b) and a.dtype == b.dtype and a.stride() == b.stride()
                        for a, b in zip(found, wanted)])
        torch.compiler.reset()


def test_arguments_that_share_memory(compiling: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        x.add_(1)
        return y * 2

    compiled = compiling(function)
    for _ in range(2):
        x = torch.ones(3)
        assert compiled(x, x[1:]).tolist() == [4, 4]
        assert compiled(torch.ones(3), torch.ones(2)).tolist() == [2, 2]
        assert compiled(x, x).tolist() == [6, 6, 6]


def test_writes_are_counted(compiling: Any) -> None:
    p = torch.ones(2)

    def function(x: Any) -> None:
        x.mul_(p)
        p.add_(1)
        x.data.add_(1)

    compiled = compiling(function)
    for i in range(3):
        x, before = torch.ones(2), p._version
        compiled(x)
        assert x._version == 1
        assert p._version == before + 1
        assert x.tolist() == [i + 2, i + 2]


@pytest.mark.parametrize("size", [3, 4000])
def test_results_of_earlier_calls_stay(size: int, compiling: Any) -> None:
    compiled = compiling(lambda x: x * 2 + 1)
    first = compiled(torch.zeros(size))
    second = {"a": compiled(torch.ones(size))}
    third = compiled(torch.ones(size) * 2)
    assert (first.unique().tolist(), second["a"].unique().tolist(), third.unique().tolist()) == ([1], [3], [5])


def test_gradients_that_the_program_keeps_stay(compiling: Any) -> None:
    p = torch.ones(4000, requires_grad=True)

    def step(x: Any) -> None:
        p.grad = None
        (p * x).sum().backward()

    compiled, kept = compiling(step), []
    for i in range(5):
        compiled(torch.full((4000,), float(i)))
        kept.append(p.grad)
        if i % 2:
            p.grad = None
    assert [g.unique().tolist() for g in kept] == [[float(i)] for i in range(5)]


@pytest.mark.parametrize("size", [3, 4000])
def test_gradients_of_earlier_passes_stay(size: int, compiling: Any) -> None:
    """A pass outside does not write over gradients that the program has of earlier passes."""
    scale = torch.linspace(0.5, 1., size, requires_grad=True)
    compiled = compiling(lambda x: (x * scale.exp()).sin())
    xs = [torch.full((size,), i / 8) for i in range(5)]
    found = [torch.autograd.grad(compiled(x).sum(), scale)[0] for x in xs]
    for x, g in zip(xs, found):
        expected, = torch.autograd.grad((x * scale.exp()).sin().sum(), scale)
        assert torch.allclose(g, expected, rtol=1e-5, atol=1e-6)


def test_memory_that_the_program_keeps_in_other_ways(compiling: Any) -> None:
    """Views and NumPy arrays of results keep their numbers, and so do those of results that share memory."""
    def step(x: Any) -> Any:
        y = x * 2
        return y, y.t(), (x + 1).cumsum(0)

    compiled, rows, arrays, totals = compiling(step), [], [], []
    for i in range(9):
        y, turned, total = compiled(torch.full((40, 50), float(i)))
        assert turned.data_ptr() == y.data_ptr()
        if i % 3 == 0:
            rows.append(y[1])
        elif i % 3 == 1:
            arrays.append(turned.numpy())
        else:
            totals.append((total, y.detach()))
    assert [row.unique().tolist() for row in rows] == [[0.], [6.], [12.]]
    assert [(array.min(), array.max()) for array in arrays] == [(2, 2), (8, 8), (14, 14)]
    assert [y.unique().tolist() for _, y in totals] == [[4.], [10.], [16.]]
    assert [total[-1].unique().tolist() for total, _ in totals] == [[120.], [240.], [360.]]


def test_a_write_to_a_tensor_with_a_history_outside() -> None:
    def write(x: Any, a: Any) -> Any:
        x.mul_(2)
        return x * 2

    def write_to_a_view(x: Any, a: Any) -> Any:
        with torch.no_grad():
            x.relu_()
        return x * 2

    for function, make in ((write, lambda a: a * 1), (write_to_a_view, lambda a: a[0])):
        compiled, found = torch.compile(function, backend="numpy"), []
        for call in (function, compiled, function, compiled):
            a = torch.arange(6.0).reshape(2, 3).clone().requires_grad_()
            x = make(a)
            with warnings.catch_warnings(action="ignore"):
                (call(x, a).sum() + x.sum()).backward()
            found.append(a.grad.tolist())
        assert found == found[:1] * 4


def test_a_flattened_result_is_not_the_memory_of_the_next(compiling: Any) -> None:
    compiled = compiling(lambda x: x.flatten())
    results = [compiled(torch.full((3, 2), float(k)).t()) for k in range(4)]
    assert [result.tolist() for result in results] == [[float(k)] * 6 for k in range(4)]


def test_changes_that_no_line_shows() -> None:
    def turn(x: Any, y: Any) -> Any:
        x.t_()
        return y.sin_().add_(x)

    def leave_a_stale_view(x: Any, box: dict[str, Any]) -> None:
        box["view"] = (x * 2).round().chunk(2)[0]
        box["view"].detach().relu_()

    def step_without_a_derivative(q: Any, x: Any) -> Any:
        with torch.no_grad():
            view = q.t()
        return torch.maximum((view * x) // 0.5, x)

    def seen(function: Any) -> list[Any]:
        x, y, box, q = torch.ones(3), torch.ones(3), {"view": torch.ones(1)}, torch.ones(3, 3, requires_grad=True)
        with warnings.catch_warnings(action="ignore"):
            found = function(turn)(x, y), x._version
            function(leave_a_stale_view)(torch.ones(4, requires_grad=True), box)
            with pytest.raises(RuntimeError, match="is a view and its base") as stale:
                _ = box["view"].is_leaf
            result = function(step_without_a_derivative)(q, torch.ones(3, 3))
            with pytest.raises(RuntimeError, match="floor_divide is not implemented") as missing:
                result.sum().backward()
        return [found[0].tolist(), found[1], str(stale.value), str(missing.value)]

    compiled = {f: torch.compile(f, backend="numpy") for f in (turn, leave_a_stale_view, step_without_a_derivative)}
    for _ in range(3):
        assert seen(compiled.__getitem__) == seen(lambda function: function)


def test_data_of_another_shape_after_the_graph() -> None:
    def replace(p: Any) -> Any:
        y = p.logsumexp(-1)
        p.data = torch.ones(3, 3, 3).movedim(0, -1)
        return y

    for function in (replace, torch.compile(replace)):
        p = torch.ones(3, requires_grad=True)
        with warnings.catch_warnings(action="ignore"):
            function(p).backward()
        assert torch.allclose(p.grad, torch.full((3,), 1 / 3))


def _unread(u: Any) -> Any:
    w = u * u
    return w * 2, w.sqrt(), u / u.norm()


@pytest.mark.parametrize("place", range(3))
def test_a_result_without_a_gradient_counts_for_nothing(place: int, compiling: Any) -> None:
    """Zeros in the place of the absent gradient would be multiplied by infinity."""
    compiled = compiling(_unread)
    for start in (torch.zeros(3), torch.ones(3), torch.zeros(3)):
        found = []
        for function in (_unread, compiled):
            u = start.clone().requires_grad_()
            function(u)[place].sum().backward()
            found.append(u.grad)
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("size", [1, 3, 40, 4000])
@pytest.mark.parametrize("function", [
    lambda x, w: (x * w).sin(), lambda x, w: x + w, lambda x, w: (x + w) * 2, lambda x, w: (x * w).sum(),
    lambda x, w: torch.cat([x, w]), lambda x, w: x * w + x, lambda x, w: x.exp() * w.detach(), lambda x, w: x.sum()])
def test_gradients_of_large_arrays_count_as_many_writes(function: Any, size: int, compiling: Any) -> None:
    compiled = compiling(function)
    x, w = torch.ones(size, requires_grad=True), torch.ones(size, requires_grad=True)
    found: list[list[Any]] = [[], []]
    for call, versions in zip((function, compiled), found):
        for again in (False, True, True, False, True):
            for each in () if again else (x, w):
                each.grad = None
            result = call(x, w)
            result.backward(torch.ones_like(result))
            versions.append([None if each.grad is None else each.grad._version for each in (x, w)])
    assert found[0] == found[1]
