"""Batch norms inside checkpoints, beside PyTorch: what is computed again moves the running statistics again."""

from __future__ import annotations

import pytest
import torch

import retrograd


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("momentum", [0.1, None])
def test_statistics_of_a_batch_move_again_when_a_checkpoint_is_computed_again(momentum: float | None,
                                                                              reentrant: bool) -> None:
    """Also if the batch norm is the last layer, whose saved values end the second computation."""
    found = []
    for library in (torch, retrograd):
        library.manual_seed(0)
        norm = library.nn.BatchNorm1d(4, momentum=momentum)
        first = library.nn.Sequential(library.nn.Linear(3, 4), norm)
        for layers in (first, library.nn.Sequential(first, library.nn.ReLU())):
            x = library.randn(5, 3).requires_grad_()
            library.utils.checkpoint.checkpoint(layers, x, use_reentrant=reentrant).sum().backward()
            found.append([*norm.running_mean.tolist(), *norm.running_var.tolist(), norm.num_batches_tracked.item()])
    assert found[:2] == [pytest.approx(each) for each in found[2:]]
