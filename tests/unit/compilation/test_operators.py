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

CLOSE = {"float64": 1e-9, "complex128": 1e-9, "float32": 2e-4, "complex64": 2e-4, "float16": 1e-2}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.sampled(16)
@pytest.mark.parametrize("backend", ["numpy", pytest.param("llvm", marks=needs("llvmlite"))])
@pytest.mark.parametrize("entry", TABLE, ids=str)
def test_an_operator_in_a_compiled_function(entry: Entry, backend: str) -> None:
    draw = random.Random(crc32(f"{entry}{backend}".encode()))
    for way in WAYS:
        dtype = draw.choice(dtypes(entry))
        function = partial(WAYS[way], entry)

        def step(*inputs: object, function: Any = function) -> object:
            return function([*inputs])

        compiled = torch.compile(step, backend=backend, dynamic=draw.choice([None, True, False]))
        near = CLOSE.get(dtype, 0.0) if backend == "llvm" else 0.0
        for place, inputs in enumerate(calls(entry, dtype, draw)):
            need = way == "outside"
            found = difference(seen(compiled, inputs, need), seen(step, inputs, need), near)
            assert not found, f"{way}, {dtype}, call {place}"
