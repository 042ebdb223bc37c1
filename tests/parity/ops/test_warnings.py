"""Calls that PyTorch warns about: the categories and the texts of the warnings are PyTorch's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import retrograd

CALLS = """
one.T | none.T | three.T | two.T | none.mT | none.H | imaginary.H | none.mH | imaginary.mH | none.adjoint() | one.H
torch.adjoint(none) | two.mT | two.adjoint() | torch.transpose(one, 0, 0) | wide().index_fill_(0, first, 1.)
wide().index_fill(0, first, 1.) | wide().masked_fill_(mask, 1.) | wide().index_put_((first, ), none)
wide().index_put((first, ), none) | wide().masked_fill(mask, 1.) | wide().__setitem__(mask, 1.)
wide().__setitem__(first, 1.) | wide().__setitem__(mask, none) | one.scatter(0, first, one[:1], reduce='add')
one.scatter(0, first, 1., reduce='add') | one.scatter(0, first, one[:1])
one.clone().scatter_(0, first, one[:1], reduce='multiply')
torch.scatter(one, 0, first, one[:1], reduce='multiply') | torch.ger(one, one) | one.ger(one)
torch.chain_matmul(two, two) | torch.chain_matmul(two) | torch.get_autocast_cpu_dtype()
torch.is_autocast_cpu_enabled() | torch.set_autocast_cpu_dtype(torch.bfloat16)
torch.set_autocast_cpu_enabled(False) | torch.get_autocast_gpu_dtype() | torch.set_autocast_gpu_dtype(torch.float16)
torch.is_autocast_enabled() | torch.set_autocast_enabled(False) | torch.is_autocast_xla_enabled()
torch.get_autocast_xla_dtype() | torch.is_autocast_ipu_enabled() | torch.get_autocast_ipu_dtype()
torch.set_autocast_xla_dtype(torch.bfloat16) | torch.set_autocast_ipu_enabled(False)
torch.searchsorted(six[::2], one) | torch.searchsorted(six, six[::2]) | torch.bucketize(six[::2], six[::2])
torch.searchsorted(six[:3], one, sorter=torch.arange(6)[::2]) | torch.bucketize(1., six[::2])
one.clone().masked_scatter_(bytes, one) | one.masked_scatter(bytes, one) | one.masked_scatter(bytes > 0, one)
torch.lu(two) | torch.lu(two, get_infos=True) | torch.lu_solve(two, *torch.linalg.lu_factor(two)) | torch.qr(two)
torch.qr(two, some=False) | torch.cholesky(two) | torch.triangular_solve(two, two) | torch.svd(two)
complexes.float() | complexes.to(torch.float32) | torch.zeros(1).copy_(imaginary)
torch.zeros(1).__setitem__(0, imaginary) | torch.sum(complexes, dtype=torch.float32)
complexes.sum(0, dtype=torch.float64) | complexes.prod(0, dtype=torch.float32)
complexes.cumsum(0, dtype=torch.float32) | complexes.mean(0, dtype=torch.float32) | complexes.to(torch.int32)
torch.ones(1).masked_scatter_(torch.tensor([True]), complexes.real) | complexes.type(torch.float32)
complexes.half() | torch.ones(1).index_put_((first, ), none) | complexes.log_softmax(0, dtype=torch.float32)
complexes.bool() | torch.zeros(2).fill_(imaginary) | torch.zeros(2).masked_fill_(mask[:2], imaginary)
torch.full((1, ), 2j, dtype=torch.float32) | complexes.softmax(0, dtype=torch.float32)
complexes.cumprod(0, dtype=torch.float64) | torch.linalg.vector_norm(complexes, dtype=torch.float32)
torch.zeros(2).__setitem__(slice(0, 1), complexes) | torch.zeros(2).index_put_((first, ), complexes)
torch.zeros(2).index_copy_(0, first, complexes) | torch.zeros(2).masked_fill_(mask[:2], imaginary)
torch.zeros(2).bool().copy_(imaginary) | torch.tensor(complexes, dtype=torch.float32)
torch.as_tensor(complexes, dtype=torch.float32) | torch.zeros(1).type_as(one).add_(0) | complexes.type_as(one)
complexes.view_as(complexes).double() | torch.norm(complexes, dtype=torch.float32) | complexes.new_tensor(complexes)
three[[[0]]] | three[[0, slice(None)]] | three[[[0], [1]]] | three[[0]] | three[[None]] | three[[mask[:1]]]
float(wanting) | int(wanting) | float(wanting[0]) | int(wanting[0]) | complex(wanting[0]) | bool(wanting[0])
torch.autograd.Variable(one, volatile=True) | torch.autograd.Variable(one, volatile=False) | torch.stft(six, 4)
torch.stft(six.int(), 4) | torch.stft(six, 4, window=torch.ones(4)) | torch.istft(six, 4) | torch.stft(six, 40)
torch.stft(six, 4, return_complex=True) | torch.istft(torch.ones(3, 3, dtype=torch.complex64), 4)
torch.nonzero(one, as_tuple=1) | one.nonzero(as_tuple=None) | torch.nonzero(one) | torch.add(one, 2, one)
one.clone().add_(2, one) | torch.addcmul(one, 2, one, one) | torch.nn.functional.gumbel_softmax(one, eps=1e-3)
torch.ones(2).storage() | torch.ones(2).resize(2) | torch.set_default_tensor_type('torch.FloatTensor')
torch.asarray(wanting) | torch.asarray(wanting, dtype=torch.float64, copy=True) | torch.asarray(wanting * 1)
torch.asarray(wanting, requires_grad=True) | torch.asarray(one)
torch.range(0, 1) | torch.tensor(one) | one.new_tensor(one) | torch.std(one[:1]) | torch.var(torch.ones(0))
torch.var_mean(one[:1]) | torch.cov(one[:1]) | torch.corrcoef(torch.ones(2, 1))
torch.nn.functional.conv2d(square, square, padding='same')
torch.nn.functional.conv1d(square[0], square[0], padding='same') | torch.meshgrid(one, one)
torch.cross(torch.ones(3, 3), torch.ones(3, 3)) | torch.nn.functional.softmax(one)
torch.nn.functional.interpolate(square, scale_factor=2, mode='bilinear') | torch.nn.functional.upsample(square, 4)
torch.nn.functional.grid_sample(square, torch.zeros(1, 1, 1, 2)) | torch.nn.functional.dropout2d(two)
torch.nn.functional.affine_grid(torch.ones(1, 2, 3), (1, 1, 1, 1)) | torch.nn.functional.tanh(one)
torch.nn.functional.mse_loss(one, one[:1]) | torch.nn.functional.kl_div(one, one) | torch.nn.functional.sigmoid(one)
torch.nn.functional.mse_loss(one, one, size_average=True)
torch.nn.functional.nll_loss(two, first.expand(2), reduce=False) | torch.nn.LSTM(2, 2, 1, dropout=.5)
torch.nn.Hardtanh(min_value=0, max_val=3) | torch.nn.utils.clip_grad_norm([], 1) | torch.nn.init.xavier_uniform(two)
torch.nn.init.zeros_(torch.ones(0)) | torch.nn.utils.weight_norm(torch.nn.Linear(1, 1)) | one[bytes] | two[bytes]
torch.where(bytes, one, one) | one.masked_fill(bytes, 3) | one.masked_select(bytes) | (wanting * 1).grad
wanting.sum().backward(create_graph=True) | torch.sparse_coo_tensor([[0]], [1.], check_invariants=False)
torch.from_numpy(numbers).clone() | torch.tensor([numbers.tolist()])
""".replace("\n", " | ").strip(" |").split(" | ")


_PLACE = re.compile(r" \(Triggered internally at .*?\)(?=$|\n)", re.DOTALL)


def told(package: ModuleType, call: str) -> Any:
    """The warnings of a call, without PyTorch's places in C++. The call may fail."""
    t: Any = package
    space = {
        "torch": t, "one": t.ones(2), "none": t.tensor(1.), "two": t.eye(2), "three": t.ones(1, 2, 3),
        "imaginary": t.tensor(1j), "wide": lambda: t.ones(1).expand(3), "first": t.tensor([0]),
        "mask": t.tensor([True, False, True]), "six": t.arange(6.), "bytes": t.tensor([1, 0], dtype=t.uint8),
        "complexes": t.ones(1, dtype=t.complex64), "wanting": t.ones(2, requires_grad=True),
        "square": t.ones(1, 1, 2, 2), "numbers": np.ones(2)}
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            eval(call, space)
        except Exception as error:
            space["error"] = error
    found = [(each.category.__name__, re.sub(_PLACE, "", str(each.message))) for each in given]
    return found, type(space.get("error"))


@pytest.fixture(autouse=True)
def _each_time() -> Iterator[None]:
    """Both packages repeat the warnings that they otherwise give once."""
    before = [package.is_warn_always_enabled() for package in (torch, retrograd)]
    for package in (torch, retrograd):
        package.set_warn_always(True)
    yield
    for package, always in zip((torch, retrograd), before, strict=True):
        package.set_warn_always(always)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_warns_as_in_pytorch(call: str) -> None:
    assert told(retrograd, call) == told(torch, call)
