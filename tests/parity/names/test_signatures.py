"""Every parameter that PyTorch takes by name is taken by that name here."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import pytest
import torch

import retrograd
from comparing import signatures


def _shared() -> list[Any]:
    """The name of each function that both have, PyTorch's overloads of it, and ours."""
    found = [f"torch.{name}" for name in signatures.functions() if name in retrograd.__all__]
    found += [f"torch.Tensor.{name}" for name in signatures.methods() if hasattr(retrograd.Tensor, name)]
    for space in ("nn.functional", "linalg", "special", "fft"):
        listed = attrgetter(space)(retrograd).__all__
        found += [f"torch.{space}.{name}" for name in sorted({*listed} & {*dir(attrgetter(space)(torch))})]
    rows = [(name, attrgetter(name.partition(".")[2])) for name in found if not name.rpartition(".")[2].startswith("_")]
    return [pytest.param(name, signatures.overloads(name, get(torch)), get(retrograd), id=name) for name, get in rows]


@pytest.mark.parametrize(("name", "overloads", "ours"), _shared())
def test_parameters_have_pytorch_names(name: str, overloads: list[signatures.Overload], ours: Any) -> None:
    # Of a function that writes, the tensor itself is given by position.
    first = {"input"} if name.endswith("_") else set()
    assert {*signatures.refused(ours, overloads)} - first == signatures.ABSENT.get(name, set())
