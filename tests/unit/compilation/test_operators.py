"""Each operator of the table gives in a compiled function what it gives without, in every way in which it is used."""

from __future__ import annotations

import random
from functools import partial
from typing import Any
from zlib import crc32

import pytest

import retrograd as torch
from compiled.operators import WAYS, calls, difference, dtypes, seen
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
            found = difference(seen(compiled, inputs, need), seen(step, inputs, need), near, way in STRIDES)
            assert not found, f"{way}, {dtype}, call {place}"
