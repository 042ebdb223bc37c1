"""The correct calls that the table of operators holds: every public call that its entries make, as PyTorch sees it.

An entry is called with its first sample, and each call of a public function or method on the way is written down, as
text with names for its tensors. PyTorch hands on all options of its Python functions, so that these are named, too.
"""

from __future__ import annotations

import warnings
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from comparing.against_torch import tensor_of
from comparing.wrong_calls import Call, function, maker
from op_table.table import DTYPES, TABLE, Entry

_SPACES = ("torch", "torch.Tensor", "torch.special", "torch.linalg", "torch.fft", "torch.nn.functional")


class _Unwritten(Exception):
    """A value that has no text, such as a generator."""


class _Writer:
    """Writes the arguments of one call as text. Two calls with the same `kinds` differ only by their values."""

    def __init__(self) -> None:
        self.tensors: list[np.ndarray[Any, Any]] = []

    def text(self, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            self.tensors.append(np.array(value.detach().numpy(), order="K"))
            return f"x{len(self.tensors) - 1}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            return f"({''.join(f'{self.text(v)}, ' for v in value)})"
        if isinstance(value, float):
            return repr(value) if np.isfinite(value) else f"float('{value}')"
        if isinstance(value, bool | int | complex | str | torch.dtype | type(None)):
            return repr(value)
        raise _Unwritten


def _kind(value: Any) -> str:
    """What an argument is, as far as another call with such an argument would show nothing new."""
    if isinstance(value, torch.Tensor):
        return "float" if value.is_floating_point() or value.is_complex() else "indices"
    if isinstance(value, list | tuple):
        return f"list of {_kind(value[0]) if value else ''}"
    return type(value).__name__


class _Recorder(TorchFunctionMode):
    """Writes down each public call, before it is made."""

    def __init__(self, found: dict[Any, Call]) -> None:
        super().__init__()
        self.found = found

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {k: v for k, v in (kwargs or {}).items() if not (k == "_stacklevel" or (k == "out" and v is None))}
        for name in _names().get(function, ()):
            key = (name, *map(_kind, args), *((k, _kind(v)) for k, v in given.items()))
            if key not in self.found:
                self._write(key, args, given)
        return function(*args, **(kwargs or {}))

    def _write(self, key: Any, args: Any, kwargs: dict[str, Any]) -> None:
        writer = _Writer()
        try:
            texts = [*map(writer.text, args), *(f"{k}={writer.text(v)}" for k, v in kwargs.items())]
        except _Unwritten:
            return
        self.found[key] = Call(key[0], (", ".join(texts),), tuple(writer.tensors))


@cache
def _names() -> dict[Any, list[str]]:
    """The full names of each public function. A method stands for the function of torch of the same name, too."""
    found: dict[Any, list[str]] = {}
    for space in _SPACES:
        module = attrgetter(space)(_Root)
        for name in dir(module):
            private = name[0] == "_" and name[:2] != "__"
            if not private and callable(value := getattr(module, name)) and not isinstance(value, type):
                found.setdefault(value, []).append(f"{space}.{name}")
                if space == "torch.Tensor" and callable(getattr(torch, name, None)):
                    found[value].append(f"torch.{name}")
    return found


class _Root:
    torch = torch


def _taken(call: Call) -> bool:
    """Whether PyTorch takes the call, if what was called was a method, and the call is of a function."""
    try:
        eval(f"function({', '.join(call.arguments)})", maker(torch, call.tensors) | {
            "function": function(torch, call.name)})
    except Exception:
        return False
    return True


def _sample(entry: Entry) -> list[Any]:
    """PyTorch's tensors of the first sample with elements, in the first dtype that the entry takes; none without."""
    dtype = "float32" if entry.kinds[0] == "f" else DTYPES[entry.kinds[0]][0]
    arrays = next((arrays for arrays in entry.samples(dtype) if all(array.size for array in arrays)), [])
    return [tensor_of(torch, array).requires_grad_(array.dtype.kind in "fc") for array in arrays]


@cache
def table_calls() -> tuple[Call, ...]:
    """The calls of all entries, one for each way of calling a function."""
    found: dict[Any, Call] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in TABLE:
            # PyTorch's lobpcg is Python of a hundred thousand calls, and is none itself.
            if not entry.name.startswith("lobpcg") and (inputs := _sample(entry)):
                with _Recorder(found):
                    entry.call(torch, *inputs)
        return tuple(filter(_taken, found.values()))
