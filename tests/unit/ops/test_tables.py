"""Tables of facts about operators: each row is about an operator that exists, and no row that is needed is missing."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.queries import stated_in, stated_ops
from reading.packages import Package
from retrograd.nn.utils import clip_grad
from retrograd.ops import basic, lacking, reductions, shape, sparse, view_copies
from retrograd.ops.elementwise import arithmetic, comparison
from retrograd.ops.framework import Op, linear, operator
from retrograd.ops.indexing import sorting
from retrograd.ops.tables import INDEX, Table, about, table
from retrograd.optim import together
from retrograd.tensors.recording import dependences
from retrograd.tensors.transforms import batching, formulas, products, special_points
from retrograd.tensors.transforms.families.dims import by_dims
from retrograd.tensors.transforms.families.operands import one_by_one
from retrograd.tensors.transforms.families.table import RULES, rule_of
from retrograd.tensors.transforms.randomness import RANDOM
from retrograd.tensors.transforms.views import DIMS
from retrograd.viz import facts

EVERY = stated_ops() | stated_in([clip_grad, together])


def without_operator(tables: Iterable[Table[Any, Any]], every: set[Op]) -> list[Any]:
    """The keys of rows that are about no operator of the package."""
    names = {op.name for op in every}
    return [key for each in tables for key in each if key not in (names if each.because else every)]


def test_each_row_is_about_an_operator() -> None:
    assert without_operator(facts.tables(), EVERY) == []
    assert len(facts.tables()) >= 17


def test_a_row_without_an_operator_is_found() -> None:
    own = operator("max", np.max)
    planted = [Table("", {"maxx": True, "max": True}, "a reason"), Table("", {own: True, reductions.max_all: True}, "")]
    assert without_operator(planted, EVERY) == ["maxx", own]


def batched_by_a_rule(op: Op) -> bool:
    """Whether `vmap` asks for the rule of an operator, rather than to compute element by element, or to take views."""
    copied = op in batching.VIEWS and batching.VIEWS[op] is not shape.view
    return not (op.kind == "elementwise" or op.view or op.composition is not None or op.kernel in RANDOM or copied
                or (op.kind == "constant" and op not in batching.WHOLE))


def without_rule(ops: Iterable[Op]) -> list[Op]:
    """The operators of which nothing says how `vmap` calls them: no row, and no option that names dims."""
    return [op for op in ops if batched_by_a_rule(op) and op not in RULES
            and DIMS.isdisjoint(op.arguments[1 if op.variadic else op.arity:])]


def test_each_operator_has_a_rule_for_batches_or_names_its_dims() -> None:
    """Sparse arrays are no samples, and the arguments of `call` are a function's."""
    of_sparse = {*sparse.OWN, sparse.dense, sparse.coo_of_compressed, sparse.placed_at, sparse.filled,
                 sparse.spdiags}
    assert {*without_rule(stated_ops())} - of_sparse == {basic.call}


def test_an_operator_without_a_rule_is_found() -> None:
    planted = [operator("planted", lambda x: x, tensors=1), linear("planted", lambda x, dim: x, x=lambda g: g)]
    assert without_rule(planted) == planted[:1]


def test_each_rule_for_batches_is_reached() -> None:
    assert [op for op in RULES if not batched_by_a_rule(op)] == []


def test_each_row_about_tangents_is_reached() -> None:
    """Elementwise and linear operators have their tangents by their kind, unless these differ at special points
    from what the gradient says. An operator has one row."""
    by_kind = [op for op in formulas.FORMULAS if op.kind != "operator"]
    assert [op for op in by_kind if op.kind != "elementwise" or op not in special_points.SPECIAL] == []
    assert [op for op in formulas.FORMULAS if not op.steps or op in products.PRODUCTS] == []
    assert [op for op in products.PRODUCTS if not op.steps or max(products.PRODUCTS[op].factors) >= op.arity] == []


def test_what_the_rows_name() -> None:
    """The inputs that gradients count as depending on, and a kernel or none for each of three kinds of types."""
    for op in EVERY:
        named = dependences._INPUTS.get(op.name, "").replace(":", " ").split()
        assert {*named} <= {*op.arguments}, op
    assert {len(row) for row in lacking.kernels().values()} == {3}


def test_two_operators_of_one_name_have_rows_of_their_own() -> None:
    assert reductions.max_all.name == sorting.max_dim.name == "max"
    assert sorting.max_dim not in RULES
    assert rule_of(sorting.max_dim) is by_dims
    assert rule_of(reductions.max_all) is RULES[reductions.max_all]
    assert formulas.FORMULAS[reductions.max_all] is not formulas.FORMULAS[sorting.max_dim]


def test_an_operator_of_a_program_has_no_row() -> None:
    """Its name may be that of an operator of the package, and its options may be called like dims."""
    for name in ("sum", "mm", "softmax"):
        own = torch.op.operator(name, lambda x, dim: x * dim, tensors=1, x=lambda g, dim: g * dim)
        assert [each.says for each in INDEX if own in each] == []
        assert rule_of(own) is one_by_one
        x = torch.tensor([[1., 2.], [3., 4.]])
        assert torch.vmap(lambda x, own=own: own(x, 3))(x).tolist() == (3 * x).tolist()
        assert torch.func.jvp(lambda x, own=own: own(x, 3), (x,), (x,))[1].tolist() == (3 * x).tolist()


def test_what_a_table_refuses() -> None:
    before = [*INDEX]
    with pytest.raises(TypeError, match="two rows say of <op add>: planted"):
        table("planted", {arithmetic.add: 1}, {arithmetic.mul: 1, arithmetic.add: 1})
    with pytest.raises(TypeError, match="rows are keyed by names if and only if something says why: planted"):
        table("planted", {"add": 1})
    with pytest.raises(TypeError, match="if and only if"):
        table("planted", {arithmetic.add: 1}, because="a reason")
    with pytest.raises(TypeError, match="if and only if"):
        table("planted", dict[Any, int]({arithmetic.add: 1, "mul": 1}), because="a reason")
    assert before == INDEX


def test_a_row_holds_for_the_form_in_place() -> None:
    """Unless that has a row of its own, or another name."""
    try:
        made = table("planted", {arithmetic.fill: 1, arithmetic.fill_tensor: 2, arithmetic.fill_tensor.written: 3,
                                 shape.transpose: 4})
        assert made == {arithmetic.fill: 1, arithmetic.fill.written: 1, arithmetic.fill_tensor: 2,
                        arithmetic.fill_tensor.written: 3, shape.transpose: 4}
        assert ("planted", 1) in about(arithmetic.fill.written)
    finally:
        INDEX.pop()


POOL = [op for each in (arithmetic.fill, arithmetic.fill_tensor, comparison.eq, shape.transpose, arithmetic.add)
        for op in dict.fromkeys((each, each.written))]


@pytest.mark.parametrize("seed", range(60))
def test_random_tables(seed: int) -> None:
    """Parts that may share operators, have names among operators, or have forms in place before the operators."""
    draws, before = np.random.default_rng(seed), [*INDEX]
    pool: list[Any] = [*POOL, *(["add", "fill"] if seed % 3 == 0 else [])]
    keys = [pool[i] for i in draws.permutation(len(pool))[:draws.integers(1, len(pool))]]
    parts: list[dict[Any, int]] = [{} for _ in range(draws.integers(1, 4))]
    for number, key in enumerate(keys):
        parts[draws.integers(len(parts))][key] = number
    if seed % 4 == 0:
        parts[draws.integers(len(parts))][keys[0]] = -1    # which may be a second row
    because = "a reason" if draws.random() < 0.3 else ""
    found = {key: [part[key] for part in parts if key in part] for key in keys}
    if any(len(rows) > 1 for rows in found.values()) or {isinstance(key, str) for key in keys} != {bool(because)}:
        with pytest.raises(TypeError):
            table("planted", *parts, because=because)
        assert before == INDEX
        return
    made = table("planted", *parts, because=because)
    assert INDEX.pop() is made
    for op in POOL:
        of = [each for each in POOL if each.written is op and each.name == op.name and each in found and not because]
        assert made.get(op) == (found[op][0] if op in found else found[of[0]][0] if of else None)


def test_the_index_has_the_tables_of_all_modules() -> None:
    """A table is in the index once its module is imported. `explain` imports every module that makes a table."""
    package = Package(Path(torch.__file__).parent, words="tables")
    making = {found.importer for found in package.imports if found.imported == "ops.tables"} - {"viz.facts"}
    done = subprocess.run([sys.executable, "-c", "import retrograd.viz.facts, sys; print(*sys.modules)"],
                          capture_output=True, text=True, check=True, timeout=120)
    assert making
    assert {f"retrograd.{name}" for name in making} <= {*done.stdout.split()}


def asks_for_a_name(node: ast.AST) -> bool:
    """Whether code compares the name of an operator, or looks it up: `op.name in …`, `…[op.name]`, `….get(op.name)`."""
    asked: list[ast.expr] = []
    if isinstance(node, ast.Compare):
        asked = [node.left, *[each for op, each in zip(node.ops, node.comparators, strict=True)
                              if isinstance(op, ast.Eq | ast.NotEq)]]
    elif isinstance(node, ast.Subscript):
        asked = [node.slice]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
        asked = [*node.args]
    parts = [part for each in asked for part in ([*each.elts] if isinstance(each, ast.Tuple) else [each])]
    return bool({"op.name", "line.op.name"}.intersection(map(ast.unparse, parts)))


# Modules that ask for the name of an operator: those with tables by name, the compiler, and the translation to the
# operators of PyTorch's core, which go by their names.
ASKING = {"autograd.profiler_recording", "tensors.recording.dependences", "compilation.passes.effects",
          "compilation.sized.pairing", "dispatch.compositions", "dispatch.gradients",
          "dispatch.translation"}


def test_nothing_else_asks_for_the_name_of_an_operator() -> None:
    """Two operators may have one name."""
    package = Package(Path(torch.__file__).parent, words="op.name")
    found = {name for name, tree in package.trees.items() if any(map(asks_for_a_name, ast.walk(tree)))}
    assert found == ASKING


@pytest.mark.parametrize(("code", "asks"), [
    ("op.name in WHOLE", True), ("op.name == 'max'", True), ("x = RULES.get(op.name, one)", True),
    ("RULES[op.name]", True), ("FORMULAS.get((op.name, True))", True), ("raise ValueError(op.name)", False),
    ("op in WHOLE", False), ("RULES.get(op)", False), ("event.name == 'max'", False)])
def test_how_code_asks_for_a_name(code: str, asks: bool) -> None:
    assert any(map(asks_for_a_name, ast.walk(ast.parse(code)))) is asks


def test_explain_says_what_the_tables_say() -> None:
    text = repr(torch.explain(torch.addmm))
    assert "  vmap computes a batch by _addmm, at tensors/transforms/families/products.py:" in text
    assert "(A batch of rows times one matrix, plus a row, is one product)." in text
    assert "of the operands 1, 2." in text
    text = repr(torch.explain(view_copies.COPIES[shape.view]))
    assert "vmap computes a batch by _in_shape, at" in text
    assert "A copy of what it shows has the node ViewBackward0_copy." in repr(torch.explain(shape.view))
    for op in EVERY:
        said = facts.facts_of(op)
        assert len(said) == len(about(op)), op
        assert not [each for each in said if "{" in each or " at 0x" in each], op
