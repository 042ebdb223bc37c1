"""The tool that plants faults: what it plants, and in which order it runs tests. `make mutants` runs the tool."""

from __future__ import annotations

import ast
from array import array
from pathlib import Path

import pytest

from mutants.__main__ import AREAS, known_survivors, sample
from mutants.covering import Map
from mutants.faults import faults_of
from mutants.running import ROOT, in_order

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
    for fault in faults:
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


def test_each_survivor_has_a_reason() -> None:
    for key, reason in known_survivors().items():
        path = key.partition(":")[0]
        assert (PACKAGE / path).is_file(), path
        assert " => " in key
        assert " | " in key
        assert reason
