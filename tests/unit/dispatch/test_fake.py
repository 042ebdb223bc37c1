"""Fake tensors: sizes without numbers. Facts taken from PyTorch 2.13."""

import copy
from typing import Any

import pytest

import retrograd as torch
from retrograd._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    is_fake,
    maybe_get_fake_mode,
    unset_fake_temporarily,
)

nn, functional = torch.nn, torch.nn.functional


def test_modules_find_the_sizes_of_results() -> None:
    with FakeTensorMode() as mode:
        model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(), nn.Flatten(),
                              nn.Linear(4 * 36, 2))
        x = torch.randn(5, 3, 8, 8)
        y = model(x)
        loss = functional.cross_entropy(y, torch.zeros(5, dtype=torch.int64))
        loss.backward()
        torch.optim.Adam(model.parameters()).step()
    assert (type(x), x.fake_mode, x.device.type, x.is_meta) == (FakeTensor, mode, "cpu", False)
    assert repr(y) == "FakeTensor(..., size=(5, 2), grad_fn=<AddmmBackward0>)"
    assert repr(model[5].weight) == "Parameter(FakeTensor(..., size=(2, 144), requires_grad=True))"
    assert repr(model[0].weight.grad) == "FakeTensor(..., size=(4, 3, 3, 3))"


def test_no_memory_is_taken() -> None:
    with FakeTensorMode():
        large = torch.empty(10**6, 10**6)
        assert (large @ large).t().contiguous().stride() == (10**6, 1)
        assert repr(torch.ones(2, device="meta")) == "FakeTensor(..., device='meta', size=(2,))"


def test_numbers_are_not_known() -> None:
    with FakeTensorMode():
        x = torch.randn(4, 5)
        for ask in (lambda: x.sum().item(), lambda: bool(x.sum() > 0), lambda: float(x.sum()), x.tolist):
            with pytest.raises(DataDependentOutputException, match="aten._local_scalar_dense.default") as caught:
                ask()
            assert caught.value.func is torch.ops.aten._local_scalar_dense.default
        for ask in (lambda: x.nonzero(), lambda: x[x > 0]):
            with pytest.raises(DynamicOutputShapeException, match="aten.nonzero.default"):
                ask()
        with pytest.raises(RuntimeError, match="must match the size"):
            x + torch.ones(3)
        step = torch.tensor(3)
        step += 1
        assert step.item() == 4                                 # numbers that the program has written down are known


def test_tensors_with_numbers_are_to_be_converted() -> None:
    mode, real = FakeTensorMode(), torch.ones(4, 5)
    fake = mode.from_tensor(real)
    assert mode.from_tensor(real) is fake
    assert (is_fake(fake), is_fake(real), maybe_get_fake_mode(fake), maybe_get_fake_mode(real)) == (
        True, False, mode, None)
    for call in (lambda: fake + real, lambda: real * fake):
        with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
            call()
    with pytest.raises(AssertionError, match="Mixing fake modes NYI"):
        fake + FakeTensorMode().from_tensor(real)
    with mode, pytest.raises(AssertionError, match=r"Found in aten.add.Tensor\(tensor\(\[...\], size=\(4, 5\)\), 1\)"):
        real + 1
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert type(real + 1) is FakeTensor
    parameter = mode.from_tensor(nn.Parameter(real))
    assert isinstance(parameter, nn.Parameter)
    assert parameter.requires_grad
    assert isinstance(copy.deepcopy(parameter), nn.Parameter)
    assert (fake + 1).stride() == (5, 1)


def test_a_mode_steps_aside() -> None:
    with FakeTensorMode() as mode:
        with unset_fake_temporarily() as aside:
            assert aside is mode
            assert torch.ones(2).tolist() == [1., 1.]
        assert type(torch.ones(2)) is FakeTensor
    assert torch.ones(2).tolist() == [1., 1.]
    with unset_fake_temporarily() as nothing:
        assert nothing is None


def test_a_mode_that_is_entered_again() -> None:
    mode, other = FakeTensorMode(), FakeTensorMode()
    with mode:
        with mode:
            assert torch.ones(2).fake_mode is mode  # type: ignore[attr-defined]
        with other, mode, other:
            assert torch.ones(2).fake_mode is other  # type: ignore[attr-defined]
        assert torch.ones(2).fake_mode is mode  # type: ignore[attr-defined]
    assert torch.ones(2).tolist() == [1.0, 1.0]


def test_an_operator_of_a_program_has_a_fake_function() -> None:
    @torch.library.custom_op("unit_fake::half", mutates_args=())
    def half(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(x.numpy()[: len(x) // 2].copy())

    @half.register_fake
    def _(x: Any) -> Any:
        return x.new_empty(x.shape[0] // 2)

    with FakeTensorMode():
        assert half(torch.ones(8)).shape == (4,)
