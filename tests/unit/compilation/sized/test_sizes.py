"""With `dynamic=True`, one plan serves all sizes: no new trace, the same bits, and honest refusals."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
import retrograd.utils.checkpoint
from compiled.sizes import EXECUTORS, check, normal, noted_traces, parts, why
from needing import needs
from noting import whole
from programs.sized_programs import author, compared
from retrograd.compilation.program.sizes import SizeFloat, SizeInt, Uses
from retrograd.compilation.program.undoing import Undo

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "80"))
SIZES = (4, 6, 9, 13, 4, 3, 40, 1, 7, 200)
F = torch.nn.functional


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes of the calls that were traced."""
    return noted_traces(monkeypatch)


# What a function does with the size of x, which is read as a number here.
W, TABLE = normal(3, 3), normal(30000, 3)
COVERED: dict[str, Callable[[Any], Any]] = {
    "a divisor": lambda x: x.sum() / x.shape[0],
    "a quotient": lambda x: x * (1 / x.shape[0]),
    "a number of elements": lambda x: x.sum() / x.numel(),
    "one less": lambda x: x.sum() / (x.shape[0] - 1),
    "twice and one": lambda x: x * (2 * x.shape[0] + 1),
    "a view": lambda x: x.view(x.shape[0], -1, 1).sum(2),
    "a view of one dim": lambda x: x.reshape(-1) * 2,
    "an expansion": lambda x: x.expand(2, *x.shape) + 1,
    "new memory": lambda x: x.new_full((x.shape[0], 3), 0.5) + x,
    "zeros": lambda x: torch.zeros(x.shape[0]) + x.sum(1),
    "ones and a table": lambda x: torch.ones(x.shape[0], 3) @ W + x,
    "a slice from the end": lambda x: x[:-1] + x[1:],
    "a slice to a size": lambda x: x[:x.shape[0] - 1] * 2,
    "the last row": lambda x: x[-1] * 2,
    "a step": lambda x: x[:, ::2] * 2,
    "a part of a captured tensor": lambda x: x * TABLE[:x.shape[0]],
    "consecutive numbers": lambda x: torch.arange(x.shape[0])[:, None] * x + torch.arange(x.shape[0], dtype=x.dtype)[0],
    "a concatenation": lambda x: torch.cat([x, x, W]) * 2,
    "a mean": lambda x: x.mean() + x.mean(0) + x.var(0),
    "a softmax": lambda x: F.softmax(x, 0) + F.log_softmax(x, 1),
    "columns": lambda x: (x.t() @ x) @ W,
    "a transposed view": lambda x: x.t() * 2,
    "an index": lambda x: x.index_select(0, torch.tensor([1, 0])),
    "random numbers": lambda x: F.dropout(x, 0.5) + torch.randn(x.shape[0], 3),
    "a half of an even size": lambda x: x.view(-1)[: x.shape[0] * 4 // 2] * 2,
    "the size itself": lambda x: (x * 2, x.shape[0] > 1),
}
SMALL_AND_LARGE = (5, 8, 3, 31, 256, 5, 20000)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", COVERED)
def test_one_plan_serves_all_sizes(name: str, backend: str, traces: list[Any]) -> None:
    function = COVERED[name]
    made = torch.compile(function, dynamic=True, backend=backend)
    for size in SMALL_AND_LARGE:
        x = normal(size, 3)
        torch.manual_seed(size)
        wanted = function(x)
        torch.manual_seed(size)
        found = made(x)
        for one, other in zip(parts(wanted), parts(found), strict=True):
            check(one, other, backend == "numpy" and size < 20000)
    assert traces == [5, 8], why(made)


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", ["numbers", "pairs", "pairs in a row", "distances"])
def test_squares_of_a_size(name: str, backend: str, traces: list[Any]) -> None:
    function: Callable[[Any], Any] = {
        "numbers": lambda x: x * (x.shape[0] * x.shape[0]),
        "pairs": lambda x: x @ x.t(),
        "pairs in a row": lambda x: (x @ x.t()).sin().reshape(-1),
        "distances": lambda x: (x[:, None] - x).square().sum(2) / (x @ x.t()).numel()}[name]
    made = torch.compile(function, dynamic=True, backend=backend)
    for size in (5, 8, 9, 3, 31, 200, 5):
        check(function(normal(size, 3)), made(normal(size, 3)), backend == "numpy")
    assert traces == ([5, 8] if name == "pairs" else [5, 8, 9]), why(made)


# What a function does with a size so that two traces cannot tell what it does with another size: with the reason.
REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a half": (lambda x: x[: x.shape[0] // 2] * 2, "floordiv"),
    "a remainder": (lambda x: x + x.shape[0] % 2, "mod"),
    "the length": (lambda x: x.sum() / len(x), "plain number"),
    "a power": (lambda x: x * x.shape[0] ** 0.5, "float"),
    "a float": (lambda x: x * float(x.shape[0]), "float"),
    "a text": (lambda x: x * len(str(x.shape[0])), "str"),
    "a key": (lambda x: x * {5: 1., 8: 2.}.get(x.shape[0], 3.), "hash"),
    "a loop": (lambda x: sum([x[i] for i in range(x.shape[0])]), "index|looks at sizes"),
    "a step": (lambda x: x[::2] * 2, "a number is|geometry"),
    "distances": (lambda x: F.pdist(x), "product|number|size"),
    "a table": (lambda x: x.sum(1) * torch.linspace(0, 1, x.shape[0]), "table|index|size"),
    "repeated rows": (lambda x: x.repeat(2, 1), "result of repeat"),
    "an unused loop over sizes": (lambda x: x * sum(range(x.shape[0])), "index"),
    "a float beside it": (lambda x: x * 2 if 0.5 * x.shape[0] > 1.5 else x, "float"),
    "a rounded product": (lambda x: x.new_zeros(int(1.5 * x.shape[0])), "float"),
    "a table of Python": (lambda x: x * [1., 2., 3.][x.shape[0] % 3], "mod|index"),
    "a root of NumPy": (lambda x: x * float(np.sqrt(x.shape[0])), "array"),
    "a compared quotient": (lambda x: x * 2 if 1 / x.shape[0] > 0.001 else x, "compares"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_two_traces_cannot_tell_has_a_plan_for_each_shape(name: str, traces: list[Any]) -> None:
    function, reason = REFUSED[name]
    made = torch.compile(function, dynamic=True, backend="numpy")
    for size in (5, 8, 9, 40, 5):
        check(function(normal(size, 3)), made(normal(size, 3)), True)
    assert traces == [5, 8, 9, 40]
    assert any([re.search(reason, said) for said in why(made)]), why(made)


def test_a_size_that_decides_is_asked_for_before_each_call(traces: list[Any]) -> None:
    """A comparison that came out the same in both traces holds for some sizes only."""
    def far(x: Any) -> Any:
        return x * 2 if x.shape[0] < 100 else -x

    def taken(x: Any) -> Any:
        return x * 2 if x.shape[0] > 6 else x.sin()

    def equal(x: Any) -> Any:
        return x * 2 if x.shape[0] != 50 else -x

    def clamped(x: Any) -> Any:
        return x[:60] * 2

    for function in (far, taken, equal, clamped):
        traces.clear()
        made = torch.compile(function, dynamic=True, backend="numpy")
        for size in (5, 8, 30, 50, 60, 61, 99, 100, 101, 200, 7):
            check(function(normal(size, 3)), made(normal(size, 3)), True)
        assert traces[:2] == [5, 8]
        assert 7 not in traces
        assert (30 in traces) is (function is taken)
        assert {far: 100, taken: 30, equal: 50, clamped: 61}[function] in traces


def test_a_captured_tensor_may_be_too_small(traces: list[Any]) -> None:
    table = normal(200, 3)
    made = torch.compile(lambda x: table[:x.shape[0]] * 2, dynamic=True, backend="numpy")
    for size in (5, 8, 200, 201, 300, 7):
        check(table[:size] * 2, made(normal(size, 3)), True)
    assert traces == [5, 8, 201, 300]                       # and a second plan, for more rows than there are


def test_sizes_0_and_1_have_traces_of_their_own(traces: list[Any]) -> None:
    def function(x: Any) -> Any:
        return x - x.sum(0)

    made = torch.compile(function, dynamic=True, backend="numpy")
    for size in (1, 0, 5, 8, 1, 0, 2, 3):
        check(function(normal(size, 3)), made(normal(size, 3)), True)
    assert traces == [1, 0, 5, 8]


def test_a_part_of_one_row_has_a_trace_of_its_own(traces: list[Any]) -> None:
    made = torch.compile(COVERED["a slice from the end"], dynamic=True, backend="numpy")
    for size in (5, 8, 3, 2, 2):
        check(COVERED["a slice from the end"](normal(size, 3)), made(normal(size, 3)), True)
    assert traces == [5, 8, 2]


def test_two_sizes_that_change_apart_have_traces_of_their_own(traces: list[Any]) -> None:
    def function(x: Any, y: Any) -> Any:
        return x.sum(0) * y.sum(0)

    made = torch.compile(function, dynamic=True, backend="numpy")
    for size, other in ((5, 6), (8, 9), (11, 12), (11, 5), (7, 8)):
        x, y = normal(size, 3), normal(other, 3)
        check(function(x, y), made(x, y), True)
    assert traces == [5, 8, 11]                             # of the call in which one size does not follow the other


def test_results_are_not_written_over_by_calls_of_other_sizes() -> None:
    made = torch.compile(lambda x: (x * 2, x.sum(0)), dynamic=True, backend="numpy")
    kept = [(normal(size, 3), made(normal(size, 3))) for size in (5, 8, 3, 40, 5, 3, 40)]
    for x, (twice, total) in kept:
        check(x * 2, twice, True)
        check(x.sum(0), total, True)


def test_no_warning_after_many_sizes(recwarn: pytest.WarningsRecorder, traces: list[Any]) -> None:
    made = torch.compile(lambda x: x.sin().sum(0), dynamic=True, backend="numpy", recompile_limit=3)
    for size in range(2, 60):
        made(normal(size, 3))
    assert traces == [2, 3]
    assert not recwarn.list


def test_a_program_that_raises_raises_for_each_size() -> None:
    made = torch.compile(lambda x, i: x.index_select(0, i), dynamic=True, backend="numpy")
    for size in (5, 8, 12):
        assert made(normal(size, 3), torch.tensor([size - 1])).shape == (1, 3)
    with pytest.raises(IndexError, match="index out of range in self") as caught:
        made(normal(12, 3), torch.tensor([12]))
    assert "allowed: from 0 to 11" in whole(caught.value)


def test_what_a_program_does_with_a_size_is_noted() -> None:
    size, uses = SizeInt(16), Uses()
    with Undo() as undo:
        undo.put(Uses, "current", uses)
        assert type(size + 1) is type(3 * size - 2) is type(-size) is SizeInt
        assert not uses.noted
        assert size > 5
        assert max(size, 3) == 16
        assert type(1 / size) is SizeFloat
        assert [use.what for use in uses.noted] == ["gt", "lt", "eq", "truediv"]
    assert size + 1.5 == 17.5
    assert f"{size}" == "16"
    assert hash(size) == hash(16)


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_write_to_an_expanded_argument(backend: str, traces: list[Any]) -> None:
    def written(x: Any) -> Any:
        x[:, 1] = 3.0
        return x * 2

    compiled = torch.compile(written, dynamic=True, backend=backend)
    for size in (4, 6, 9, 5):
        x, y = normal(size, 1), normal(size, 1)
        check(written(x.expand(size, 3)), compiled(y.expand(size, 3)), True)
        check(x, y, True)
    assert traces == [4, 6]


@pytest.mark.parametrize("backend", EXECUTORS)
def test_results_that_the_program_holds_keep_their_numbers(backend: str, traces: list[Any]) -> None:
    w = normal(4000)

    def sums(x: Any) -> Any:
        found = x.sum(0)
        return found, found * 2, found[:x.shape[0] - 2] + 1, found.view(2, -1), (x * w).tanh().sum(0)

    compiled = torch.compile(sums, dynamic=True, backend=backend)
    held = []
    for number, size in enumerate((3, 5, 9, 9, 40, 7, 9, 40, 40, 300, 5)):
        x = normal(size, 4000)
        found = compiled(x)
        held.append((sums(x), found if number % 3 else [part.numpy() for part in found]))
        for pair in held:
            for wanted, part in zip(*pair, strict=True):
                torch.testing.assert_close(torch.as_tensor(part), wanted, rtol=1e-4, atol=2e-4)
    assert traces == [3, 5]


@pytest.mark.sampled(16)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(16))
def test_random_programs(group: int, backend: str) -> None:
    smooth, reused = backend == "llvm", 0
    seeds = range(group, COUNT // (2 if smooth else 1), 16)
    state = torch.get_rng_state()
    for seed in seeds:
        made = author(torch, seed, smooth)
        found = compared(torch, made.head, made.lines, made.specs, [*zip(SIZES)], 1e4 if smooth else 0, backend)
        assert not found.difference, "\n".join([f"seed {seed}, {made.specs}", *made.lines, found.difference])
        reused += found.reused > 0
    torch.set_rng_state(state)
    assert reused > len(seeds) // 4                         # many programs have one plan for several sizes


LOOPS: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: (x * 2 - 1).exp().sum(1),
    "columns": lambda x: (x * x).sum(0) + 1,
    "everything": lambda x: (x.sin() * x).sum(),
    "the greatest": lambda x: x - x.amax(1, keepdim=True),
    "the greatest of columns": lambda x: (x.abs() - x.amax(0)).sum(0),
    "elements": lambda x: x.tanh() * x + 0.5,
    "turned": lambda x: (x.t() * 2 + x.t().sum(0)).contiguous() + 1,
    "a column": lambda x: x[:, 0] * x[:, -1] + x[:, 0].sum(),
    "a product": lambda x: ((x.t() @ x).tanh().sum(), (x @ x.new_ones(x.shape[1], 2)) * 3),
    "normalized": lambda x: F.layer_norm(x, x.shape[1:], eps=1.0) + F.softmax(x, 0),
    "parts": lambda x: (x[1:] - x[:-1]).square().mean(),
}


@pytest.mark.sampled(8)
@needs("llvmlite")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("columns", [1, 3, 8, 17, 40])
@pytest.mark.parametrize("name", LOOPS)
def test_machine_code_of_each_extent(name: str, columns: int, dtype: Any, traces: list[Any]) -> None:
    """Whole vectors, short ones and single numbers, several blocks, and parts in threads."""
    made = torch.compile(LOOPS[name], dynamic=True, backend="llvm")
    for size in (5, 7, *range(3, 24), 31, 33, 64, 100, 1000, 3000, 8192, 8193, 20000, 6):
        x = normal(size, columns).to(dtype)
        for one, other in zip(parts(LOOPS[name](x)), parts(made(x)), strict=True):
            assert one.shape == other.shape
            assert one.stride() == other.stride()
            scale = float(one.abs().max()) + float(x.abs().sum()) * (one.ndim < 2)
            assert float((one - other).abs().max()) <= scale * torch.finfo(dtype).eps * 64
    assert traces == [5, 7], why(made)

@pytest.mark.parametrize("backend", EXECUTORS)
def test_views_that_only_the_forward_pass_uses(backend: str, traces: list[Any]) -> None:
    w = normal(3).requires_grad_()

    def scaled(x: Any) -> Any:
        return x[1:].sum(0) * w + (x * w).sum(0)

    compiled = torch.compile(scaled, dynamic=True, backend=backend)
    for size in (4, 6, 9, 5):
        x, found = normal(size, 3), []
        for function in (scaled, compiled):
            w.grad = None
            function(x).sum().backward()
            found.append(w.grad)
        check(*found, backend == "numpy")
    assert traces == [4, 6]
