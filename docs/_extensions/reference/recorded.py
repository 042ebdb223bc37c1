"""The calls that the entries of the table of operators make, as text: a mode writes down each public function on the
way, with its arguments.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import retrograd
from op_table.table import DTYPES, TABLE, Entry
from reference.namespaces import first_path
from retrograd.overrides import TorchFunctionMode

MOST = 24           # the most elements of all tensors of an example
_NAMES = "xyzwuv"


class Call(NamedTuple):
    """A call: the lines that make its tensors, the names of the tensors, and the text of each argument."""

    tensors: tuple[tuple[str, str, bool], ...]      # the name, the text, whether it can require grad
    arguments: tuple[str, ...]


class _Unwritten(Exception):
    """A value that has no short text."""


class _Recorder(TorchFunctionMode):
    """Writes down the first short call of each public function."""

    def __init__(self, found: dict[str, Call]) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        path = first_path(func) or ""
        if path and path not in self.found:
            with contextlib.suppress(_Unwritten):
                self.found[path] = _written(args, kwargs or {})
        return func(*args, **(kwargs or {}))


def _written(args: Any, kwargs: dict[str, Any]) -> Call:
    tensors: list[tuple[str, str, bool]] = []

    def text(value: Any) -> str:
        if isinstance(value, retrograd.Tensor):
            if len(tensors) == len(_NAMES) or value.layout is not retrograd.strided:
                raise _Unwritten
            tensors.append((_NAMES[len(tensors)], tensor_text(value), value.is_floating_point()))
            return tensors[-1][0]
        if isinstance(value, list | tuple):
            inside = ", ".join(map(text, value))
            return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
        if isinstance(value, float) and not np.isfinite(value):
            return f"float('{value}')"
        if isinstance(value, bool | int | float | complex | str | retrograd.dtype | type(None)):
            return repr(value)
        raise _Unwritten

    arguments = [*map(text, args), *(f"{name}={text(value)}" for name, value in kwargs.items()
                                     if not (name == "out" and value is None))]
    if sum(len(made) for _, made, _ in tensors) > 400:
        raise _Unwritten
    return Call(tuple(tensors), tuple(arguments))


def tensor_text(value: Any) -> str:
    """The call that makes a tensor with these numbers, rounded."""
    if value.numel() > MOST:
        raise _Unwritten
    numbers = np.round(value.detach().numpy(), 2) if value.dtype != retrograd.bool else value.numpy()
    usual = value.dtype in (retrograd.float64, retrograd.float32, retrograd.int64, retrograd.bool,
                            retrograd.complex128, retrograd.complex64)
    listed = (numbers + 0.0 if value.is_floating_point() else numbers).tolist()
    return f"torch.tensor({listed}{'' if usual else f', dtype={value.dtype}'})"


@cache
def calls() -> dict[str, Call]:
    """A short call of each public function that an entry of the table uses, by the path of the function."""
    found: dict[str, Call] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in TABLE:
            for inputs in _samples(entry):
                # Rounded numbers may be outside of what an operator takes.
                with contextlib.suppress(RuntimeError, ValueError, TypeError, IndexError), _Recorder(found):
                    entry.call(retrograd, *inputs)
    return found


def _samples(entry: Entry) -> Iterator[list[Any]]:
    """The small samples of an entry, as tensors, in the first dtype that the entry takes."""
    dtype = DTYPES[entry.kinds[0]][0]
    for arrays in entry.samples(dtype):
        if 0 < sum(array.size for array in arrays) <= MOST and all(array.size for array in arrays):
            yield [retrograd.from_numpy(np.asarray(np.round(array, 2)) if array.dtype.kind in "fc" else array)
                   .requires_grad_(array.dtype.kind in "fc") for array in arrays]
