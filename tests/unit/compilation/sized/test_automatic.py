"""Without `dynamic=`, one plan serves all sizes as soon as sizes change. Shapes with plans of their own keep these."""

from __future__ import annotations

import gc
import json
import random
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, check, normal, noted_traces, run_of

SIZES = (5, 5, 8, 5, 8, 9, 40, 7, 5, 200, 8, 9)


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes of the calls that were traced."""
    return noted_traces(monkeypatch)


def mean(x: Any) -> Any:
    return x.sin().sum(0) / x.shape[0]


def sized(function: Any) -> list[Any]:
    """The recipes of a compiled function that serve all sizes."""
    return [recipe for _, recipe in run_of(function).entries if hasattr(recipe, "passes")]


@pytest.mark.parametrize("backend", EXECUTORS)
def test_the_second_and_the_third_size_make_a_plan_for_all(backend: str, traces: list[Any]) -> None:
    made = torch.compile(mean, backend=backend)
    for size in SIZES:
        check(mean(normal(size, 3)), made(normal(size, 3)), backend == "numpy")
    assert traces == [5, 8, 9]
    assert len(sized(made)) == 1


def test_two_sizes_have_a_plan_each(traces: list[Any]) -> None:
    made = torch.compile(mean, backend="numpy")
    for size in (8, 8, 8, 3, 8, 8, 8, 3):
        check(mean(normal(size, 3)), made(normal(size, 3)), True)
    assert traces == [8, 3]
    assert not sized(made)


def test_a_shape_keeps_its_own_plan(traces: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    made = torch.compile(mean, backend="numpy")
    for size in SIZES:
        made(normal(size, 3))
    recipe, = sized(made)
    served: list[int] = []
    bind = type(recipe.plan).bind
    monkeypatch.setattr(type(recipe.plan), "bind", lambda plan, sizes: served.append(sizes) or bind(plan, sizes))
    for size in (5, 12, 8, 5, 9, 13, 5):
        check(mean(normal(size, 3)), made(normal(size, 3)), True)
    assert len(served) == 3                                 # 5 and 8 were repeated before the plan for all; 9 was not
    assert traces == [5, 8, 9]


def test_with_false_each_size_is_traced(traces: list[Any]) -> None:
    made = torch.compile(mean, dynamic=False, backend="numpy")
    for size in SIZES:
        check(mean(normal(size, 3)), made(normal(size, 3)), True)
    assert traces == [5, 8, 9, 40, 7, 200]


def test_a_program_that_could_tell_a_size_from_an_int(traces: list[Any]) -> None:
    """A size in a trace that notes its uses is no int for `type`."""
    def scaled(x: Any) -> Any:
        return x * 2 if type(x.shape[0]) is int else x * 3

    made = torch.compile(scaled, backend="numpy")
    for size in (5, 8, 9, 40, 7):
        check(normal(size, 3) * 2, made(normal(size, 3)), True)
    assert traces == [5, 8, 9, 40, 7]


def test_other_dims_are_no_other_sizes(traces: list[Any]) -> None:
    made = torch.compile(lambda x: x.sin() * 2, backend="numpy")
    for shape in ((5, 3), (5,), (5, 3, 2)):
        made(normal(*shape))
    assert not run_of(made).sizes.change
    made(normal(6, 3))
    assert run_of(made).sizes.change


def test_what_is_no_int_for_python_is_traced_again(traces: list[Any]) -> None:
    """Also with the numbers that the tensors had before, and the same random numbers."""
    total = torch.zeros(3)

    def written(x: Any) -> Any:
        total.add_(x.sum(0))
        return torch.rand(3) * total * len(json.dumps({"rows": x.shape[0]}))

    wanted, found = torch.zeros(3), []
    made = torch.compile(written, backend="numpy")
    for size in (5, 8, 9, 8, 40):
        torch.manual_seed(size)
        found.append(made(normal(size, 3)))
        torch.manual_seed(size)
        wanted.add_(normal(size, 3).sum(0))
        check(torch.rand(3) * wanted * len(json.dumps({"rows": size})), found[-1], True)
    assert traces == [5, 8, 8, 9, 40]


def test_an_error_of_the_program_stays_its_error() -> None:
    def wrong(x: Any) -> Any:
        return x + ("a" if x.shape[0] == 9 else 1)

    made = torch.compile(wrong, backend="numpy")
    for size in (5, 8):
        made(normal(size, 3))
    with pytest.raises(TypeError):
        made(normal(9, 3))
    check(normal(7, 3) + 1, made(normal(7, 3)), True)


def test_a_program_that_raises_an_error_after_changes_runs_once() -> None:
    seen: list[Any] = []

    def wrong(x: Any) -> Any:
        if x.shape[0] == 9:
            seen.append(x.shape[0])
            return x + "a"
        return x + 1

    made = torch.compile(wrong, backend="numpy")
    for size in (5, 8, 9, 9, 7):
        if size == 9:
            with pytest.raises(TypeError):
                made(normal(size, 3))
        else:
            check(normal(size, 3) + 1, made(normal(size, 3)), True)
    assert seen == [9, 9]
    assert {type(size) for size in seen} == {int}


@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.filterwarnings("ignore:torch.compile traces function no more, since it was traced 8 times")
def test_numbers_of_an_array_that_changes_are_those_of_the_call(backend: str, dynamic: bool | None) -> None:
    kept = bytearray(np.ones(1, np.float32).tobytes())
    seen = np.frombuffer(kept, np.float32)

    def function(x: Any) -> Any:
        return (x + torch.from_numpy(seen) * 2) * torch.from_numpy(seen).sum()

    made, draw = torch.compile(function, backend=backend, dynamic=dynamic), random.Random(0)
    for _ in range(60):
        size, kept[3] = draw.randint(2, 7), draw.choice((63, 64, 63))
        check(function(normal(size, 3)), made(normal(size, 3)), backend == "numpy")


def test_the_warning_says_why_there_is_no_plan_for_all_sizes() -> None:
    made = torch.compile(lambda x: x * (x.shape[0] // 2), backend="numpy")
    for size in range(2, 10):
        made(normal(size, 3))
    with pytest.warns(UserWarning, match=r"traced 8 times.*\(10, 3\), and had \(9, 3\); there is no plan for all "
                                         r"sizes, since the program does more with a size.*floordiv"):
        made(normal(10, 3))


def test_changes_of_other_things_are_no_reason(traces: list[Any]) -> None:
    made = torch.compile(lambda x, n: x * n, backend="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n, size in enumerate((5, 8, 9, 5, 6, 7)):
            check(normal(size, 3) * (n // 3), made(normal(size, 3), n // 3), True)
    assert not run_of(made).refused


def test_traces_that_wait_hold_no_arguments() -> None:
    made = torch.compile(mean, backend="numpy")
    made(normal(5, 3))
    x = normal(8, 3)
    memory = weakref.ref(x._array)
    made(x)
    assert run_of(made).waiting is not None
    del x
    gc.collect()
    assert memory() is None


def test_a_stance_that_forbids_traces_allows_plans_for_all_sizes() -> None:
    made = torch.compile(mean, backend="numpy")
    for size in (5, 8, 9):
        made(normal(size, 3))
    with torch.compiler.set_stance("fail_on_recompile"):
        check(mean(normal(30, 3)), made(normal(30, 3)), True)
        with pytest.raises(RuntimeError, match="Detected recompile"):
            made(normal(1, 3))


ENDING: dict[str, Callable[[Any], Any]] = {
    "a diagonal": lambda x: x.diagonal(-2) * 2, "a diagonal of a result": lambda x: (x * 2).diagonal(-2) * 2,
    "a diagonal of a constant": lambda x: torch.ones(x.shape[0], 6).diagonal(-2) * 2,
    "a step": lambda x: torch.arange(9.)[::x.shape[0]] * 2,
    "a diagonal by the size": lambda x: torch.arange(64.).view(8, 8).diagonal(x.shape[0] - 3) * 2,
    "a range in steps": lambda x: torch.arange(0, x.shape[0], 3),
    "a range of floats": lambda x: torch.arange(0, x.shape[0], 3, dtype=torch.float32),
    "steps of the size": lambda x: torch.arange(1, 10, x.shape[0]) * 2,
    "a range with its end": lambda x: torch.range(0, x.shape[0], 3),
    "choices": lambda x: torch.combinations(x[:, 0], 3),
    "as strided": lambda x: TABLE.as_strided((2, x.shape[0]), (1, 2)) * 2}
TABLE = torch.arange(40.)


@pytest.mark.filterwarnings("ignore:torch.(range|compile)")
@pytest.mark.sampled(10)
@pytest.mark.parametrize("sizes", [(9, 12, 15, 5, 4, 7, 3), (4, 3, 7, 9, 10, 11, 20), (12, 16, 9, 8, 7, 10)], ids=str)
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("name", ENDING)
def test_results_whose_sizes_are_no_sums_of_sizes(name: str, backend: str, dynamic: bool | None, sizes: Any) -> None:
    compiled = torch.compile(ENDING[name], dynamic=dynamic, backend=backend)
    for n in (*sizes, *sizes):
        x = torch.arange(4.0 * n).view(n, 4)
        assert compiled(x).tolist() == ENDING[name](x).tolist()


@pytest.mark.parametrize("backend", EXECUTORS)
def test_a_write_that_reads_its_own_memory_for_small_sizes(backend: str) -> None:
    def ends(x: Any) -> Any:
        return x[:2].add_(x[-2:]).sum()

    compiled = torch.compile(ends, backend=backend)
    for n in (6, 7, 8, 9, 5, 4):
        assert compiled(torch.ones(n)) == 4
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to tensor refer to"):
        compiled(torch.ones(3))
    assert compiled(torch.ones(12)) == 4


def of_two_quotients(x: Any) -> Any:
    n = x.shape[0]
    return x.sum() * (n / 20), x.sum() * torch.tensor(1 / (9 - n))


def of_a_quotient_and_a_difference(x: Any) -> Any:
    n = x.shape[0]
    return x.sum() * torch.tensor(12 / n), x.sum() * torch.tensor(7 - n)


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("sizes", [(4, 5, 6, 7, 8, 3, 12), (2, 3, 4, 6, 12, 5, 8), (3, 4, 6, 12, 5, 8, 7)], ids=str)
@pytest.mark.parametrize("function", [of_two_quotients, of_a_quotient_and_a_difference])
def test_numbers_that_are_equal_for_two_sizes(function: Any, sizes: tuple[int, ...], dynamic: bool | None) -> None:
    compiled = torch.compile(function, backend="numpy", dynamic=dynamic)
    for n in sizes:
        assert list(map(float, compiled(torch.ones(n)))) == list(map(float, function(torch.ones(n))))
