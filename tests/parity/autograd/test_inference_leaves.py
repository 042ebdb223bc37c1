"""Tensors made of inference tensors, and `requires_grad` of them, inside and outside of the mode."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

TENSORS = {
    "inference": "with t.inference_mode(): x = t.tensor([1., 2.])",
    "ints of inference": "with t.inference_mode(): x = t.tensor([1, 2])",
    "view of inference": "with t.inference_mode(): x = t.tensor([1., 2.]).view(2, 1)",
    "plain": "x = t.tensor([1., 2.])", "ints": "x = t.tensor([1, 2])",
    "leaf": "x = t.tensor([1., 2.], requires_grad=True)", "computed": "x = t.tensor([1., 2.], requires_grad=True) * 1",
    "parameter": "x = t.nn.Parameter(t.ones(2))", "view": "x = (t.ones(2, requires_grad=True) * 1)[:1]",
}
MODES = ("if True:", "with t.inference_mode():", "with t.inference_mode(False):", "with t.no_grad():")
CALLS = (
    *(f"t.asarray(x{given}{grad})" for given in ("", ", copy=True", ", copy=False", ", dtype=t.float64",
                                                 ", dtype=t.float32", ", copy=True, dtype=t.float64")
      for grad in ("", ", requires_grad=True", ", requires_grad=False")),
    "t.asarray(x.detach().__dlpack__())", "t.as_tensor(x)", "t.as_tensor(x, dtype=t.float64)", "t.tensor(x)",
    "t.tensor(x, requires_grad=True)", "x.new_tensor(x, requires_grad=True)", "t.nn.Parameter(x)", "x.clone()",
    "x.clone().requires_grad_()", "x.detach()", "x.detach().requires_grad_()", "x.detach_()", "x.clone().detach_()",
    "x.requires_grad_()", "x.data", "x.view(-1)", "x.to(t.float64)", "x.contiguous()")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tensor", TENSORS)
@pytest.mark.filterwarnings("ignore:To copy construct", "ignore:torch.asarray. unspecified requires_grad")
def test_leaves_of_inference_tensors(tensor: str, mode: str, call: str) -> None:
    def seen(library: Any) -> Any:
        names = {"t": library}
        exec(TENSORS[tensor], names)
        x: Any = names["x"]
        try:
            exec(f"{mode}\n    r = {call}", names)
        except (RuntimeError, ValueError, BufferError) as error:
            return type(error), str(error).split("\n")[0]
        found: Any = names["r"]
        node = found.grad_fn
        return (found is x, found.is_inference(), found.requires_grad, found.is_leaf, node and node.name(),
                found.tolist(), x.requires_grad, x.is_leaf, str(found.dtype).split(".")[-1])

    assert seen(retrograd) == seen(torch)
