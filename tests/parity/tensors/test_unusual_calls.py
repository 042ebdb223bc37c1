"""Calls with unusual arguments, each of which once ended otherwise, end as in PyTorch: value, strides, or error."""

from __future__ import annotations

import re
import warnings
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

CALLS = """
np.zeros_like(torch.ones(2))
np.ones_like(torch.ones(2, dtype=torch.int16))
np.full_like(torch.ones(2), 3)
np.zeros_like(torch.ones(2), dtype=int)
np.zeros_like(torch.ones(2), shape=(3,))
np.zeros_like(torch.ones(2, requires_grad=True))
F.batch_norm(torch.ones(0), torch.ones(0), torch.ones(0))
F.batch_norm(torch.ones(0), None, None, training=True)
F.batch_norm(torch.ones(0), None, None, torch.ones(3), torch.ones(3), training=True)
F.interpolate(images, scale_factor=2)
F.interpolate(images, scale_factor=2, mode="bilinear")
F.interpolate(images, size=(2, 2), mode="nearest-exact")
F.interpolate(images.byte(), size=(4, 4), mode="bilinear")
F.interpolate(images[:1], scale_factor=2)
F.interpolate(images[:, :1], scale_factor=2)
F.interpolate(images[:, :, ::2], scale_factor=2)
F.interpolate(images.transpose(2, 3), scale_factor=2)
F.interpolate(images[:, :, :1, :1].expand(2, 3, 4, 4), scale_factor=2)
F.interpolate(images.unsqueeze(2).contiguous(memory_format=torch.channels_last_3d), scale_factor=2)
F.embedding_bag(torch.tensor([[5]]), torch.ones(3, 2), mode="max")
F.embedding_bag(torch.tensor([[-1]]), torch.ones(3, 2), mode="max")
F.embedding_bag(torch.tensor([[5]]), torch.ones(3, 2), mode="sum")
torch.chunk(torch.ones(2, 2), 2**63 - 1)
torch.chunk(torch.ones(1, 2), 2**63 - 1)
torch.chunk(torch.ones(3, 2), 2**63 - 2)
torch.vsplit(torch.ones(2, 2), 2**62)
torch.linalg.cholesky(torch.tensor([[float("nan"), 1.], [1., 2.]]))
torch.linalg.cholesky(torch.tensor([[2., 1.], [1., float("nan")]]))
torch.linalg.cholesky_ex(torch.tensor([[[2., 1.], [1., float("nan")]], [[2., 1.], [1., 2.]]]))[1]
torch.linalg.slogdet(torch.tensor([[float("nan"), 1.], [1., 2.]]))
torch.linalg.ldl_solve(torch.eye(2), torch.tensor([5, 7], dtype=torch.int32), torch.ones(2, 1))
torch.linalg.ldl_solve(torch.eye(2), torch.tensor([0, 0], dtype=torch.int32), torch.ones(2, 1))
torch.linalg.ldl_solve(torch.eye(2), torch.tensor([-9, -9], dtype=torch.int32), torch.ones(2, 1))
torch.linalg.ldl_solve(*torch.linalg.ldl_factor(torch.tensor([[0., 1.], [1., 0.]])), torch.ones(2, 1))
torch.ones(1, 1, 3).squeeze_(0, 1)
torch.ones(1, 1, 3).squeeze(0, 1)
torch.ones(1, 1).squeeze(torch.tensor(0), 1)
torch.ones(1, 1).squeeze(0, 1, 2)
F.bilinear(torch.ones(2), torch.ones(2), torch.ones(2))
F.bilinear(torch.ones(2), torch.ones(2), torch.ones(1, 2))
F.bilinear(torch.ones(2), torch.ones(2), torch.ones(()))
F.bilinear(torch.ones(2), torch.ones(2), torch.ones(1, 2, 2), torch.ones(()))
torch.lu_solve(torch.ones(2, 1), torch.eye(2), torch.tensor(1, dtype=torch.int32))
F.grid_sample(torch.ones(()), torch.ones(1, 2, 2, 2))
F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(()))
F.grid_sample(torch.ones(1, 1, 2, 2), torch.ones(1, 2, 2))
F.grid_sample(torch.ones(1, 1, 2), torch.ones(1, 1))
torch.zeros(3).random_(torch.tensor(5))
torch.zeros(3).random_(torch.tensor(5), torch.tensor(9))
torch.zeros(3).random_(to=torch.tensor(5))
torch.zeros(3).random_(0, None)
torch.zeros(3).random_(torch.tensor(5.))
torch.zeros(3).random_(torch.tensor([5]))
torch.zeros(3).random_(5.)
torch.zeros(3).random_(True)
torch.group_norm(torch.ones(1, 2, 2), torch.tensor(1.))
torch.group_norm(torch.ones(1, 2, 2), torch.tensor(1))
torch.group_norm(torch.ones(1, 2, 2), 1.)
torch.group_norm(torch.ones(1, 2, 2), True)
torch.index_put(torch.zeros(3), (torch.tensor([0]),), torch.ones(1), False, 1)
torch.index_put(torch.zeros(3), (torch.tensor([0]),))
torch.index_put(torch.zeros(3))
torch.zeros(3).index_put_((torch.tensor([0]),))
torch.zeros(3).index_put_((torch.tensor([0]),), torch.ones(1), True, 2)
torch.zeros(3).index_put_((torch.tensor([0]),), 1.)
torch.zeros(3).index_put_(torch.tensor([0]), torch.ones(1))
torch.zeros(3).index_put((torch.tensor([0]),), torch.ones(1))
"""


def _shown(value: Any, library: ModuleType) -> str:
    if isinstance(value, (tuple, list)):
        return "; ".join(_shown(each, library) for each in value)
    if isinstance(value, library.Tensor):
        return f"{value.dtype} {tuple(value.shape)} {value.stride()} {value!r}".replace("retrograd", "torch")
    return repr(value)


def _end(library: ModuleType, call: str) -> str:
    library.manual_seed(0)
    space = {"torch": library, "F": library.nn.functional, "np": np}
    space["images"] = (library.rand(2, 3, 4, 4) * 4).round().contiguous(memory_format=library.channels_last)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return _shown(eval(call, space), library)
        except Exception as error:
            said = re.split(r"[.:](?:\s|$)|, but expected|\n", str(error))[0]
            return f"{type(error).__name__}: {said}".replace("retrograd", "torch")


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_an_unusual_call_ends_as_in_pytorch(call: str) -> None:
    assert _end(retrograd, call) == _end(torch, call)
