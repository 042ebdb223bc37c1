"""The tool that plants faults: what it plants, and in which order it runs tests. `make mutants` runs the tool."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from array import array
from multiprocessing import Pipe
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

if not hasattr(os, "fork"):
    pytest.skip("the tool runs tests in forked processes", allow_module_level=True)

from mutants.__main__ import AREAS, Noticed, known_survivors, sample
from mutants.covering import Map
from mutants.faults import faults_of
from mutants.running import ROOT, in_order
from mutants.serving import Planted, Reply, Request, replacements

PACKAGE = ROOT / "src" / "retrograd"


@pytest.mark.parametrize(
    ("source", "faulty"),
    [
        ("a + b", ["(a - b)"]),
        ("a and b", ["(a or b)"]),
        ("-a", ["(a)"]),
        ("a < b", ["(a <= b)"]),
        ("a is None", ["(a is not None)"]),
        ("x = True", ["x = False"]),
        ("x = 2.5", ["x = 3.5"]),
        ("f(a, b)", ["pass", "f(b, a)", "f(a)"]),
        ("x = f(*a, b, k=c)", ["x = f(*a, b)"]),
        ("if a: b", ["if (not a): b"]),
        ("x = b if a else c", ["x = b if (not a) else c"]),
        ("def f(): return a", ["def f(): return None"]),
        ("x += a", ["pass"]),
        ("x.y = a", ["pass"]),
        ("x = f'{a + b}'", []),
        ("def f(x: Literal[1]) -> Literal[2]: pass", []),
        ("if TYPE_CHECKING:\n    x = 1", []),
        ("é = 1; x = a * b", ["é = 2; x = a * b", "é = 1; x = (a / b)"]),
    ],
)
def test_faults(tmp_path: Path, source: str, faulty: list[str]) -> None:
    (tmp_path / "file.py").write_text(source, encoding="utf-8")
    found = [fault.planted(source.encode()).decode() for fault in faults_of(tmp_path, "file.py")]
    assert sorted(found) == sorted(faulty)


def test_a_fault_knows_the_function_around_it(tmp_path: Path) -> None:
    (tmp_path / "file.py").write_text("x = 1\n@d\ndef f(y=2):\n    return [3 for _ in y]\ng = h(lambda: 4)\n")
    found = {fault.old: fault.function for fault in faults_of(tmp_path, "file.py") if fault.kind == "constant"}
    assert found == {"1": 0, "2": 0, "3": 2, "4": 5}


def test_the_sample_is_the_same_each_time() -> None:
    assert sample(20, 0, ["optim"]) == sample(20, 0, ["optim"]) != sample(20, 1, ["optim"])


def test_the_sample_is_from_all_areas_and_each_fault_is_a_program() -> None:
    faults = sample(168, seed=0)
    assert [sum(fault.path.startswith(f"{area}/") for fault in faults) for area in AREAS] == [24] * 7
    for fault in faults[::4]:
        source = (PACKAGE / fault.path).read_bytes()
        assert ast.dump(ast.parse(fault.planted(source))) != ast.dump(ast.parse(source))


def test_the_quick_tests_come_first_and_each_function_of_tests_has_its_turn() -> None:
    fault = sample(1, 0, ["optim"])[0]
    source = (PACKAGE / fault.path).read_bytes()
    tests = [("a.py::slow[1]", 5.0), ("a.py::slow[2]", 5.0), ("b.py::quick[1]", 0.1), ("b.py::quick[2]", 0.1)]
    found = Map(tests, {(fault.path, fault.function): array("I", range(4))}, {fault.path: source})
    assert in_order(found, fault) == (["b.py::quick[1]", "a.py::slow[1]", "b.py::quick[2]", "a.py::slow[2]"], [])


def test_the_files_that_call_the_function_most_come_first() -> None:
    fault = sample(1, 0, ["optim"])[0]
    source = (PACKAGE / fault.path).read_bytes()
    tests = [(f"{file}.py::test_{i}", 0.1) for file in "abcdefg" for i in range(2)]
    calling = array("I", [place for place in range(14) if place not in (0, 4)])
    found = Map(tests, {(fault.path, fault.function): calling}, {fault.path: source})
    likely, others = in_order(found, fault)
    assert {*likely} == {name for name, _ in tests if name[0] in "bdefg"}
    assert others == ["a.py::test_1", "c.py::test_1"]


def test_the_tests_that_name_what_a_table_is_about_come_first() -> None:
    path = "ops/elementwise/elementary.py"
    fault = next(fault for fault in faults_of(PACKAGE, path) if not fault.function and '"tanh"' in fault.around)
    tests = [("a.py::test_a", 0.1), ("a.py::test_b[float-tanh]", 0.1), ("a.py::test_b[float-sinh]", 0.1)]
    likely, others = in_order(Map(tests, {(path, 1): array("I", [0, 2])}), fault)
    assert likely[0] == "a.py::test_b[float-tanh]"
    assert {*likely} == {name for name, _ in tests}
    assert others == []


def test_what_noticed_a_fault_is_kept(tmp_path: Path) -> None:
    fault, other = sample(2, 0, ["optim"])
    Noticed(tmp_path / "noticed.json").note(fault, "a.py::test_a")
    noticed = Noticed(tmp_path / "noticed.json")
    assert noticed.by(fault, Map([("a.py::test_a", 0.1), ("a.py::test_b", 0.1)])) == ["a.py::test_a"]
    assert noticed.by(fault, Map([("a.py::test_b", 0.1)])) == []
    assert noticed.by(other, Map([("a.py::test_a", 0.1)])) == []


LOADED = """
def outer(x):
    def inner():
        return x + 1
    return inner

first, second = lambda: 2, lambda: 3
"""


@pytest.mark.parametrize(("old", "new", "results"), [
    ("x + 1", "x - 1", (0, 2, 3)), ("lambda: 2", "lambda: 4", (2, 4, 3)), ("lambda: 3", "lambda: 5", (2, 2, 5)),
    ("x + 1", "7", None), ("first, second", "second, first", None)])
def test_a_fault_is_planted_in_loaded_functions(old: str, new: str, results: tuple[int, ...] | None) -> None:
    loaded: dict[str, Any] = {}
    exec(compile(LOADED, "loaded.py", "exec", dont_inherit=True), loaded)
    live = loaded["outer"](1)                                   # a closure from before
    functions = [each for each in (*loaded.values(), live) if isinstance(each, FunctionType)]
    planted = Planted("loaded.py", LOADED.encode(), LOADED.replace(old, new).encode())
    found = replacements(planted, functions)
    for function, code in found or ():
        function.__code__ = code
    assert results == (None if found is None else (live(), loaded["first"](), loaded["second"]()))
    assert replacements(planted._replace(file="other.py"), functions) == []


def test_tests_run_in_forks_of_a_process_that_has_collected_them(tmp_path: Path) -> None:
    source = tmp_path / "thing.py"
    source.write_text("def f(): return 1\n")
    (tmp_path / "test_thing.py").write_text(
        "import os, thing\n"
        "def test_a(): assert thing.f() == 1\n"
        "def test_b(): assert thing.f() < 2\n"
        "def test_c(): os._exit(5)\n")
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutants.serving",
               f"--serving={theirs.fileno()}", "test_thing.py"]
    with subprocess.Popen(command, cwd=tmp_path, pass_fds=[theirs.fileno()], stdout=subprocess.DEVNULL,
                          env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{tmp_path}"}), ours:
        theirs.close()
        assert ours.recv().ran >= {(str(tmp_path / "test_thing.py"), 1)}

        def reply(result: int | None, *tests: str) -> Reply:
            text = source.read_bytes()
            planted = None if result is None else Planted(str(source), text, text.replace(b"1", b"%d" % result))
            ours.send(Request([f"test_thing.py::{test}" for test in tests], planted))
            answer: Reply = ours.recv()
            return answer

        assert reply(None, "test_a", "test_b") == (0, "")
        assert reply(2, "test_a", "test_b") == (1, "test_thing.py::test_a")
        assert reply(0, "test_b", "test_a") == (1, "test_thing.py::test_a")
        assert reply(None, "test_c") == (5, "")
        assert reply(None, "test_a") == (0, "")


def test_each_survivor_has_a_reason() -> None:
    for key, reason in known_survivors().items():
        path = key.partition(":")[0]
        assert (PACKAGE / path).is_file(), path
        assert " => " in key
        assert " | " in key
        assert reason
