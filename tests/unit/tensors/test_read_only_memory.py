"""Tensors over memory that NumPy lets nobody write to."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch


def test_from_numpy_warns_of_what_is_not_writable() -> None:
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        torch.from_numpy(np.broadcast_to(np.ones(1), (3,)))


@pytest.mark.parametrize("write", [
    lambda x: x.add_(1), lambda x: x.mul_(x), lambda x: x.zero_(), lambda x: x.copy_(torch.ones(3)),
    lambda x: x.exp_(), lambda x: x.normal_(), lambda x: torch.add(x, 1, out=x), lambda x: x[1:].fill_(2),
    lambda x: operator.setitem(x, 0, 2), lambda x: x.index_fill_(0, torch.tensor([0]), 1.0),
    lambda x: x.masked_fill_(x > 0, 1.0), lambda x: x.index_add_(0, torch.tensor([0]), x[:1].clone()),
    lambda x: x.cumsum_(0), lambda x: x.view(3, 1).t().neg_(),
])
def test_writes_to_what_is_not_writable_are_refused(write: Callable[[Any], Any]) -> None:
    array = np.ones(3)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.from_numpy(array)
    with pytest.raises(RuntimeError, match="^unsupported operation: the written-to tensor refers to memory that is "
                                           "read-only. Please clone"):
        write(x)
    assert (array.tolist(), x._version) == ([1, 1, 1], 0)
    write(x.clone())
