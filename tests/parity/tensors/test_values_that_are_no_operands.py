"""Python's operators beside a value that is no number and no tensor: for each kind of tensor as in PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd

BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">="]
EXPRESSIONS = [*[f"x {sign} v" for sign in BINARY], *[f"v {sign} x" for sign in BINARY],
               *[f"x.__{name}__(v)" for name in ("eq", "iadd", "ior", "iand", "matmul", "rsub", "pow")],
               "x in [None, x]", "v in [x]", "[v].index(v) if v not in [x] else 1", "x.add_(v)", "~x"]
VALUES = {"None": None, "str": "a", "object": object(), "list": [1.0], "dict": {}}
# PyTorch begins to compute 1 / x, which sparse tensors have not, before it looks at the value.
BEGUN = {f"v / x, {name}" for name in VALUES}


def kinds(t: Any) -> dict[str, Callable[[], Any]]:
    class Sub(t.Tensor):  # type: ignore[misc]
        pass

    return {"plain": lambda: t.ones(2, 2), "subclass": lambda: t.ones(2, 2).as_subclass(Sub),
            "parameter": lambda: t.nn.Parameter(t.ones(2, 2)), "meta": lambda: t.ones(2, 2, device="meta"),
            "coo": lambda: t.ones(2, 2).to_sparse(), "csr": lambda: t.ones(2, 2).to_sparse_csr()}


def outcome(t: Any, kind: str, expression: str, value: object) -> str:
    names = {"x": kinds(t)[kind](), "v": value}
    try:
        found = eval(expression, names)
    except Exception as error:
        return re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:120]
    return "a tensor" if isinstance(found, t.Tensor) else repr(found)


def different(kind: str) -> dict[str, list[str]]:
    found = {}
    for expression in EXPRESSIONS:
        for name, value in VALUES.items():
            outcomes = [outcome(t, kind, expression, value) for t in (retrograd, torch)]
            if outcomes[0] != outcomes[1]:
                found[f"{expression}, {name}"] = outcomes
    return found


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("kind", kinds(torch))
def test_an_operator_ends_as_in_pytorch(kind: str) -> None:
    assert different(kind).keys() == (BEGUN if kind in ("coo", "csr") else set())
