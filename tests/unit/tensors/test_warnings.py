"""Warnings about calls that PyTorch advises against. The texts are PyTorch's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch

ONE, NONE, TWO, COMPLEX = torch.ones(2), torch.tensor(1.0), torch.eye(2), torch.ones(1, dtype=torch.complex64)
FIRST, MASK = torch.tensor([0]), torch.tensor([True, False, True])
TURNED, OF_A_NUMBER = "The use of `x.T` on tensors of dimension other than 2", "is deprecated on 0-D tensors."
LOST = "Casting complex values to real discards the imaginary part"


def wide() -> torch.Tensor:
    return torch.ones(1).expand(3)


@pytest.mark.parametrize(("call", "begins"), [
    (lambda: ONE.T, TURNED), (lambda: torch.ones(1, 2, 3).T, TURNED), (lambda: NONE.T, f"Tensor.T {OF_A_NUMBER}"),
    (lambda: NONE.mT, f"Tensor.mT {OF_A_NUMBER}"), (lambda: NONE.H, f"Tensor.H {OF_A_NUMBER}"),
    (lambda: NONE.mH, f"Tensor.mH {OF_A_NUMBER}"), (lambda: NONE.adjoint(), f"adjoint() {OF_A_NUMBER}"),
    (lambda: wide().index_fill_(0, FIRST, 1.0), "Use of index_fill_ on expanded tensors is deprecated."),
    (lambda: wide().masked_fill_(MASK, 1.0), "Use of masked_fill_ on expanded tensors is deprecated."),
    (lambda: wide().index_put_((FIRST,), NONE), "Use of index_put_ on expanded tensors is deprecated."),
    (lambda: wide().__setitem__(FIRST, 1.0), "Use of index_put_ on expanded tensors is deprecated."),
    (lambda: ONE.scatter(0, FIRST, ONE[:1], reduce="add"), "The reduce argument of torch.scatter with Tensor src is"),
    (lambda: torch.chain_matmul(TWO, TWO), "torch.chain_matmul is deprecated and will be removed"),
    (lambda: torch.searchsorted(torch.arange(6.0)[::2], ONE), "torch.searchsorted(): boundary tensor is non-"),
    (lambda: torch.searchsorted(ONE, torch.arange(6.0)[::2]), "torch.searchsorted(): input value tensor is non-"),
    (lambda: torch.stft(torch.ones(8), 4, return_complex=True), "A window was not provided. A rectangular window"),
    (lambda: torch.istft(torch.ones(3, 3) + 0j, 4), "A window was not provided. A rectangular window"),
    (lambda: torch.nn.functional.conv1d(torch.ones(1, 1, 2), torch.ones(1, 1, 2), padding="same"), "Using padding="),
    (lambda: COMPLEX.float(), LOST), (lambda: torch.zeros(1).__setitem__(0, COMPLEX[0]), LOST),
    (lambda: torch.zeros(2).fill_(COMPLEX[0]), LOST), (lambda: COMPLEX.mean(dtype=torch.float32), LOST),
    (lambda: COMPLEX.log_softmax(0, dtype=torch.float32), LOST),
    (lambda: torch.as_tensor(COMPLEX, dtype=torch.float32), LOST),
    (lambda: torch.autograd.Variable(ONE, volatile=True), "volatile was removed and now has no effect."),
])
def test_a_call_warns(call: Callable[[], Any], begins: str) -> None:
    with pytest.warns(UserWarning, match=f"^{re.escape(begins)}"):
        call()


@pytest.mark.parametrize("call", [
    lambda: TWO.T, lambda: TWO.mT, lambda: TWO.H, lambda: TWO.mH, lambda: TWO.adjoint(), lambda: wide().index_fill(
        0, FIRST, 1.0), lambda: wide().masked_fill(MASK, 1.0), lambda: wide().index_put((FIRST,), NONE),
    lambda: torch.ones(3).masked_fill_(MASK, 1.0), lambda: ONE.scatter(0, FIRST, 1.0, reduce="add"),
    lambda: torch.searchsorted(ONE, ONE), lambda: COMPLEX.bool(), lambda: COMPLEX.to(torch.complex128),
    lambda: torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True),
    lambda: torch.nn.functional.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 3), padding="same"),
])
def test_a_call_does_not_warn(call: Callable[[], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()


def test_a_mask_and_one_number_are_two_writes_to_an_expanded_tensor() -> None:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        wide()[MASK] = 1.0
    assert [str(each.message).split()[2] for each in given] == ["index_put_", "masked_fill_"]


def test_a_volatile_variable_requires_no_grad() -> None:
    with pytest.raises(ValueError, match="^Variable can't be volatile and require_grad at the same time!$"):
        torch.autograd.Variable(ONE, requires_grad=True, volatile=True)


def test_whether_nonzero_returns_a_tuple_is_a_bool() -> None:
    with pytest.raises(TypeError, match=r"^nonzero\(\): argument 'as_tuple' must be bool, not int$"):
        ONE.nonzero(as_tuple=1)  # type: ignore[call-overload]
