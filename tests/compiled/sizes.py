"""Compiled calls of several sizes, and what is compared of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation import compiled

EXECUTORS = ["numpy", pytest.param("llvm", marks=needs("llvmlite"))]


def noted_traces(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes of the calls that will be traced."""
    found: list[Any] = []
    first = compiled.Compiled._first

    def noted(self: Any, args: Any, kwargs: Any) -> Any:
        found.append(args[0].shape[0])
        return first(self, args, kwargs)

    monkeypatch.setattr(compiled.Compiled, "_first", noted)
    return found


def normal(*shape: int) -> Any:
    return torch.tensor(np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32))


def run_of(function: Any) -> Any:
    """What runs the calls of a compiled function."""
    return next(cell.cell_contents for cell in function.__closure__ if hasattr(cell.cell_contents, "run")).run


def why(function: Any) -> list[str]:
    """Why a compiled function has no plan for all sizes."""
    return [*run_of(function).refused]


def parts(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def check(wanted: Any, found: Any, bits: bool) -> None:
    """Compare two parts of a result. Large sums and machine code round otherwise."""
    if not torch.is_tensor(wanted):
        assert wanted is found
        return
    assert wanted.shape == found.shape
    assert wanted.stride() == found.stride()
    if bits:
        assert wanted.numpy().tobytes() == found.numpy().tobytes()
    else:
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
