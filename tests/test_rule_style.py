"""Rules run on raw arrays, on tensors and on whatever else stands behind an array: hold them to what all of these know.

A rule uses operators, `np.*` functions, our ops and the attributes `.shape .dtype .ndim`; it selects with `choose` or
`np.where`, never by multiplying with a mask; its constants come from `math`, since a NumPy scalar would widen float32.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

OPS = Path(__file__).parent.parent / "src" / "retrograd" / "ops"
FACTORIES = {"elementwise", "linear", "operator"}
OPTIONS = {"arguments", "domain", "node", "complex", "tensors", "view", "outputs", "variadic", "differentiable",
           "unfilled", "layout", "written"}
ATTRIBUTES = {"shape", "dtype", "ndim", "kind"}
NUMPY_CONSTANTS = {"pi", "e", "inf", "nan", "euler_gamma", "float16", "float32", "float64", "complex64", "complex128"}
MODULES = sorted(path for path in OPS.rglob("*.py") if path.name not in ("__init__.py", "framework.py"))
MODULE_NAMES = {path.stem for path in MODULES}


def rules_of(tree: ast.Module) -> Iterator[ast.Lambda | ast.FunctionDef]:
    """The rules that a module states, and the functions of the module that they call."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    waiting: list[ast.expr | ast.FunctionDef] = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in FACTORIES:
            waiting += [k.value for k in call.keywords if k.arg is not None and k.arg not in OPTIONS]
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
    ("helper", ".std"),
])
def test_the_test_sees_what_it_forbids(rule: str, complaint: str) -> None:
    source = f"def helper(g, x):\n    return g / x.std()\n\nop = elementwise('f', np.exp, x={rule})\n"
    assert any(complaint in fault for fault in faults(source))


def test_every_module_states_rules() -> None:
    """The search above finds rules at all, in the modules where they are known to stand."""
    arithmetic = ast.parse((OPS / "elementwise" / "arithmetic.py").read_text())
    assert len([*rules_of(arithmetic)]) > 10
