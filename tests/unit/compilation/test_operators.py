"""Each operator of the table gives in a compiled function what it gives without, in every way in which it is used."""

from __future__ import annotations

import random
from functools import partial
from typing import Any
from zlib import crc32

import pytest

import retrograd as torch
from compiled.operators import WAYS, calls, difference, dtypes, seen, widened
from needing import needs
from op_table.entry import Entry
from op_table.table import TABLE

# The ways whose results have the same strides, and those whose results have the same bits with NumPy.
STRIDES = ("plain", "around", "batched", "tangents")
EXACT = ("plain", "around")
GROUPS = [STRIDES, tuple([way for way in WAYS if way not in STRIDES])]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(381)
@pytest.mark.parametrize("ways", GROUPS, ids=",".join)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
@pytest.mark.parametrize("entry", TABLE, ids=str)
def test_an_operator_in_a_compiled_function(entry: Entry, backend: str, ways: tuple[str, ...]) -> None:
    draw = random.Random(crc32(f"{entry}{backend}{ways}".encode()))
    for way in ways:
        dtype = draw.choice(dtypes(entry))
        function = partial(WAYS[way], entry.call)

        def step(*inputs: object, function: Any = function) -> object:
            return function([*inputs])

        compiled = torch.compile(step, backend=backend, dynamic=draw.choice([None, True, False]))
        near = "" if backend == "numpy" and way in EXACT else dtype
        for place, inputs in enumerate(calls(entry, dtype, draw, way != "second")):
            need = way == "outside"
            shown, expected = seen(compiled, inputs, need), seen(step, inputs, need)
            found = difference(shown, expected, near, way in STRIDES)
            if found and way == "second" and dtype == "float32":           # sums of large terms may cancel there
                exact = seen(step, [widened(x) for x in inputs], need)
                found = difference(shown, expected, near, way in STRIDES, exact)
            assert not found, f"{way}, {dtype}, call {place}"


@pytest.mark.parametrize(("found", "expected", "exact", "same"), [
    ([1.0, 2.0], [1.0, 2.0], None, True), ([1.0, 2.1], [1.0, 2.0], None, False),
    ([1e3, 2e-3], [1e3, -1e-3], None, False), ([1e3, 2e-3], [1e3, -1e-3], [1e3, 0.0], True),
    ([1e3, 5e-3], [1e3, -1e-3], [1e3, 0.0], False), ([1e3, 0.5], [1e3, -0.4], [1e3, 0.0], False),
    ([1e3, 2e-3], [1e3, float("nan")], [1e3, 0.0], False), ([1e3], [1e3, 1e-3], [1e3, 0.0], False)])
def test_the_comparison_finds_planted_differences(
        found: list[float], expected: list[float], exact: list[float] | None, same: bool) -> None:
    shown, right, wide = [None if each is None else ([torch.tensor(each)], []) for each in (found, expected, exact)]
    assert (difference(shown, right, "float32", True, wide) == "") is same
