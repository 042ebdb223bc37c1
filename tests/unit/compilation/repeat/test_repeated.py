"""Repeated calls: views of arguments, gradients that nobody reads, results in memory of the plan, counts of writes."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.graph import versions

BACKENDS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]
VIEWS: dict[str, Any] = {
    "itself": lambda x: x,
    "with a dim more": lambda x: x.unsqueeze(1),
    "from a row on": lambda x: x[2:],
    "from a column on": lambda x: x[:, 3:],
    "every other row of the columns": lambda x: x.t()[1:, ::2],
    "a view of a view": lambda x: x[1:].t()[2:].unsqueeze(0),
    "one row": lambda x: x[3],
    "nothing": lambda x: x[:0]}
ARGUMENTS: dict[str, Any] = {
    "rows": lambda whole: whole[:6, :6].clone(), "a transpose": lambda whole: whole[:6, :6].clone().t(),
    "inside of another array": lambda whole: whole[1:7, 2:8], "every other row": lambda whole: whole[:12:2, :6]}


def same_bits(found: Any, expected: Any) -> bool:
    one, other = found.detach().numpy(), expected.detach().numpy()
    return bool(one.shape == other.shape and one.tobytes() == other.tobytes())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.sampled(3)
def test_a_loop_reads_a_view_of_an_argument(view: str, argument: str, backend: str) -> None:
    def function(x: Any) -> Any:
        part = VIEWS[view](x)
        return part * 3 - part / 7, x + 1

    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=False)
    wholes = [torch.randn(12, 12) for _ in range(4)]
    for whole in wholes:                                     # other memory in each call
        x = ARGUMENTS[argument](whole)
        for found, expected in zip(compiled(x), function(x), strict=True):
            assert same_bits(found, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loop_writes_to_a_view_of_an_argument(backend: str) -> None:
    def function(x: Any) -> None:
        x[1:, 2:].mul_(2).add_(x[:-1, :-2])

    compiled = torch.compile(function, backend=backend, fullgraph=True, dynamic=False)
    for whole in [torch.randn(8, 8) for _ in range(4)]:
        x, expected = whole[1:6, 1:6], whole.clone()[1:6, 1:6]
        function(expected)
        compiled(x)
        assert same_bits(x, expected)
        assert x._version > 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_view_that_starts_elsewhere_for_another_size(backend: str) -> None:
    def function(x: Any) -> Any:
        return x[x.shape[0] - 2:] * 2 + x.t()[1:].sum()

    compiled = torch.compile(function, backend=backend)
    for rows in (3, 5, 9, 4, 17, 6):
        x = torch.arange(rows * 3.0).view(rows, 3)
        assert compiled(x).tolist() == function(x).tolist()


class Fit:
    """Two parameters and a step that fits them. Their gradients may lie anywhere."""

    def __init__(self, zeroed: bool) -> None:
        torch.manual_seed(0)
        self.a, self.b = [torch.randn(4, requires_grad=True) for _ in range(2)]
        self.zeroed = zeroed

    def step(self, x: Any) -> Any:
        if self.zeroed:
            self.a.grad = self.b.grad = None
        loss = (self.a * x + self.b * x.flip(0)).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            self.a -= 0.1 * self.a.grad
            self.b -= 0.1 * self.b.grad
        return loss.detach()


def _apart(fit: Fit) -> Any:
    return torch.ones(4)


def _one_memory(fit: Fit) -> Any:
    memory = torch.ones(8)
    fit.a.grad, fit.b.grad = memory[:4], memory[2:6]
    return torch.ones(4)


def _an_argument(fit: Fit) -> Any:
    fit.a.grad = torch.full((4,), 0.5)
    return fit.a.grad


def _memory_of_an_argument(fit: Fit) -> Any:
    x = torch.full((4,), 0.5)
    fit.a.grad, fit.b.grad = x[:], x.detach()
    return x


def _a_parameter(fit: Fit) -> Any:
    fit.b.grad = fit.a.detach()
    return torch.ones(4)


def _last_gradient(fit: Fit) -> Any:
    return fit.b.grad


def _part_of_the_last_gradient(fit: Fit) -> Any:
    return fit.b.grad.view(2, 2).t().t().view(4)


def _memory_of_the_last_gradient(fit: Fit) -> Any:
    return torch.from_numpy(fit.a.grad.numpy())


PLACES = [_one_memory, _apart, _an_argument, _apart, _apart, _last_gradient, _part_of_the_last_gradient, _apart,
          _memory_of_an_argument, _a_parameter, _memory_of_the_last_gradient, _apart, _apart]
# Eager raises an error if backward() adds to memory that the graph needs, so these share memory with no argument.
PLACES_OF_SUMS = [_one_memory, _apart, _apart, _one_memory, _apart]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("zeroed", "turn"), [
    *[(True, turn) for turn in range(len(PLACES))], *[(False, turn) for turn in range(len(PLACES_OF_SUMS))]])
@pytest.mark.sampled(2)
def test_gradients_share_memory_with_other_tensors(zeroed: bool, turn: int, backend: str) -> None:
    ours, eager = Fit(zeroed), Fit(zeroed)
    compiled = torch.compile(ours.step, backend=backend, fullgraph=True)
    for step in (compiled, eager.step):
        step(torch.ones(4))
        step(torch.ones(4))
    places = PLACES if zeroed else PLACES_OF_SUMS
    for place in [*places[turn:], *places[:turn]]:
        found, expected = compiled(place(ours)), eager.step(place(eager))
        for one, other in ((found, expected), (ours.a, eager.a), (ours.b, eager.b), (ours.a.grad, eager.a.grad),
                           (ours.b.grad, eager.b.grad)):
            assert np.allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_unread_gradients_in_one_memory_need_no_new_trace(backend: str) -> None:
    fit = Fit(zeroed=True)
    compiled = torch.compile(fit.step, backend=backend, fullgraph=True)
    for _ in range(3):
        compiled(torch.ones(4))
    with torch.compiler.set_stance("fail_on_recompile"):
        for place in (_one_memory, _memory_of_an_argument, _last_gradient):
            compiled(place(fit))


def test_gradients_that_are_read_in_one_memory_need_a_new_trace() -> None:
    fit = Fit(zeroed=False)
    compiled = torch.compile(fit.step, fullgraph=True)
    for _ in range(3):
        compiled(torch.ones(4))
    x = _one_memory(fit)
    with torch.compiler.set_stance("fail_on_recompile"), pytest.raises(RuntimeError):
        compiled(x)


@pytest.mark.parametrize("backend", BACKENDS)
def test_some_results_lie_in_memory_of_the_plan_and_others_do_not(backend: str) -> None:
    fit = Fit(zeroed=True)

    def step(x: Any) -> Any:
        loss = fit.step(x)
        return loss, x.cumsum(0), loss * 2

    compiled = torch.compile(step, backend=backend, fullgraph=True)
    held = [compiled(torch.full((4,), 1.0 + i)) for i in range(5)]
    for i, (loss, summed, double) in enumerate(held):
        assert double.item() == 2 * loss.item()
        assert summed.tolist() == [(1.0 + i) * n for n in (1, 2, 3, 4)]


@pytest.mark.parametrize("seed", range(40))
def test_writes_to_several_arrays_are_counted_as_those_to_each(seed: int) -> None:
    chance = random.Random(seed)
    ours, alone = [[np.zeros(3) for _ in range(4)] for _ in range(2)]
    groups = [[0, 1, 2], [1, 3], [0, 1, 2, 3]]
    often = [[1, 1, 1], [2, 100], [1, 3, 1, 1]]
    together = [versions.Together([ours[place] for place in group], times) for group, times in zip(groups, often)]
    start = versions.next_number()
    for _ in range(100):
        action, place = chance.choice(["group", "group", "group", "one", "forget"]), chance.randrange(4)
        if action == "group":
            group = chance.randrange(3)
            together[group].written(None)
            versions.written_all([alone[i] for i in groups[group]], None, often[group])
        elif action == "one":
            for arrays in (ours, alone):
                versions.written(arrays[place][1:], None)
        elif chance.random() < 0.3:
            for arrays in (ours, alone):
                versions.forget(arrays[place])
        number = versions.next_number()
        for one, other in zip(ours, alone, strict=True):
            assert versions.count(one) == versions.count(other)
            assert versions.written_since(one, start) == versions.written_since(other, start)
            entry, wanted = versions.writes_to(one), versions.writes_to(other)
            assert (entry is None) == (wanted is None)
            assert entry is None or wanted is None or entry.seen_by(start) == wanted.seen_by(start)
        start = number if chance.random() < 0.5 else start


@pytest.mark.parametrize("backend", BACKENDS)
def test_versions_of_parameters_count_each_run_and_each_write_between_runs(backend: str) -> None:
    fit = Fit(zeroed=True)
    compiled = torch.compile(fit.step, backend=backend, fullgraph=True)
    for run in range(6):
        before = fit.a._version, fit.b._version
        compiled(torch.ones(4))
        assert (fit.a._version, fit.b._version) == (before[0] + 1, before[1] + 1)
        saved = (fit.a * fit.a).sum()
        if run % 2:
            with torch.no_grad():
                fit.b.mul_(0.5)                              # nothing has saved it
            saved.backward()
            fit.a.grad.mul_(0.5)                             # an entry that is forgotten with the gradient
        else:
            compiled(torch.ones(4))
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                saved.backward()
