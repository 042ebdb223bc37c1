"""State that a compiled function uses without naming it as an argument. A call never repeats a state that has changed.

Each program is run as it is and compiled, with a change of the state before each call. The results, the errors and what
the program leaves must be the same. (`test_hidden_programs` has programs of many pieces.)
"""

from __future__ import annotations

import functools
import gc
import operator
import os
import random
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.reach import state


class Program(NamedTuple):
    """`function` is what is compiled, `change(i)` what happens before call i, and `left` what calls have left."""

    function: Callable[[Any], Any]
    change: Callable[[int], object] = lambda i: None
    left: Callable[[], Any] = lambda: None


PACKAGE = '''
scale, count = 2.0, 0
class Kept:
    n = 1.0
    def __init__(self): self.k = 2.0
kept = Kept()
def scaled(x): return x * scale
def by_kept(x): return x * kept.k
def counted(x):
    global count
    count += 1
    return x * count
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[types.ModuleType]:
    """A package that is installed beside others."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_package.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(str(folder))
    yield __import__("installed_package")
    sys.modules.pop("installed_package")


def of_packages(found: Any) -> dict[str, Program]:
    """Programs that use an installed package."""
    return {
        "attribute": Program(lambda x: x * found.scale, lambda i: setattr(found, "scale", float(i))),
        "global of a function": Program(lambda x: found.scaled(x), lambda i: setattr(found, "scale", float(i))),
        "object": Program(lambda x: found.by_kept(x), lambda i: setattr(found.kept, "k", float(i))),
        "class": Program(lambda x: x * found.kept.n, lambda i: setattr(found.Kept, "n", float(i))),
        "counter": Program(lambda x: found.counted(x), left=lambda: found.count),
    }


def calls(made: Program, compiled: Callable[[Any], Any]) -> list[Any]:
    """What six calls show."""
    found = []
    for i in range(6):
        made.change(i)
        try:
            result: Any = compiled(torch.arange(1.0, 4.0)).tolist()
        except Exception as error:
            result = type(error), str(error)
        found.append((result, made.left()))
    return found


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")
@pytest.mark.parametrize("name", of_packages(None))
def test_installed_packages_are_guarded(name: str, package: Any) -> None:
    plain = of_packages(package)[name]
    expected = calls(plain, plain.function)
    package.scale, package.count, package.kept.k, package.Kept.n = 2.0, 0, 2.0, 1.0
    other = of_packages(package)[name]
    assert calls(other, torch.compile(other.function, backend="numpy")) == expected


FRESH: dict[str, Callable[[], float]] = {
    "NumPy's generator": lambda: np.random.default_rng().random(),
    "NumPy's old generator": lambda: np.random.RandomState().random_sample(),
    "Python's generator": lambda: random.Random().random(),
    "the system's generator": lambda: random.SystemRandom().random(),
    "the system's bytes": lambda: float(int.from_bytes(os.urandom(7), "little")),
    "a clock": lambda: float(time.perf_counter_ns()),
}


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")
@pytest.mark.parametrize("name", FRESH)
def test_what_is_fresh_in_each_call_stays_fresh(name: str) -> None:
    draw = FRESH[name]
    compiled = torch.compile(lambda x: x * draw(), backend="numpy")
    assert len({compiled(torch.ones(1, dtype=torch.float64)).item() for _ in range(6)}) == 6


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")
def test_files_are_read_in_each_call(tmp_path: Path) -> None:
    file, folder = tmp_path / "number.txt", tmp_path / "folder"
    folder.mkdir()
    functions = [lambda x: x * float(file.read_text()), lambda x: x * float(np.loadtxt(str(file))),
                 lambda x: x * (1.0 + os.path.exists(folder / "2")), lambda x: x * len(os.listdir(folder))]
    compiled = [torch.compile(function, backend="numpy") for function in functions]
    for i in range(4):
        file.write_text(str(i))
        (folder / str(i)).touch()
        for one, other in zip(functions, compiled, strict=True):
            assert other(torch.ones(3)).tolist() == one(torch.ones(3)).tolist()


@pytest.mark.parametrize("function", [
    lambda x: (x * len([1, 2]) + max(2, 3) + sum([1.0, 2.0])).sum(),
    lambda x: torch.stack([x * i for i in range(3)]).sum(0).relu(),
    lambda x: torch.nn.functional.softmax(x.view(1, 3), dim=-1) @ torch.ones(3, 2),
    lambda x: x * np.float32(2) + float(np.sqrt(4.0)),
    lambda x: x * functools.reduce(operator.mul, [1, 2, 3]) + sorted([3, 1])[0],
    lambda x: x * {"a": 2.0}.get("a", 1.0) * len(["te", "t"]),
])
def test_what_depends_on_arguments_alone_stays_compiled(function: Any) -> None:
    compiled = torch.compile(function, backend="numpy", fullgraph=True)
    for i in range(3):
        x = torch.full((3,), float(i))
        torch.testing.assert_close(compiled(x), function(x))


def test_the_reason_names_the_call_and_the_line() -> None:
    def function(x: Any) -> Any:
        return x * len(os.listdir("."))

    with pytest.warns(UserWarning, match=r"the program calls (posix|nt).listdir\(\), which may read or change "
                                         r"more than its arguments, in File .*test_hidden_state.py.*, in function"):
        torch.compile(function, backend="numpy")(torch.ones(3))


def test_the_reason_names_the_thing() -> None:
    kept = bytearray(b"a")
    with pytest.warns(UserWarning, match="since kept is of the type bytearray, whose state the compiler does not see"):
        torch.compile(lambda x: x * kept[0], backend="numpy")(torch.ones(3))
    with pytest.warns(UserWarning, match="since random.Random is a function or type that may read or change more"):
        torch.compile(lambda x: x * random.Random(0).random(), backend="numpy")(torch.ones(3))


class Pretending:
    """A callable object that says that it is a type."""

    __class__: Any = type

    def __call__(self, x: Any) -> Any:
        return x * 2


def test_an_object_that_pretends_to_be_a_type() -> None:
    double = Pretending()
    compiled = torch.compile(lambda x: double(x) + 1, backend="numpy", fullgraph=True)
    for i in range(3):
        assert compiled(torch.full((2,), float(i))).tolist() == [2.0 * i + 1] * 2


def test_a_function_that_reaches_too_much_runs_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MOST", 100)
    many = [[i] for i in range(200)]
    compiled = torch.compile(lambda x: x * many[3][0], backend="numpy")
    with pytest.warns(UserWarning, match="since the function is one that can reach more than 100 things"):
        assert compiled(torch.ones(2)).tolist() == [3.0, 3.0]
    many[3][0] = 5
    assert compiled(torch.ones(2)).tolist() == [5.0, 5.0]


def test_a_tensor_that_the_search_misses_is_found_among_frozen_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = torch.ones(3)
    monkeypatch.setattr(torch.nn.functional, "_hidden", hidden, raising=False)
    gc.freeze()
    compiled = torch.compile(lambda x: x * torch.nn.functional._hidden, backend="numpy")
    with pytest.warns(UserWarning, match="a tensor that the search did not find"):
        compiled(torch.ones(3))


def test_constants_of_a_training_step_need_no_look_at_all_objects() -> None:
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: torch.Tensor) -> torch.Tensor:
        optimizer.zero_grad()
        loss = (model(x) * torch.tensor([2.5, 1.5])).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    gc.freeze()
    torch.compile(step, backend="numpy")(torch.ones(4, 3))
    assert gc.get_freeze_count() > 0                       # such a look shows the frozen objects again
