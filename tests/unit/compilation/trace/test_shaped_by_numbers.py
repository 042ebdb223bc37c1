"""Calls whose results have a shape that numbers decide: no plan repeats them, and the compiler knows all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from op_table.table import TABLE, Entry
from retrograd.compilation.trace.shaped_by_numbers import is_shaped_by_numbers
from retrograd.foundations.modes import standing
from retrograd.ops.basic import call as any_function
from retrograd.ops.creation import Draw

Array = np.ndarray[Any, Any]
PARTS = 12


def _gradient(x: Any) -> Any:
    w = x.float().requires_grad_()
    (w[w > 1] ** 2).sum().backward()
    return w.grad


def _tangent(x: Any) -> Any:
    return torch.func.jvp(lambda w: w[w > 1] * 2, (x.float(),), (torch.ones(3),))[1]


def _sparse_gradient(x: Any) -> Any:
    w = x.float().outer(x.float()).requires_grad_()
    (torch.sparse.mm(w.to_sparse(), torch.ones(3, 2)) ** 2).sum().backward()
    return w.grad.clone()


def _columns(x: Any) -> Any:
    """A matrix whose rank depends on the numbers."""
    return torch.stack([x, x.sort()[0]], 1).double()


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "unique": lambda x: torch.unique(x) * 2,
    "unique with counts": lambda x: torch.unique(x, return_counts=True)[1] * 2,
    "unique along a dim": lambda x: torch.unique(x, dim=0) * 2,
    "unique_consecutive": lambda x: torch.unique_consecutive(x) * 2,
    "bincount": lambda x: torch.bincount(x) * 2,
    "masked_select": lambda x: torch.masked_select(x, x > 1) * 2,
    "nonzero": lambda x: torch.nonzero(x) * 2,
    "nonzero as a tuple": lambda x: x.nonzero(as_tuple=True)[0] * 2,
    "where": lambda x: torch.where(x > 1)[0] * 2,
    "mask": lambda x: x[x > 1] * 2,
    "mask of bytes": lambda x: x[(x > 1).to(torch.uint8)] * 2,
    "mask beside an index": lambda x: x[None].expand(2, 3)[torch.tensor([1]), x > 1] * 2,
    "sum of a mask": lambda x: (x * 1)[x > 1].sum(),
    "gradient of a mask": _gradient,
    "tangent of a mask": _tangent,
    "write by a mask": lambda x: torch.index_put(x, (x > 1,), torch.tensor(9)),
    "repeat_interleave": lambda x: torch.repeat_interleave(x, x) * 2,
    "values of a sparse tensor": lambda x: x.to_sparse().values() * 2,
    "gradient of a sparse product": _sparse_gradient,
    "residuals of lstsq": lambda x: torch.linalg.lstsq(_columns(x), torch.ones(3, 1).double(), driver="gelsd")[1] * 2,
    "one_hot": lambda x: torch.nn.functional.one_hot(x) * 2,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["numpy", None])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_each_call_has_the_shape_of_its_own_numbers(program: Callable[[Any], Any], backend: str | None) -> None:
    compiled = torch.compile(program, backend=backend) if backend else torch.compile(program)
    for numbers in ([1, 2, 2], [1, 1, 1], [3, 2, 1], [1, 2, 3], [2, 3, 3], [0, 0, 9]):
        x = torch.tensor(numbers)
        expected, found = program(x), compiled(x)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert found.tolist() == expected.tolist()


def _with_other_numbers(array: Array) -> Iterator[Array]:
    yield array
    yield np.ascontiguousarray(array[..., ::-1]) if array.ndim else array
    yield np.zeros_like(array)
    yield np.ones_like(array)


def _key(arg: Any) -> Any:
    if isinstance(arg, np.ndarray):
        return "array", arg.shape, arg.dtype.str
    return tuple(map(_key, arg)) if isinstance(arg, (tuple, list)) else repr(arg)


def shaped_by_numbers(entries: list[Entry]) -> set[Any]:
    """The operators that gave results of other shapes for arguments that differ in numbers only, but which the compiler
    does not know.
    """
    shapes, unknown = defaultdict[Any, set[Any]](set), set[Any]()

    def note(op: Any, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
        found = call(*args)
        if not write and op is not any_function and not any([isinstance(arg, Draw) for arg in args]):
            of = shapes[op, tuple(map(_key, args))]
            of.add(tuple([np.shape(part) for part in (found if isinstance(found, tuple) else (found,))]))
            if len(of) > 1 and not is_shaped_by_numbers(op, args):
                unknown.add(op)
        return found

    for entry in entries:
        for dtype in ("float64", "int64"):
            for sample in [*entry.samples(dtype)][:1]:
                for arrays in zip(*map(_with_other_numbers, sample)):
                    with standing(note):
                        _call(entry, arrays)
    return unknown


def _call(entry: Entry, arrays: tuple[Array, ...]) -> None:
    with suppress(RuntimeError, ValueError, TypeError, IndexError, AssertionError):    # it cannot take the numbers
        entry.call(torch, *[torch.tensor(array) for array in arrays])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_all_operators_are_known(part: int) -> None:
    assert shaped_by_numbers(TABLE[part::PARTS]) == set()


def test_an_operator_that_is_not_known_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "is_shaped_by_numbers", lambda op, args: False)
    entries = [entry for entry in TABLE if entry.name in ("unique", "bincount", "add")]
    assert {op.name for op in shaped_by_numbers(entries)} == {"_unique2", "bincount"}
