"""The notes about common mistakes are true, and their remedies help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn


def notes(call: Callable[[], Any], kind: type[Exception] = RuntimeError) -> dict[str, str]:
    """The notes of the error of a call, by their labels."""
    with pytest.raises(kind) as caught:
        call()
    return {note[2:13].strip(): note[13:] for note in caught.value.__notes__}


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_grad_mode_is_off(mode: Any) -> None:
    outside = torch.ones(2).sum()
    with mode():
        assert notes(outside.backward)["because"].startswith("Grad mode is off here, by no_grad() or inference_mode()")


def test_a_graph_is_cut_in_several_ways() -> None:
    x = torch.ones(2, requires_grad=True)
    gradient, = torch.autograd.grad((x * x).sum(), x)
    for cut in (gradient.sum(), x.argmax().float(), x.detach().sum()):
        because = notes(cut.backward)["because"]
        for way in ("requires_grad=True", "detach()", "argmax", "create_graph=True"):
            assert way in because


def test_a_step_between_two_passes() -> None:
    layers = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    steps = torch.optim.SGD(layers.parameters(), lr=0.1)
    first, second = layers(torch.ones(1, 2)).sum(), layers(torch.ones(1, 2)).exp().sum()
    first.backward()
    steps.step()
    found = notes(second.backward)
    assert found["modified"].endswith("steps.step()")
    assert found["instead"].startswith("make all backward passes before step()")


def test_a_write_between_two_passes() -> None:
    x = torch.ones(2, requires_grad=True).exp()
    y = x.exp().sum() + (x * x).sum()
    x.add_(1)
    assert notes(y.backward)["instead"] == "write to a clone, or use the operation that returns a new tensor"


def test_nans_are_no_matter_of_sigmoid() -> None:
    loss = nn.BCELoss()
    half, nan = torch.tensor([0.5, 0.5]), torch.tensor([0.5, float("nan")])
    found = notes(lambda: loss(nan, half))
    assert found["given"] == "1 of 2 elements is nan"
    assert "instead" not in found
    assert notes(lambda: loss(half, nan * nan.log()))["given"] == "1 of 2 elements is nan"
    found = notes(lambda: loss(half + 1, half))
    assert found["given"] == "the elements are 1.5"
    assert found["instead"].startswith("apply sigmoid")


@pytest.mark.parametrize("container", [nn.ModuleList([nn.ReLU()]), nn.ModuleDict({"a": nn.ReLU()})])
def test_a_container_is_not_called(container: nn.Module) -> None:
    found = notes(lambda: container(torch.ones(2)), NotImplementedError)
    assert found["instead"] == "call its modules one after another in your forward, or use nn.Sequential"
    assert notes(lambda: nn.Module()(1), NotImplementedError)["instead"].startswith("define forward(self, ...)")


def test_a_remedy_keeps_the_imaginary_part() -> None:
    layer = nn.Linear(2, 1)
    found = notes(lambda: layer(torch.ones(1, 2, dtype=torch.complex64)))
    assert found["instead"] == "model.to(torch.complex64), for a complex weight"
    assert notes(lambda: layer(torch.ones(1, 2, dtype=torch.int64)))["instead"] == "input.to(torch.float32)"
