"""Rules and composed functions keep to what every array knows: its shape and dtype, and what ops make of it.

Rules run on arrays, on tensors and on whatever else stands behind an array. A rule uses operators, `np.*` functions,
our ops and the attributes `.shape .dtype .ndim`, or those of a dtype. It selects with `choose` or `np.where`, never by
multiplying with a mask, and never branches on numbers. Its constants come from `math`, since a NumPy scalar would widen
float32.

Composed functions, those of nn.functional and tensors.functions, hand arrays to ops and ask for shapes and dtypes. A
few need the numbers by their nature: they are in `DATA_DEPENDENT`.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.queries import stated_ops
from reading.arrays import Fault, Reader
from reading.kinds import ARRAY, PLAIN
from reading.source import modules_below, sources
from retrograd.kernels.indexing.indexing import by_mask
from retrograd.ops.basic import beyond, check_values
from retrograd.ops.framework import Op, parameters
from retrograd.tensors.arguments.dims import array_of
from retrograd.tensors.functions.data_dependent import DATA_DEPENDENT
from retrograd.tensors.state.base import numbers_in, plain

SOURCE = Path(__file__).parent.parent / "src" / "retrograd"
OPS = SOURCE / "ops"
FACTORIES = {"elementwise", "linear", "operator", "_product", "composed", "either"}
OPTIONS = {"arguments", "domain", "node", "complex", "tensors", "view", "outputs", "variadic", "differentiable",
           "unfilled", "layout"}
ATTRIBUTES = {"shape", "dtype", "ndim", "kind", "itemsize"}      # the last two are those of a dtype
NUMPY_CONSTANTS = {"pi", "e", "inf", "nan", "euler_gamma", "float16", "float32", "float64", "complex64", "complex128"}
MODULES = sorted(path for path in OPS.rglob("*.py") if path.name not in ("__init__.py", "framework.py"))
MODULE_NAMES = {path.stem for path in MODULES}


def rules_of(tree: ast.Module) -> Iterator[ast.Lambda | ast.FunctionDef]:
    """The rules that a module states, and the functions of the module that they call."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting: list[ast.expr | ast.FunctionDef] = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in FACTORIES:
            if call.func.id in ("composed", "either"):       # a kernel or a name, and then what rules are made of
                waiting += call.args[2:]
            for keyword in call.keywords:
                if isinstance(keyword.value, ast.Dict):
                    waiting += keyword.value.values
                elif keyword.arg is not None and keyword.arg not in OPTIONS:
                    waiting.append(keyword.value)
    seen: set[str] = set()
    while waiting:
        rule = waiting.pop()
        if isinstance(rule, ast.Name):
            if rule.id in functions and rule.id not in seen:
                seen.add(rule.id)
                waiting.append(functions[rule.id])
        elif isinstance(rule, ast.Lambda | ast.FunctionDef):
            yield rule
            waiting += [node for node in ast.walk(rule.body if isinstance(rule, ast.Lambda) else rule)
                        if isinstance(node, ast.Name)]


def imported_modules(tree: ast.Module) -> set[str]:
    """Names that stand for modules (of operators, or `math`), whose functions a rule may call."""
    names = {"math"}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            names |= {alias.asname or alias.name for alias in node.names if alias.name in MODULE_NAMES}
    return names


def faults(source: str) -> list[str]:
    """What the rules of a module do that a rule must not."""
    tree = ast.parse(source)
    modules = imported_modules(tree)
    found = []
    for rule in rules_of(tree):
        for node in ast.walk(rule):
            where = f"line {getattr(node, 'lineno', '?')}"
            if isinstance(node, ast.Attribute):
                owner = node.value.id if isinstance(node.value, ast.Name) else None
                if owner == "np" and node.attr in NUMPY_CONSTANTS:
                    found.append(f"{where}: np.{node.attr} is a NumPy constant; take it from math")
                elif owner == "np" and node.attr == "ndarray":
                    found.append(f"{where}: a rule must not ask what stands behind an array")
                elif owner != "np" and owner not in modules and node.attr not in ATTRIBUTES:
                    found.append(f"{where}: .{node.attr} is not known to every array")
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and (
                    isinstance(node.left, ast.Compare) or isinstance(node.right, ast.Compare)):
                found.append(f"{where}: select with choose or np.where; inf * 0 is nan")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_rules_keep_to_what_every_array_knows(path: Path) -> None:
    assert faults(path.read_text()) == []


@pytest.mark.parametrize(("rule", "complaint"), [
    ("lambda g, x: g * (x > 0)", "np.where"),
    ("lambda g, x: g.sum()", ".sum"),
    ("lambda g, x: g * np.pi", "np.pi"),
    ("lambda g, x: g if type(x) is np.ndarray else x", "stands behind"),
    ("helper", ".std"),
])
def test_the_test_sees_what_it_forbids(rule: str, complaint: str) -> None:
    source = f"def helper(g, x):\n    return g / x.std()\n\nop = elementwise('f', np.exp, x={rule})\n"
    assert any(complaint in fault for fault in faults(source))


def test_every_module_states_rules() -> None:
    """The search above finds rules at all, in the modules where they are known to stand."""
    arithmetic = ast.parse((OPS / "elementwise" / "arithmetic.py").read_text())
    assert len([*rules_of(arithmetic)]) > 10


# No rule looks at numbers


def kinds(op: Op, rule: Any) -> dict[str, Any]:
    """Which of the arguments of a rule are arrays, and which are lists of them."""
    cotangent, *needs = parameters(rule)
    found: dict[str, Any] = {cotangent: [ARRAY] if op.several else ARRAY}
    for need in needs:
        if need in op.outputs:
            found[need] = ARRAY
        elif need in op.arguments[: op.arity]:
            found[need] = [ARRAY] if op.variadic else ARRAY
    return found


def ways(op: Op) -> list[FunctionType]:
    """What an op of `composed` is recorded as: its composition, or, of `either`, the two ways and the condition."""
    composition = op.composition
    if not isinstance(composition, FunctionType):
        return []
    inner = [cell.cell_contents for cell in composition.__closure__ or ()]
    return [function for function in inner if isinstance(function, FunctionType)] or [composition]


def test_no_rule_looks_at_numbers() -> None:
    reader = Reader(strict=False, follows=lambda f: f.__module__.startswith("retrograd.ops"))
    found: set[Fault] = set()
    for op in stated_ops():
        for rule in op.rules.values():
            found |= reader.read(rule, kinds(op, rule))[1]
        for way in ways(op):
            found |= reader.read(way, dict.fromkeys(op.arguments[: op.arity], ARRAY))[1]
    assert sorted(map(str, found)) == []


# No composed function does

COMPOSED = ("retrograd.tensors.functions", "retrograd.nn.functional")
# Where arrays may be handed to: what makes tensors of them, and what asks for nothing but how they lie or their dtype.
GIVEN_ARRAYS = ("retrograd.tensors.recording", "retrograd.tensors.state", "retrograd.kernels.layout",
                "retrograd.foundations.dtypes", "retrograd.foundations.errors")


def handed_on(callee: Any) -> Any:
    """The kind of what a function makes of arrays that may be handed to it; None of any other."""
    if callee in (beyond, array_of):
        return ARRAY
    module = getattr(callee, "__module__", None) or ""
    known = callee in (check_values, plain, numbers_in, by_mask) or getattr(callee, "__name__", "") in DATA_DEPENDENT
    return PLAIN if known or module.startswith(GIVEN_ARRAYS) else None


def public_functions() -> Iterator[FunctionType]:
    """The composed functions that a program can name."""
    spaces = (torch, torch.Tensor, torch.nn.functional, torch.linalg, torch.special)
    known = {name for space in spaces for name in dir(space)}         # for an absent name a space seeks the nearest
    for path, package in ((SOURCE / "tensors" / "functions", COMPOSED[0]), (SOURCE / "nn" / "functional", COMPOSED[1])):
        for module in modules_below(path, package):
            for name, value in vars(importlib.import_module(module)).items():
                if isinstance(value, FunctionType) and value.__module__ == module and name in known:
                    yield value


def test_no_composed_function_looks_at_numbers() -> None:
    reader = Reader(strict=True, follows=lambda f: f.__module__.startswith((*COMPOSED, "retrograd.tensors.arguments")),
                    passes=handed_on)
    found: set[Fault] = set()
    read = 0
    for function in public_functions():
        if function.__name__ not in DATA_DEPENDENT:
            found |= reader.read(function, {})[1]
            read += bool(sources(function))
    assert sorted(map(str, found)) == []
    assert read > 400


def test_what_depends_on_numbers_is_there() -> None:
    for name in DATA_DEPENDENT:
        assert hasattr(torch.Tensor, name) or hasattr(torch, name) or hasattr(torch.nn.functional, name), name


# The reader sees what it is to see


def branches(g: Any, x: Any) -> Any:
    return g if (x > 0).all() else x


def branches_through_a_helper(g: Any, x: Any) -> Any:
    shape = x.shape
    return helped(g, shape[0], x)


def helped(g: Any, size: Any, x: Any) -> Any:
    return g if size > 1 and x else x


def loops(g: Any, x: Any) -> Any:
    while x > 0:
        g, x = g * 2, x - 1
    return g


def goes_through(g: Any, x: Any) -> Any:
    return [row * 2 for row in x]


def fits(g: Any, x: Any) -> Any:
    return g * 2 if x is None or x.shape[0] > 1 else [part * 2 for part in (g, x)]


@pytest.mark.parametrize(("function", "seen"), [
    (branches, ".all is not known"), (branches_through_a_helper, "tests the numbers"), (loops, "tests the numbers"),
    (goes_through, "goes through the elements"), (fits, ""),
    (lambda g, x: float(x) * g, "float() looks"), (lambda g, x: np.unique(x), "its shape depends"),
    (lambda g, x: by_mask(x), "not by way of an op"),
])
def test_the_reader_sees_what_is_forbidden(function: Any, seen: str) -> None:
    reader = Reader(strict=False, follows=lambda f: f.__module__ == __name__)
    faults_seen = [*map(str, reader.read(function, {"g": ARRAY, "x": ARRAY})[1])]
    assert any(seen in fault for fault in faults_seen) if seen else not faults_seen


def test_while_no_transform_is_on_arrays_may_be_used() -> None:
    reader = Reader(strict=True, follows=lambda f: True)
    assert not reader.read(as_it_is, {"x": ARRAY})[1]
    assert reader.read(the_other_way, {"x": ARRAY})[1]


def as_it_is(x: Any, thread: Any) -> Any:
    if thread.transform is not None or x.ndim:
        return None
    return x.copy() if thread.transform is None and x.any() else x


def the_other_way(x: Any, thread: Any) -> Any:
    return x if thread.transform is None else x.copy()


# Nodes are made in one place

def test_nodes_of_ops_are_made_in_recording() -> None:
    """Only `nodes` makes them, and the quickest closures of `calls`, which write it out; `joined` asks `nodes`."""
    makers = {path.name for path in SOURCE.rglob("*.py") if "class_of(" in path.read_text()}
    assert makers == {"nodes.py", "calls.py", "joined.py"}
