"""`layout=` of the functions that make tensors: the layout of the result, or the error."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

import retrograd

CALLS = """
torch.full((2, 2), 1., layout=layout)
torch.zeros(2, 2, layout=layout)
torch.ones(2, 2, layout=layout)
torch.empty(2, 2, layout=layout)
torch.rand(2, 2, layout=layout)
torch.randn(2, 2, layout=layout)
torch.randint(3, (2, 2), layout=layout)
torch.randint(1, 3, (2, 2), layout=layout)
torch.normal(0., 1., (2, 2), layout=layout)
torch.eye(2, layout=layout)
torch.arange(3, layout=layout)
torch.range(0, 2, layout=layout)
torch.linspace(0, 1, 3, layout=layout)
torch.logspace(0, 1, 3, layout=layout)
torch.randperm(3, layout=layout)
torch.tril_indices(2, 2, layout=layout)
torch.triu_indices(2, 2, layout=layout)
torch.zeros_like(x, layout=layout)
torch.ones_like(x, layout=layout)
torch.full_like(x, 1., layout=layout)
torch.empty_like(x, layout=layout)
torch.rand_like(x, layout=layout)
torch.randn_like(x, layout=layout)
torch.randint_like(x, 3, layout=layout)
torch.empty_strided((2, 2), (2, 1), layout=layout)
torch.empty_permuted((2, 2), (1, 0), layout=layout)
torch.hann_window(3, layout=layout)
torch.hamming_window(3, layout=layout)
torch.blackman_window(3, layout=layout)
torch.bartlett_window(3, layout=layout)
torch.kaiser_window(3, layout=layout)
torch.scalar_tensor(1., layout=layout)
x.new_zeros((2, 2), layout=layout)
x.new_zeros(2, 2, dtype=torch.int64, layout=layout)
x.new_full((2, 2), 1., layout=layout)
x.new_ones((2, 2), layout=layout)
x.new_empty((2, 2), layout=layout)
x.new_empty_strided((2, 2), (2, 1), layout=layout)
""".strip().split("\n")


def _end(torch: Any, call: str, name: str) -> str:
    torch.manual_seed(0)
    try:
        found = eval(call, {"torch": torch, "layout": getattr(torch, name), "x": torch.ones(2, 2)})
    except Exception as error:
        return f"{type(error).__name__}: {str(error).split('fburl')[0]}"
    return f"{found.layout} {found.dtype} {tuple(found.shape)}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_sparse_coo(call: str) -> None:
    assert _end(retrograd, call, "sparse_coo") == _end(torch, call, "sparse_coo")
    assert _end(retrograd, call, "strided") == _end(torch, call, "strided")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["sparse_csr", "sparse_csc"])
@pytest.mark.parametrize("call", CALLS)
def test_compressed_layouts(call: str, name: str) -> None:
    """PyTorch says of some functions that they lack another kernel, and `full` makes a matrix without elements."""
    theirs, ours = _end(torch, call, name), _end(retrograd, call, name)
    assert theirs == ours or not ours.startswith("torch.")


def test_each_function_with_a_layout_is_called() -> None:
    named = {name for name in retrograd.__all__ if "layout" in _parameters(getattr(retrograd, name))}
    of_sparse = {name for name in named if name.startswith("sparse_")}
    assert named - {call.partition("(")[0].removeprefix("torch.") for call in CALLS} == of_sparse | {"from_file"}


def _parameters(function: Any) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()
