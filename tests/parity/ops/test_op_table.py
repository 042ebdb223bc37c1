"""Every operator of the table against PyTorch: values, dtypes, names in the graph, gradients to second order, kinks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from comparing.against_torch import compare, compare_dependence, compare_tangents
from op_table.table import DTYPES, RANDOM, TABLE, Entry

# All but random numbers are tried on every dtype: where PyTorch refuses one, the error must be the same.
CASES = [pytest.param(entry, dtype, id=f"{entry}-{dtype}")
         for entry in TABLE for kind in (entry.kinds if entry in RANDOM else DTYPES) for dtype in DTYPES[kind]
         if kind not in entry.apart]
SMOOTH = [pytest.param(entry, dtype, id=f"{entry}-{dtype}") for entry in TABLE
          if not entry.refused and not entry.unsteady_tangent
          for kind, dtype in (("f", "float64"), ("c", "complex128")) if kind in entry.kinds]
LIMITED = [entry for entry in TABLE if entry.first_only]


def order(entry: Entry) -> int:
    return 1 if entry.first_only else 2


def at_points(entry: Entry) -> Iterator[list[np.ndarray[Any, Any]]]:
    """Inputs that hold a special point everywhere, with each other such point for a second input."""
    inputs = len(entry.shapes[0])
    for point in entry.points:
        for other in entry.points if inputs == 2 else (1.0,):
            yield [np.full((2, 2), point), np.full((2, 2), other)][:inputs]


@pytest.mark.parametrize(("entry", "dtype"), CASES)
def test_values_graph_and_gradients(entry: Entry, dtype: str) -> None:
    for arrays in entry.samples(dtype):
        compare(entry.call, *arrays, order=order(entry), names=not entry.other_nodes)


@pytest.mark.parametrize("entry", [e for e in TABLE if e.points and "f" in e.kinds], ids=str)
def test_special_points(entry: Entry) -> None:
    for arrays in at_points(entry):
        compare(entry.call, *arrays, order=order(entry))


@pytest.mark.parametrize(("entry", "dtype"), SMOOTH)
def test_tangents(entry: Entry, dtype: str) -> None:
    with pytest.raises(AssertionError, match="tangent") if entry.wrong_tangent else nullcontext():
        for arrays in entry.samples(dtype):
            assert compare_tangents(entry.call, arrays) == (not entry.no_tangent)


@pytest.mark.parametrize("entry", LIMITED, ids=str)
def test_a_limit_to_the_first_derivative_is_still_needed(entry: Entry) -> None:
    def agree(arrays: list[np.ndarray[Any, Any]]) -> bool:
        try:
            compare(entry.call, *arrays)
        except AssertionError:
            return False
        return True

    assert not all(agree(arrays) for arrays in [*entry.samples(), *at_points(entry)])


# Entries whose gradients require grad in other cases than PyTorch's, and why.
OTHERWISE = {
    **dict.fromkeys(("norm 0", "vector_norm 0", "linalg.householder_product of nothing"),
                    "PyTorch has None where ours is zero"),
    **dict.fromkeys(("cond 1", "cond -1", "cond inf", "cond -inf", "cond fro", "lobpcg B", "asinh_", "acosh_", "atanh_",
                     "vander", "vander increasing", "scatter_reduce larger"),
                    "PyTorch's derivative is missing or fails"),
    **dict.fromkeys(("scatter_reduce prod", "index_reduce prod", "scatter_reduce prod without self",
                     "index_reduce prod without self", "scatter_reduce prod of a zero", "scatter_reduce prod of zeros",
                     "scatter_reduce of one", "scatter_reduce_"),
                    "the derivative of a product by one factor is made of the others"),
}


@pytest.mark.parametrize("entry", [entry for entry in TABLE if not entry.refused and entry not in RANDOM], ids=str)
def test_gradients_require_grad_where_pytorchs_do(entry: Entry) -> None:
    kind = next((kind for kind in "fc" if kind in entry.kinds), None)
    if kind is None:
        return
    arrays = next((arrays for arrays in entry.samples(DTYPES[kind][0]) if all(a.size for a in arrays)), None)
    if arrays is not None:
        with pytest.raises(AssertionError) if str(entry) in OTHERWISE else nullcontext():
            compare_dependence(entry.call, arrays)
