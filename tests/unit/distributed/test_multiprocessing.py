"""Processes that share tensors."""

from __future__ import annotations

import numpy as np
import pytest

import retrograd as torch
import retrograd.multiprocessing as mp
from comparing.programs import OURS, printed
from needing import on_unix


@on_unix
def test_processes_share_tensors_and_say_how_they_fail() -> None:
    lines = printed("processes.py", *OURS)
    assert lines[:7] == ["False True True True False", "9.0", "tensor([3., 3., 3.]) 0", "tensor([6., 6., 6.])",
                         "tensor([6., 6., 6.]) 0", "15.0 True", "tensor([7., 8.]) 2"]
    assert lines[7:10] == [
        "ProcessRaisedException -- Process 0 terminated with the following error: "
        "ValueError: process 0 does not work 0 None None",
        "ProcessExitedException process 0 terminated with exit code 3 process 0 terminated with exit code 3 0 3 None",
        "ProcessExitedException process 0 terminated with signal SIGKILL process 0 terminated with signal SIGKILL 0 -9 "
        "SIGKILL"]
    assert "True True" in lines                          # the model that two processes trained


@on_unix
@pytest.mark.parametrize("shared", [False, True])
def test_tensors_keep_their_layout_on_the_way(shared: bool) -> None:
    rows, queue = torch.arange(6.0).view(2, 3), mp.SimpleQueue()
    for sent in (torch.tensor(1.0), rows.t(), rows.t()[1:], rows[0].expand(2, 3), rows[:, ::2], rows.bfloat16().t()):
        queue.put(sent.share_memory_() if shared else sent)
        received = queue.get()
        assert (received.shape, received.stride(), received.dtype) == (sent.shape, sent.stride(), sent.dtype)
        assert received.tolist() == sent.tolist()
        assert torch.atleast_2d(received).mm(torch.atleast_2d(sent).t()).shape[0] == torch.atleast_2d(sent).shape[0]
        if sent.stride() == (0, 1):
            with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single"):
                received.add_(1)
        else:
            received.zero_()
        assert bool(sent.any()) is not shared or sent.stride() == (0, 1)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_a_tensor_moves_to_shared_memory(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape).T if len(shape) == 2 else torch.ones(shape)
    strides, values = x.stride(), x.tolist()
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared()
    assert (x.stride(), x.tolist()) == (strides, values)
    before = x.data_ptr()
    assert x.share_memory_().data_ptr() == before
    assert x.add_(1).is_shared()
    np.testing.assert_array_equal(x.numpy(), np.asarray(values) + 1)


def test_a_leaf_keeps_its_graph_in_shared_memory() -> None:
    weight = torch.nn.Parameter(torch.ones(2))
    weight.share_memory_()
    (weight * 3).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [3, 3]
