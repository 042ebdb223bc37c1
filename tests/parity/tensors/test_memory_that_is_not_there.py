"""Tensors on the device meta and sparse tensors where a program asks for memory: the errors of PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

KINDS: dict[str, Callable[[Any], Any]] = {
    "meta": lambda t: t.ones(2, device="meta"),
    "meta, requires grad": lambda t: t.ones(2, device="meta", requires_grad=True),
    "coo": lambda t: t.eye(2).to_sparse(), "coo, requires grad": lambda t: t.eye(2).to_sparse().requires_grad_(),
    "csr": lambda t: t.eye(2).to_sparse_csr()}
ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "__dlpack__": lambda t, x: x.__dlpack__(), "np.from_dlpack": lambda t, x: np.from_dlpack(x),
    "from_dlpack": lambda t, x: t.from_dlpack(x),
    "__dlpack_device__": lambda t, x: tuple(map(int, x.__dlpack_device__())),
    "numpy": lambda t, x: x.numpy(), "asarray": lambda t, x: np.asarray(x),
    "isinstance": lambda t, x: isinstance(x, t.FloatTensor)}


def outcome(t: Any, kind: str, asked: str) -> str:
    try:
        return repr(ASKED[asked](t, KINDS[kind](t)))
    except Exception as error:
        return f"{type(error).__name__}: {error}".partition(". This could be")[0]


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_pytorchs(kind: str, asked: str) -> None:
    assert outcome(retrograd, kind, asked) == outcome(torch, kind, asked)
