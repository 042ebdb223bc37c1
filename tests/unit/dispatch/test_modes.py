"""Modes below autograd: the operators that they see, and what they leave behind. Facts taken from PyTorch 2.13."""

import threading
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

import retrograd as torch
from comparing.dispatch_calls import CALLS
from retrograd.foundations.modes import local
from retrograd.tensors.state.dispatch import DISPATCH
from retrograd.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode_temporarily,
)


class Names(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func).removeprefix("aten.").removesuffix(".default"))
        return func(*args, **(kwargs or {}))


def test_a_training_step_is_seen_operator_by_operator() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.ones(5, 4), torch.tensor([0, 1, 2, 0, 1])
    with Names() as forward:
        loss = torch.nn.functional.cross_entropy(model(x), y)
    with Names() as backward:
        loss.backward()
    with Names() as step:
        optimizer.step()
    assert forward.seen == ["t", "addmm", "relu", "detach", "t", "addmm", "_log_softmax", "detach", "nll_loss_forward"]
    assert backward.seen == [
        "ones_like", "nll_loss_backward", "detach", "_log_softmax_backward_data", "t", "mm", "t", "mm", "t",
        "sum.dim_IntList", "view", "detach", "t", "detach", "detach", "threshold_backward", "t", "mm", "t",
        "sum.dim_IntList", "view", "detach", "t", "detach"]
    assert step.seen == ["add_.Tensor"] * 4


def test_layers_of_images_are_seen_as_in_pytorch() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.MaxPool2d(2))
    images = torch.randn(2, 3, 8, 8)
    with Names() as seen:
        model(images).mean().backward()
    assert seen.seen == [
        "convolution", "add_.Tensor", "native_batch_norm", "max_pool2d_with_indices", "mean", "ones_like", "expand",
        "div.Scalar", "max_pool2d_with_indices_backward", "native_batch_norm_backward", "detach", "detach",
        "convolution_backward", "detach", "detach"]


class Given(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[Any, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls.append((func, args, kwargs))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("call", "name", "args", "kwargs"), [
    (lambda x: x * 2, "mul.Tensor", (2,), {}), (lambda x: torch.add(x, x, alpha=3), "add.Tensor", None, {"alpha": 3}),
    (lambda x: x.sum(0), "sum.dim_IntList", ([0],), {}), (lambda x: x[1:], "slice.Tensor", (0, 1, 2**63 - 1), {}),
    (lambda x: torch.full((2,), 1.5), "full.default", None, {"device": torch.device("cpu"), "pin_memory": False}),
    (lambda x: x.to(torch.float64), "_to_copy.default", (), {"dtype": torch.float64}),
    (lambda x: x.softmax(1), "_softmax.default", (1, False), {}), (lambda x: x > 0, "gt.Scalar", (0,), {}),
    (lambda x: x.clamp(0, 1), "clamp.default", (0, 1), {}), (lambda x: x.view(-1), "view.default", ([4],), {}),
    (lambda x: torch.nn.functional.gelu(x, approximate="tanh"), "gelu.default", (), {"approximate": "tanh"}),
    (lambda x: x.add_(1.5), "add_.Tensor", (1.5,), {}), (lambda x: x.zero_(), "zero_.default", (), {})])
def test_arguments_are_numbers_and_lists_without_defaults(call: Callable[[Any], Any], name: str, args: Any,
                                                          kwargs: dict[str, Any]) -> None:
    x = torch.ones(2, 2)
    with Given() as given:
        call(x)
    func, found, named = given.calls[0]
    assert str(func) == f"aten.{name}"
    if args is not None:
        assert found[0] is x
        assert found[1:] == args
    assert named == kwargs


def test_an_overload_says_what_it_is() -> None:
    func = torch.ops.aten.add_.Tensor
    assert (func.name(), str(func), func.namespace) == ("aten::add_.Tensor", "aten.add_.Tensor", "aten")
    assert func.overloadpacket is torch.ops.aten.add_
    assert func._schema.is_mutable
    assert not func.is_view
    assert torch.ops.aten.view.default.is_view
    assert str(func._schema) == "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    assert torch.ops.aten.addmm.overloads() == ["default", "dtype"]
    with pytest.raises(NotImplementedError, match="has a schema"):
        _ = torch.ops.aten.no_such_operator.default._schema


def test_tensors_are_those_of_the_program() -> None:
    class Keeps(Given):
        def __init__(self) -> None:
            super().__init__()
            self.made: list[Any] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            found = super().__torch_dispatch__(func, types, args, kwargs)
            self.made.append(found)
            return found

    p = torch.nn.Parameter(torch.ones(3))
    with Keeps() as keeps:
        q = p * 2
        r = q.exp()
    assert keeps.calls[0][1][0] is p
    assert keeps.calls[1][1][0] is q
    assert keeps.made[0] is q
    assert keeps.made[1] is r
    assert q.grad_fn.name() == "MulBackward0"
    r.sum().backward()
    assert p.grad.tolist() == (2 * q.exp()).tolist()


def test_what_a_mode_returns_is_the_result() -> None:
    class Halves(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {})) / 2

    x = torch.ones(2, requires_grad=True)
    with Halves():
        y = x * 3 + 1
    assert y.tolist() == [1.25, 1.25]
    y.sum().backward()
    assert x.grad.tolist() == [3., 3.]


def test_modes_nest_and_step_aside() -> None:
    with Names() as outer, Names() as inner:
        assert _get_current_dispatch_mode() is inner
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        torch.ones(2).exp()
        with _pop_mode_temporarily() as aside:
            assert aside is inner
            torch.ones(2)
        with _disable_current_modes():
            torch.ones(2).sin()
    assert inner.seen == ["ones", "exp"]
    assert outer.seen == ["ones", "exp", "ones"]
    assert _get_current_dispatch_mode() is None



def test_errors_in_a_mode_leave_nothing_behind() -> None:
    class Breaks(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            raise ValueError(f"broken {func}")

    class Refuses(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return NotImplemented

    def refused(x: Any) -> None:
        with Refuses():
            x.exp()

    before = local.thread.passing
    with pytest.raises(ValueError, match="broken aten.ones.default"), Breaks():
        torch.ones(2)
    with pytest.raises(TypeError, match="Multiple dispatch failed for 'torch._ops.aten.exp.default'"):
        refused(torch.ones(2))
    with pytest.raises(RuntimeError, match="The size of tensor a"), Names():
        torch.ones(2) + torch.ones(3)
    assert local.thread.passing is before
    assert _get_current_dispatch_mode() is None
    assert local.thread.transform is None
    assert DISPATCH.inert


def test_other_threads_do_not_see_a_mode() -> None:
    found: list[Any] = []
    with Names() as names:
        thread = threading.Thread(target=lambda: found.append((_get_current_dispatch_mode(), torch.ones(2).tolist())))
        thread.start()
        thread.join()
    assert found == [(None, [1., 1.])]
    assert names.seen == []


def test_a_compiled_function_runs_as_it_is() -> None:
    calls = []

    def function(x: Any) -> Any:
        calls.append(1)
        return (x * 2).exp()

    compiled, x = torch.compile(function), torch.ones(2)
    expected = [compiled(x) for _ in range(3)]
    before = len(calls)
    with Names() as names:
        found = compiled(x)
    assert names.seen == ["mul.Tensor", "exp"]
    assert len(calls) == before + 1
    assert found.tolist() == expected[0].tolist()


def test_a_mode_that_a_compiled_function_enters_sees_each_call() -> None:
    names = Names()

    def function(x: Any) -> Any:
        with names:
            return x * 2

    compiled = torch.compile(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            compiled(torch.ones(2))
    assert names.seen == ["mul.Tensor"] * 4


def test_modes_see_the_calls_of_transforms() -> None:
    x = torch.arange(6.).view(2, 3)
    with Given() as given:
        torch.vmap(lambda v: (v * 2).sum())(x)
    assert [(str(func), args[0].shape) for func, args, _ in given.calls] == [
        ("aten.mul.Tensor", (2, 3)), ("aten.sum.dim_IntList", (2, 3))]
    with Names() as names:
        value, tangent = torch.func.jvp(torch.sin, (x,), (x,))
    assert {"sin", "cos", "mul.Tensor"} <= {*names.seen}
    assert tangent.tolist() == (x.cos() * x).tolist()
    assert value.tolist() == x.sin().tolist()


def test_a_mode_beside_a_profile_and_a_count() -> None:
    layer = torch.nn.Linear(3, 4)
    with Names() as names, torch.profiler.profile() as profile:
        layer(torch.ones(2, 3))
    assert "aten::addmm" in {event.name for event in profile.events()}
    assert "addmm" in names.seen


def results(text: str, around: Any) -> list[Any]:
    """What a call and its backward pass give: results, names of nodes, gradients; or the error."""
    def leaf(*shape: int) -> Any:
        return torch.randn(*shape).requires_grad_()

    torch.manual_seed(0)
    s = (torch.eye(3) * 3 + torch.ones(3, 3) * 0.1).requires_grad_()
    names = {"torch": torch, "F": torch.nn.functional, "x": leaf(4, 5), "y": leaf(4, 5), "b": leaf(2, 4, 5), "s": s,
             "p": (torch.rand(4, 5) + 0.5).requires_grad_(), "w": leaf(3, 5), "v": leaf(3), "im": leaf(2, 3, 6, 6),
             "k": leaf(4, 3, 3, 3), "i": torch.tensor([0, 2]), "j": torch.zeros(4, 5, dtype=torch.int64),
             "c": torch.tensor([0, 1, 2, 3])}
    leaves = [names[name] for name in ["x", "y", "p", "b", "w", "v", "im", "k", "s"]]
    try:
        with around():
            found = eval(text, names)
            found = [*found] if isinstance(found, (list, tuple)) else [found]
            tensors = [t for t in found if isinstance(t, torch.Tensor) and t.grad_fn is not None]
            if tensors:
                torch.autograd.backward(tensors, [torch.ones_like(t) * 1.7 for t in tensors])
    except (RuntimeError, NotImplementedError) as error:
        return [str(error)]
    return [(t.stride(), t.grad_fn and t.grad_fn.name(), t.detach()) if isinstance(t, torch.Tensor) else t
            for t in found] + [leaf.grad for leaf in leaves]


def alike(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype is other.dtype and torch.allclose(one, other, rtol=1e-6, atol=1e-7, equal_nan=True)
    return bool(one == other)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [text for text in CALLS if "empty" not in text])
def test_numbers_and_graphs_are_those_without_a_mode(text: str) -> None:
    expected = results(text, nullcontext)
    assert alike(results(text, Names), expected)
    assert local.thread.transform is None
