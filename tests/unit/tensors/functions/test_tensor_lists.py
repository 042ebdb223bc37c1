"""torch._foreach_*: facts about functions of lists of tensors, recorded from PyTorch."""

from typing import Any

import pytest

import retrograd as torch
from retrograd.tensors.functions import lists
from retrograd.utils._foreach_utils import _group_tensors_by_device_and_dtype, _has_foreach_support

ALL = [name for name in vars(lists) if name.startswith("_foreach_")]


def two() -> list[Any]:
    return [torch.tensor([1., 4.]), torch.tensor([[9.]])]


def numbers(tensors: Any) -> list[Any]:
    return [tensor.tolist() for tensor in tensors]


@pytest.mark.parametrize("name", ALL)
def test_programs_reach_the_functions_by_torch(name: str) -> None:
    assert getattr(torch, name) is getattr(lists, name)
    assert getattr(torch, name).__name__ == name


def test_new_tensors_and_written_ones() -> None:
    x = two()
    roots = torch._foreach_sqrt(x)
    assert type(roots) is tuple
    assert numbers(roots) == [[1, 2], [[3]]]
    assert torch._foreach_sqrt_(x) is x
    assert numbers(x) == [[1, 2], [[3]]]


def test_operands_are_numbers_or_tensors_for_all_or_for_each() -> None:
    x = two()
    for other, expected in ((1, [[2, 5], [[10]]]), ([1, 2], [[2, 5], [[11]]]), (x, [[2, 8], [[18]]]),
                            (torch.tensor(3.), [[4, 7], [[12]]])):
        assert numbers(torch._foreach_add(x, other)) == expected
    assert numbers(torch._foreach_sub(x, x, alpha=2)) == [[-1, -4], [[-9]]]
    assert numbers(torch._foreach_pow(2., [torch.tensor([3.])])) == [[8]]
    assert numbers(torch._foreach_maximum(x, 3)) == [[3, 4], [[9]]]
    assert numbers(torch._foreach_addcmul(x, x, x, torch.tensor([1., 2.]))) == [[2, 20], [[171]]]
    assert numbers(torch._foreach_addcdiv(x, x, x, value=2)) == [[3, 6], [[11]]]
    assert numbers(torch._foreach_lerp(x, two(), 0.5)) == numbers(x)
    assert numbers(torch._foreach_norm([torch.tensor([3., 4.])])) == [5]


def test_gradients() -> None:
    x = [tensor.requires_grad_() for tensor in two()]
    total = sum(tensor.sum() for tensor in torch._foreach_mul(x, x))
    assert numbers(torch.autograd.grad(total, x)) == [[2, 8], [[18]]]


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda x: torch._foreach_exp([]), RuntimeError, "Tensor list must have at least one tensor."),
    (lambda x: torch._foreach_exp([1]), TypeError, "expected Tensor as element 0 in argument 0, but got int"),
    (lambda x: torch._foreach_exp(x[0]), TypeError,
     r"_foreach_exp\(\): argument 'self' \(position 1\) must be tuple of Tensors, not Tensor"),
    (lambda x: torch._foreach_exp(x, 1), TypeError, r"_foreach_exp\(\) takes 1 positional argument but 2 were given"),
    (lambda x: torch._foreach_add(x, x[:1]), RuntimeError,
     "Tensor lists must have the same number of tensors, got 2 and 1"),
    (lambda x: torch._foreach_add(x, [1]), RuntimeError,
     "Tensor list must have same number of elements as scalar list."),
    (lambda x: torch._foreach_add(x, 1, alpha=2), TypeError,
     r"_foreach_add\(\): argument 'other' \(position 2\) must be tuple of Tensors, not int"),
    (lambda x: torch._foreach_add(x, "a"), TypeError,
     r"_foreach_add\(\) received an invalid combination of arguments - got \(list, str\)"),
    (lambda x: torch._foreach_mul(x, x[0]), RuntimeError,
     "scalar tensor expected to be 0 dim but it has 1 dimensions and 2 elements."),
])
def test_wrong_arguments(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        call(two())


def test_tensors_are_sorted_by_dtype() -> None:
    single, double = torch.ones(1), torch.ones(1, dtype=torch.float64)
    found = _group_tensors_by_device_and_dtype([[single, double, single], [None] * 3, []], with_indices=True)
    assert {dtype: places for (_, dtype), (_, places) in found.items()} == {
        torch.float32: [0, 2], torch.float64: [1]}
    assert found[torch.device("cpu"), torch.float64][0] == [[double], [None], []]
    with pytest.raises(RuntimeError, match="the 0-th Tensor is not"):
        _group_tensors_by_device_and_dtype([[None]])
    assert _has_foreach_support([single, None], torch.device("cpu"))
    assert not _has_foreach_support([torch.nn.Parameter(single)], torch.device("cpu"))
