"""The profiler: what it sees and under which names, and that while it is off nothing of it is there.

The names were taken from PyTorch 2.13.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import retrograd as torch
from retrograd.autograd.profiler import FunctionEvent, profile, record_function
from retrograd.foundations.modes import ThreadState, local
from retrograd.tensors.state.dispatch import DISPATCH

functional = torch.nn.functional
ENGINE = "autograd::engine::evaluate_function: "
ACCUMULATE = "torch::autograd::AccumulateGrad"
Tree = list[Any]


def tree(events: list[FunctionEvent]) -> Tree:
    """Names, and for an event with others in it a pair of the name and these."""
    return [event.name if not event.cpu_children else (event.name, tree(event.cpu_children)) for event in events]


def seen(call: Callable[..., Any], *args: Any, **options: Any) -> Tree:
    """What a profile sees of a call."""
    with profile(**options) as prof:
        call(*args)
    return tree([event for event in prof.function_events if event.cpu_parent is None])


def leaf(*shape: int) -> Any:
    return torch.ones(shape, requires_grad=True)


# While it is off


def nothing_is_in_place() -> bool:
    """Whether kernels are called plainly, nobody observes, and plain tensors pass without a look."""
    thread = local.thread
    return thread.observer is None and thread.transform is None and DISPATCH.plain is DISPATCH.tensor


@pytest.fixture(autouse=True)
def everything_as_it_was() -> Iterator[None]:
    run = local.thread.run
    assert nothing_is_in_place()
    yield
    assert nothing_is_in_place()
    assert local.thread.run is run


def test_no_operation_asks_for_an_observer(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Spied(ThreadState):
        @property
        def observer(self) -> Any:      # type: ignore[override]
            asked.append(True)

        @observer.setter
        def observer(self, value: Any) -> None:
            assert value is None

    x, y = leaf(2, 3), torch.ones(3, 2)
    monkeypatch.setattr(local, "thread", Spied())
    out = (x.reshape(3, 2) * y + 1).exp() @ y.t()
    out = torch.nn.functional.mse_loss(out.tanh()[0], torch.zeros(3)).sum()
    out.add_(1)
    assert not asked
    out.backward()
    assert len(asked) < 10              # once for the pass, and a few times for what is not on its short way


def test_an_open_profile_changes_no_result() -> None:
    def computed() -> list[Any]:
        torch.manual_seed(3)
        x, w, b = torch.randn(4, 3, requires_grad=True), torch.randn(2, 3, requires_grad=True), leaf(2)
        hidden = functional.linear(x, w, b).tanh()
        hidden.retain_grad()
        hidden.register_hook(lambda g: g * 3)
        copy = hidden.clone()
        copy[0] = copy[1] * 2
        copy.mul_(hidden)
        parts = copy.reshape(-1).split(3)
        loss = functional.cross_entropy(copy + b, torch.tensor([0, 1, 0, 1])) + (parts[0] * parts[1]).sum()
        loss.backward(retain_graph=True)
        first, = torch.autograd.grad(loss, x, create_graph=True)
        first.pow(2).sum().backward()
        z = torch.tensor([1 + 2j, 3j], requires_grad=True)
        (z * z.conj() * 1j).sum().abs().backward()
        return [loss, first, x.grad, w.grad, b.grad, hidden.grad, z.grad]

    plain = computed()
    with profile():
        watched = computed()
    for a, b in zip(plain, watched, strict=True):
        assert a.dtype is b.dtype
        assert a.numpy(force=True).tobytes() == b.numpy(force=True).tobytes()
    assert watched[2].grad_fn is None
    assert not watched[4].requires_grad


def test_functions_stay_themselves_while_they_are_watched() -> None:
    reshape, method = torch.reshape, torch.Tensor.reshape
    with profile():
        assert torch.reshape is reshape
        assert torch.Tensor.reshape is method
        assert (reshape.__name__, reshape.__module__) == ("reshape", "retrograd.tensors.functions.shapes.shape")
        assert torch.ones(2, 2, dtype=torch.int64).reshape(shape=(4,)).tolist() == [1, 1, 1, 1]


def test_an_error_leaves_everything_off_and_the_events_readable() -> None:
    @record_function("outer")
    def fails() -> None:
        torch.ones(3) * 2
        functional.linear(torch.ones(2, 3), torch.ones(2, 2))

    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"), profile() as prof:
        fails()
    outer, *_ = prof.function_events
    assert tree([outer])[0][1][:3] == ["aten::ones", "aten::mul", "aten::ones"]
    assert outer.cpu_children[-1].name == "aten::linear"
    assert all(event.cpu_time_total > 0 for event in prof.function_events)


# Nesting, threads


def test_a_profile_is_not_reentrant() -> None:
    with profile() as prof:
        with pytest.raises(RuntimeError, match="Profiler context manager is not reentrant"):
            prof.__enter__()
        torch.ones(2).exp()
    assert tree(prof.function_events) == ["aten::ones", "aten::exp"]
    with pytest.raises(RuntimeError, match="not reentrant"), prof:
        pass


def test_the_inner_of_two_profiles_sees_what_runs_in_it() -> None:
    x = torch.ones(2)
    with profile() as outer:
        x.exp()
        with profile() as inner:
            x.sin()
        x.cos()
    assert tree(outer.function_events) == ["aten::exp", "aten::cos"]
    assert tree(inner.function_events) == ["aten::sin"]


def test_profiles_closed_in_the_order_they_were_opened() -> None:
    x = torch.ones(2)
    first, second, third = profile(), profile(), profile()
    for prof in (first, second, third):
        prof.__enter__()
    second.__exit__(None, None, None)
    x.exp()
    first.__exit__(None, None, None)
    x.sin()
    third.__exit__(None, None, None)
    x.cos()
    assert [tree(prof.function_events) for prof in (first, second, third)] == [[], [], ["aten::exp", "aten::sin"]]


def in_thread(call: Callable[[], Any]) -> None:
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def test_only_the_thread_that_opened_it_is_watched() -> None:
    x = torch.ones(2)
    results: list[Any] = []
    with profile() as prof:
        x.exp()
        in_thread(lambda: results.append((x.sin().reshape(1, 2), local.thread.observer)))
        with profile() as other:
            pass
        in_thread(lambda: results.append(seen(lambda: x.reshape(1, 2))))
        x.reshape(2, 1)
    assert tree(prof.function_events) == ["aten::exp", ("aten::reshape", ["aten::view"]), "aten::view"]
    assert results[0][0].shape == (1, 2)
    assert results[0][1] is None
    assert results[1] == [("aten::reshape", ["aten::view"])]
    assert tree(other.function_events) == []


def test_a_profile_closed_in_another_thread() -> None:
    prof = profile()
    prof.__enter__()
    torch.ones(2).exp()
    in_thread(lambda: prof.__exit__(None, None, None))
    torch.ones(2).sin()
    assert tree(prof.function_events) == ["aten::ones", "aten::exp"]


def test_a_profile_that_is_not_enabled() -> None:
    prof = profile(enabled=False)
    with prof as entered:
        assert nothing_is_in_place()
    assert entered is None
    assert (prof.table(), prof.function_events) == ("", [])


def test_a_profile_opened_and_closed_inside_a_pass() -> None:
    x, prof = leaf(2), profile()
    y = x.exp()
    y.register_hook(lambda g: prof.__enter__() and None)
    y.sin().sum().backward()
    prof.__exit__(None, None, None)
    assert [event.name for event in prof.function_events][:1] == ["ExpBackward0"]
    other = profile()
    y = x.exp()
    y.register_hook(lambda g: other.__exit__(None, None, None))
    with other:
        y.sin().sum().backward()
    assert ENGINE + "SinBackward0" in [event.name for event in other.function_events]


# What is seen


def test_names_of_operators() -> None:
    x = torch.ones(2, 3)
    assert seen(lambda: (x * 2, 1 - x, x / x, -x, x @ x.t(), x.sum(0), x.mT, x.clone())) == [
        "aten::mul", "aten::rsub", "aten::div", "aten::neg", "aten::t", ("aten::matmul", ["aten::mm"]), "aten::sum",
        "aten::transpose", "aten::clone"]
    assert seen(lambda: (x.add_(1), x.mul_(x), x.exp_(), x.zero_(), x.copy_(x), x.fill_(1.))) == [
        "aten::add_", "aten::mul_", "aten::exp_", "aten::zero_", "aten::copy_", "aten::fill_"]


def test_operators_that_share_a_kernel() -> None:
    m, v, s = torch.ones(3, 3), torch.ones(3), torch.ones(2, 3, 3)
    assert seen(lambda: (m.mm(m), m.mv(v), v.dot(v), s.bmm(s), m.addmm(m, m), s.baddbmm(s, s))) == [
        "aten::mm", "aten::mv", "aten::dot", "aten::bmm", "aten::addmm", "aten::baddbmm"]


def test_composed_functions_have_their_operators_in_them() -> None:
    x, w, b = torch.ones(2, 3), torch.ones(4, 3), torch.ones(4)
    assert seen(functional.linear, x, w, b) == [("aten::linear", ["aten::t", "aten::addmm"])]
    assert seen(torch.nn.Linear(3, 4), x) == [("aten::linear", ["aten::t", "aten::addmm"])]
    assert seen(torch.matmul, x, b[:3]) == [("aten::matmul", ["aten::mv"])]
    assert seen(x.reshape, 6) == [("aten::reshape", ["aten::view"])]
    assert seen(x.t().reshape, 6) == [("aten::reshape", ["aten::clone", "aten::_unsafe_view"])]
    assert seen(x.double) == [("aten::to", ["aten::_to_copy"])]
    assert seen(x.to, torch.float32) == ["aten::to"]
    target = torch.tensor([0, 1])
    assert seen(functional.cross_entropy, x, target) == [
        ("aten::cross_entropy_loss", ["aten::log_softmax", "aten::nll_loss"])]
    assert seen(functional.l1_loss, x, x) == [("aten::l1_loss", ["aten::sub", "aten::abs", "aten::mean"])]
    assert seen(functional.mse_loss, x, x) == ["aten::mse_loss"]


def test_creation() -> None:
    x = torch.ones(2)
    assert seen(lambda: (torch.randn(2), torch.ones(2), torch.zeros_like(x), torch.arange(3))) == [
        "aten::randn", "aten::ones", "aten::zeros_like", "aten::arange"]
    assert seen(lambda: (x.detach(), x[0].item())) == ["aten::detach", "aten::select", "aten::item"]


def backward_of(*nodes: Any) -> Tree:
    """The steps of a backward pass: for each node its name and what is in it, and what is beside it in the step."""
    return [(ENGINE + name, [(name, inside) if inside else name, *beside]) for name, inside, *beside in nodes]


def test_a_backward_pass() -> None:
    x, y = leaf(3), torch.ones(3)
    loss = (x * y).sum()
    assert seen(loss.backward) == backward_of(
        ("SumBackward0", ["aten::expand"]), ("MulBackward0", ["aten::mul"]), (ACCUMULATE, []))
    loss = (x * x).sum()
    assert seen(loss.backward) == backward_of(
        ("SumBackward0", ["aten::expand"]), ("MulBackward0", ["aten::mul", "aten::mul"], "aten::add"),
        (ACCUMULATE, ["aten::add_"]))           # x has a gradient by now, and this one is added to it
    loss = (leaf(4, 3) * x).sum()               # broadcast, so the gradient is summed up
    assert seen(loss.backward)[1] == backward_of(
        ("MulBackward0", ["aten::mul", "aten::mul"], "aten::sum", "aten::view"))[0]


def test_the_gradient_of_what_was_written_through_a_view() -> None:
    y = leaf(2, 3).clone()
    y[0].mul_(2)
    assert seen(y.sum().backward)[1][0] == ENGINE + "torch::autograd::CopySlices"


def test_what_no_gradient_reaches_is_not_seen() -> None:
    x = leaf(4)
    a, _ = x.split(2)
    names = [name for name, *_ in seen(lambda: torch.autograd.grad(a.sum(), x))[1:]]
    assert names == [ENGINE + "SumBackward0", ENGINE + "SplitBackward0"]


def test_hooks_run_in_the_step_of_their_node() -> None:
    x = leaf(2)
    y = x.exp()
    y.register_hook(lambda g: g.cos())
    assert seen(y.sum().backward)[1] == (
        ENGINE + "ExpBackward0", ["aten::cos", ("ExpBackward0", ["aten::mul"])])


class MyCube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 3 * x * x


def test_a_function_of_the_user_forward_and_backward() -> None:
    x = leaf(2)
    assert seen(lambda: MyCube.apply(x).backward(torch.tensor([1., 2.]))) == [
        ("MyCube", ["aten::mul", "aten::mul"]),
        *backward_of(("MyCubeBackward", ["aten::mul", "aten::mul", "aten::mul"]), (ACCUMULATE, []))]


def test_a_step_of_an_optimizer() -> None:
    x = leaf(2)
    inside = {torch.optim.SGD: ["aten::add_"], torch.optim.Adam: [
        f"aten::{name}" for name in ("zeros_like", "zeros_like", "add_", "lerp_", "mul_", "addcmul_", "sqrt", "add_",
                                     "addcdiv_")]}
    for kind, calls in inside.items():
        optimizer = kind([x], lr=0.1)
        x.grad = torch.ones(2)
        name = kind.__name__
        assert seen(lambda made=optimizer: (made.step(), made.zero_grad())) == [
            (f"Optimizer.step#{name}.step", calls), f"Optimizer.zero_grad#{name}.zero_grad"]


def test_named_blocks_and_functions() -> None:
    @record_function("named")
    def call(x: Any, again: bool) -> Any:
        """Its words."""
        return call(x, False) if again else x.exp()

    x = torch.ones(2)
    assert seen(lambda: (call(x, True), call(x, False))) == [
        ("named", ["aten::exp"]), ("named", ["aten::exp"])]
    assert (call.__name__, call.__doc__) == ("call", "Its words.")

    def blocks() -> None:
        with record_function("outer", "notes") as outer, record_function("inner"):
            assert (outer.name, outer.args) == ("outer", "notes")
            x.exp()

    assert seen(blocks) == [("outer", [("inner", ["aten::exp"])])]
    blocks()                                            # nobody watches, nothing happens
    with pytest.raises(RuntimeError, match="Expected a value of type 'str' for argument 'name'"), record_function(3):
        pass


def test_blocks_that_overlap_are_beside_each_other() -> None:
    first, second, unfinished = record_function("first"), record_function("second"), record_function("unfinished")

    def overlapping() -> None:
        first.__enter__()
        torch.ones(1)
        second.__enter__()
        first.__exit__(None, None, None)
        torch.zeros(1)
        second.__exit__(None, None, None)
        unfinished.__enter__()

    assert seen(overlapping) == [("first", ["aten::ones"]), ("second", ["aten::zeros"]), "unfinished"]
    unfinished.__exit__(None, None, None)


def test_events_lie_in_time_inside_what_they_are_in() -> None:
    x = leaf(3, 3)
    with profile() as prof:
        functional.linear(x, x).sum().backward()
    previous = -1.0
    for event in prof.function_events:
        start, end = event.time_range.start, event.time_range.end
        assert previous <= start <= end
        previous = start
        assert event.self_cpu_time_total >= 0
        for child in event.cpu_children:
            assert child.cpu_parent is event
            assert start <= child.time_range.start <= child.time_range.end <= end
    top = sum(event.cpu_time_total for event in prof.function_events if event.cpu_parent is None)
    assert prof.self_cpu_time_total == pytest.approx(top)
