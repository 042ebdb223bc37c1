"""What asks a meta tensor for a number ends as in PyTorch."""

from __future__ import annotations

import operator
from typing import Any

import pytest
import torch

import retrograd

ASKED = {
    "int": int, "float": float, "complex": complex, "index": operator.index, "bool": bool, "range": range,
    "item": lambda x: x.item(), "tolist": lambda x: x.tolist(), "numpy": lambda x: x.numpy(), "len": len,
    "place": lambda x: [1, 2, 3][x], "elements": lambda x: len(list(x)), "in": lambda x: 1 in x, "repr": repr,
    "text": lambda x: f"{x:.2f}", "all": lambda x: bool((x == x).all())}


def end(library: Any, name: str, shape: tuple[int, ...], dtype: str) -> str:
    try:
        return str(ASKED[name](library.empty(shape, dtype=getattr(library, dtype), device="meta")))
    except Exception as error:
        return f"{type(error).__name__}: {error}".replace("retrograd", "torch")


@pytest.mark.parametrize("name", ASKED)
def test_the_end_is_pytorchs(name: str) -> None:
    for shape in ((), (1,), (2,), (0,), (1, 1)):
        for dtype in ("float32", "int64", "bool", "complex64"):
            assert end(retrograd, name, shape, dtype) == end(torch, name, shape, dtype), (shape, dtype)
