"""Every operator of the table against real PyTorch: values, dtypes, graph names, gradients to second order, special points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from against_torch import compare
from op_table import DTYPES, TABLE, Entry

CASES = [pytest.param(entry, dtype, id=f"{entry}-{dtype}")
         for entry in TABLE for kind in entry.kinds for dtype in DTYPES[kind]]


@pytest.mark.parametrize(("entry", "dtype"), CASES)
def test_values_graph_and_gradients(entry: Entry, dtype: str) -> None:
    for arrays in entry.samples(dtype):
        compare(entry.call, *arrays)


@pytest.mark.parametrize("entry", [e for e in TABLE if e.points and "f" in e.kinds], ids=str)
def test_special_points(entry: Entry) -> None:
    inputs = len(entry.shapes[0])
    for point in entry.points:
        for other in entry.points if inputs == 2 else (1.0,):
            values: list[np.ndarray[Any, Any]] = [np.full((2, 2), point), np.full((2, 2), other)][:inputs]
            compare(entry.call, *values)
