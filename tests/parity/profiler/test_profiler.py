"""Profiles as PyTorch makes them: what is seen and what it is in, and what is shown, character for character."""

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch as theirs
from hypothesis import given, settings, strategies as st
from torch.autograd import profiler_util

import retrograd as ours
from retrograd.autograd import profiler_util as our_profiler_util

# What PyTorch does inside an operator, and where retrograd has no call of its own.
INNER = {
    "aten::_local_scalar_dense", "aten::_log_softmax", "aten::_softmax", "aten::_to_copy", "aten::as_strided",
    "aten::broadcast_tensors", "aten::copy_", "aten::detach", "aten::empty", "aten::empty_like",
    "aten::empty_strided", "aten::fill_", "aten::nll_loss_forward", "aten::nll_loss_nd", "aten::normal_",
    "aten::ones_like", "aten::resize_", "aten::resolve_conj", "aten::result_type", "aten::to", "aten::transpose",
    "aten::uniform_", "aten::zero_", "detach"}
# Operators of several kernels in PyTorch, of one here.
WHOLE = {"aten::addmm", "aten::arange", "aten::binary_cross_entropy_with_logits", "aten::mean", "aten::mm",
         "aten::mse_loss", "aten::mv", "aten::rsub"}
ENGINE = "autograd::engine::evaluate_function: "
Tree = list[tuple[str, Any]]


def tree(events: list[Any]) -> Tree:
    """The names that both have, each with those in it."""
    found: Tree = []
    for event in events:
        inside = [] if event.name in WHOLE else tree(event.cpu_children)
        name = event.name.replace("aten::reshape", "aten::view")       # PyTorch calls a view itself in places
        if name.startswith(ENGINE):
            inside = [(inner.replace("aten::add_", "aten::add"), below) for inner, below in inside]
        if name != ENGINE + "torch::autograd::AccumulateGrad" or inside:    # else the gradient was only asked for
            found += inside if name in INNER else [(name, inside)]
    return [(name, [] if [inner for inner, _ in inside] == [name] else inside) for name, inside in found]


def seen(torch: Any, program: Callable[..., Any]) -> Tree:
    torch.manual_seed(0)
    given = [torch.ones(3, 4), torch.full((3, 4), 0.5, requires_grad=True), torch.ones(5, 4, requires_grad=True),
             torch.zeros(5, requires_grad=True), torch.tensor([0, 1, 2])]
    with torch.autograd.profiler.profile() as prof:
        program(torch, *given)
    return tree([event for event in prof.function_events if event.cpu_parent is None])


def arithmetic(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    s * s, s + 1, 1 - s, s / s, -s, s.exp(), s.sum(0), s @ w.t(), s.sigmoid(), s > 0, s**2, torch.cat([s, s])


def in_place(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    s.add_(1).mul_(s).exp_().clamp_(0, 1).sub_(s)


def shapes(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    s.view(12), s.reshape(12), s.t().reshape(12), s.t().contiguous(), s.permute(1, 0), s.unsqueeze(0).squeeze(0), s.t()
    s.expand(2, 3, 4), s[0], s[1:2], s.flatten()


def products(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    v = torch.nn.functional.linear(s, w, b)
    v @ b, b @ b, torch.matmul(s, w.t()), torch.addmm(b, s, w.t()), v.mv(b), b.dot(b)


def creation(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    torch.randn(2), torch.rand(2), torch.ones(2), torch.zeros(2), torch.empty(2), torch.arange(3), torch.full((2,), 1.)
    torch.zeros_like(s), torch.rand_like(s), s.sum().item(), s.double()


def classification(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    torch.nn.functional.cross_entropy(x, t)


def losses(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    torch.nn.functional.mse_loss(x, s)
    torch.nn.functional.l1_loss(x, s)
    torch.nn.functional.binary_cross_entropy_with_logits(x, s)
    torch.nn.functional.nll_loss(x, t)


def backward(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    (x * s).sum().backward()


def used_twice(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    y = x.exp()
    (y * y).sum().backward()


def second_order(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    (g,) = torch.autograd.grad(x.sin().sum(), x, create_graph=True)
    (g * s).sum().backward()


def broadcast(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    torch.nn.functional.linear(x, w, b).sum().backward()


def own_function(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    class MyCube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x * x

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            return g * 3 * x * x

    MyCube.apply(x).sum().backward()


def blocks(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    record_function = torch.autograd.profiler.record_function

    @record_function("called")
    def call(y: Any) -> Any:
        return y.exp()

    with record_function("outer"):
        s * s
        with record_function("inner"):
            call(s)
    call(s)


def training(torch: Any, s: Any, x: Any, w: Any, b: Any, t: Any) -> None:
    optimizer = torch.optim.SGD([w], lr=0.1)
    optimizer.zero_grad()
    torch.nn.functional.linear(s, w, b).sum().backward()


PROGRAMS = [arithmetic, in_place, shapes, products, creation, classification, losses, backward, used_twice,
            second_order, broadcast, own_function, blocks, training]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_same_is_seen(program: Callable[..., Any]) -> None:
    assert seen(ours, program) == seen(theirs, program)


def test_a_step_of_an_optimizer_has_the_same_name() -> None:
    names = []
    for torch in (ours, theirs):
        x = torch.ones(2, requires_grad=True)
        x.grad = torch.ones(2)
        optimizer = torch.optim.SGD([x], lr=0.1)
        with torch.autograd.profiler.profile() as prof:
            optimizer.step()
        names.append(prof.function_events[0].name)
    assert names[0] == names[1] == "Optimizer.step#SGD.step"


# What is shown: both are given the same events.

def event_list(module: ModuleType, calls: list[Any], shown: tuple[bool, bool] = (False, False)) -> Any:
    events: list[Any] = []
    for i, (name, start, end, parent, shapes, memory, flops) in enumerate(calls):
        event = module.FunctionEvent(i + 1, name, 7, start, end, input_shapes=shapes, cpu_memory_usage=memory,
                                     flops=flops, stack=[], overload_name="")
        if parent is not None:
            event.cpu_parent = events[parent]
            events[parent].cpu_children.append(event)
        events.append(event)
    made = module.EventList(events, profile_memory=shown[0], with_flops=shown[1])
    made._tree_built = True
    return made


@st.composite
def calls(draw: st.DrawFn) -> list[Any]:
    names = st.one_of(st.sampled_from(["aten::mul", "aten::linear"]), st.text("abc:", min_size=1, max_size=70))
    shapes = st.sampled_from([[], [[2, 3], []], [[1]], [[9] * 30] * 2]) if draw(st.booleans()) else st.just([])
    sizes = st.one_of(st.integers(-3000, 3000), st.integers(-(1 << 40), 1 << 50))
    found: list[Any] = []
    for _ in range(draw(st.integers(0, 6))):
        parent = draw(st.sampled_from([None, *range(len(found))]))
        low, high = (0., draw(st.sampled_from([1., 2e3, 5e6]))) if parent is None else found[parent][1:3]
        start, end = sorted([draw(st.floats(low, high)), draw(st.floats(low, high))])
        found.append((draw(names), start, end, parent, draw(shapes), draw(sizes), max(0, draw(sizes))))
    return found


SORT_KEYS = [None, "cpu_time", "cpu_time_total", "self_cpu_time_total", "cuda_time_total", "xpu_time", "count",
             "self_cuda_memory_usage", "key"]


@settings(max_examples=300)
@given(calls(), st.fixed_dictionaries({
    "sort_by": st.sampled_from(SORT_KEYS), "row_limit": st.sampled_from([100, -1, 0, 1, 3]),
    "max_name_column_width": st.sampled_from([55, 20, None]),
    "max_shapes_column_width": st.sampled_from([80, 10, None]),
    "header": st.sampled_from([None, "A HEADER"]), "top_level_events_only": st.booleans(),
    "time_unit": st.sampled_from([None, "s", "ms", "us"])}), st.booleans(), st.tuples(st.booleans(), st.booleans()))
def test_the_same_is_shown(made: Any, options: dict[str, Any], by_shape: bool, shown: tuple[bool, bool]) -> None:
    (a, b) = (event_list(module, made, shown) for module in (our_profiler_util, profiler_util))
    assert a.table(**options) == b.table(**options)
    assert a.key_averages(by_shape).table(**options) == b.key_averages(by_shape).table(**options)
    assert str(a) == str(b)
    assert repr(a) == repr(b)
    assert repr(a.key_averages(by_shape)) == repr(b.key_averages(by_shape))
    assert repr(a.total_average()) == repr(b.total_average())
    assert a.self_cpu_time_total == b.self_cpu_time_total


def test_a_profile_from_before_to_after() -> None:
    for facts in zip(*[_facts(torch) for torch in (ours, theirs)], strict=True):
        assert facts[0] == facts[1]


def _facts(torch: Any) -> list[Any]:
    """What a profile answers before, during and after, in so far as it does not depend on the time."""
    prof = torch.autograd.profiler.profile()
    facts: list[Any] = [str(prof), repr(prof)]
    with prof as entered:
        facts += [entered is prof, str(prof)]
        torch.ones(2).exp()
        try:
            prof.__enter__()
        except RuntimeError as error:
            facts.append(str(error).partition(".")[0])
    facts += [str(prof) == prof.table(), repr(prof) == repr(prof.function_events)]
    for show in (prof.table, prof.key_averages().table):
        try:
            show(sort_by="nope")
        except AttributeError as error:
            facts.append(str(error))
    with torch.autograd.profiler.profile() as prof:
        pass
    facts += [str(prof), repr(prof), prof.table(), prof.key_averages(), prof.self_cpu_time_total,
              repr(prof.total_average())]
    with torch.autograd.profiler.profile(enabled=False) as entered:
        facts.append(entered)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.autograd.profiler.profile(use_device="abacus")
        if not theirs.cuda.is_available():
            prof = torch.autograd.profiler.profile(use_cuda=True)
            facts += [prof.use_cuda, prof.use_device]
    return [*facts, [(warning.category, str(warning.message)) for warning in caught]]
