"""The names of all nodes of the graph of a composed function: PyTorch's, down to the leaves."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import retrograd

FUNCTIONS = {
    "RMSNorm": lambda t, f: t.nn.functional.rms_norm(f(3, 4), (4,), f(4)),
    "TripletMarginLoss": lambda t, f: t.nn.functional.triplet_margin_loss(f(3, 4), f(3, 4), f(3, 4), swap=True),
    "TripletMarginWithDistanceLoss": lambda t, f: t.nn.functional.triplet_margin_with_distance_loss(
        f(3, 4), f(3, 4), f(3, 4)),
    "PoissonNLLLoss": lambda t, f: t.nn.functional.poisson_nll_loss(f(3), f(3), full=True),
    "PoissonNLLLoss of rates": lambda t, f: t.nn.functional.poisson_nll_loss(f(3), f(3), log_input=False),
    "CrossEntropyLoss": lambda t, f: t.nn.functional.cross_entropy(f(3, 4), f(3, 4), f(4), label_smoothing=0.25),
    "multi_head_attention_forward": lambda t, f: t.nn.functional.multi_head_attention_forward(
        f(3, 2, 4), f(5, 2, 4), f(5, 2, 4), 4, 2, f(12, 4), f(12), f(1, 1, 4), f(1, 1, 4), True, 0.0, f(4, 4), f(4),
        attn_mask=f(3, 5))[0],
    "corrcoef": lambda t, f: t.corrcoef(f(3, 4)),
    "floor_divide": lambda t, f: f(3) // 2,
    "heaviside": lambda t, f: t.heaviside(f(3), f(3)),
    "ldl_factor": lambda t, f: t.linalg.ldl_factor(f(1, 1))[0],
    "set_": lambda t, f: f(3).clone().set_(f(3).detach()),
}


def named(node: Any) -> Any:
    """The name of a node, and the same of the nodes before it."""
    return node and (node.name(), [named(before) for before, _ in node.next_functions])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_nodes_have_the_names_of_pytorch(name: str) -> None:
    found = []
    for library in (torch, retrograd):
        result = FUNCTIONS[name](library, lambda *shape, t=library: t.full(shape, 0.5, requires_grad=True))
        found.append(named(result.grad_fn))
    assert found[1] == found[0]
