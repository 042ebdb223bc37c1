"""The notes about a graph that an earlier pass went through name the variable of the program that holds it."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch
from retrograd import nn

SECOND = "Trying to backward through the graph a second time"


def notes(run: Any) -> dict[str, str]:
    """The notes of the error, by their labels."""
    with pytest.raises(RuntimeError, match=SECOND) as caught:
        run()
    return {note[2:13].strip(): note[13:] for note in caught.value.__notes__}


def in_a_loop() -> None:
    network, head, state = nn.GRU(2, 3), nn.Linear(3, 1), None
    for _ in range(2):
        output, state = network(torch.ones(4, 1, 2), state)
        loss = head(output).square().mean()
        loss.backward()


def in_a_tuple() -> None:
    cell, state = nn.LSTMCell(2, 3), None
    for _ in range(2):
        state = cell(torch.ones(1, 2), state)
        state[0].sum().backward()


def in_a_sum() -> None:
    w, total = torch.tensor(2., requires_grad=True), torch.tensor(0.)
    for _ in range(2):
        total = total + w * w
        total.backward()


class Keeping(nn.Module):
    """A module that keeps its state."""

    def __init__(self) -> None:
        super().__init__()
        self.cell, self.state = nn.RNNCell(2, 3), torch.zeros(1, 3)

    def forward(self, x: Any) -> Any:
        self.state = self.cell(x, self.state)
        return self.state

    def train_steps(self) -> None:
        """Two steps without a local name for the module but self."""
        for _ in range(2):
            self(torch.ones(1, 2)).sum().backward()


def in_a_module() -> None:
    model = Keeping()
    for _ in range(2):
        model(torch.ones(1, 2)).sum().backward()


@pytest.mark.parametrize(("run", "name", "remedy"), [
    (in_a_loop, "state", "state = state.detach()"), (in_a_tuple, "state[0]", "detach the tensors of state"),
    (in_a_sum, "total", "total = total.detach()"), (in_a_module, "model.state", "model.state = model.state.detach()"),
    (Keeping().train_steps, "self.state", "self.state = self.state.detach()")])
def test_the_variable_is_named(run: Any, name: str, remedy: str) -> None:
    found = notes(run)
    assert found["carried"] == f"{name}, as an earlier pass left it, is in the graph of this pass"
    assert found["instead"] == f"{remedy} before the next step, or retain_graph=True in the earlier pass"


def of_a_regularizer() -> None:
    w = torch.ones(2, requires_grad=True)
    penalty = (w * w).sum()
    for _ in range(2):
        loss = w.exp().sum() + penalty
        loss.backward()


def of_a_generator() -> None:
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    fake = generator(torch.ones(4, 2))
    for _ in range(2):
        critic(fake).mean().backward()


def beside_another_of_its_kind() -> None:
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    other, twice = first(torch.ones(1, 2)), second(torch.ones(1, 2))
    assert other.grad_fn is not None
    (twice * twice).sum().backward()
    twice.exp().sum().backward()


@pytest.mark.parametrize(("run", "name"), [
    (of_a_regularizer, "penalty"), (of_a_generator, "fake"), (beside_another_of_its_kind, "twice")])
def test_what_was_computed_once_is_to_be_computed_again(run: Any, name: str) -> None:
    found = notes(run)
    assert "carried" not in found
    assert found["shared"] == f"{name} was computed before an earlier pass, and is in the graph of this pass, too"
    assert found["instead"].startswith(f"compute {name} again for each pass, or retain_graph=True")


def test_a_variable_of_the_same_kind_elsewhere_is_not_named() -> None:
    kept = {"deep": {"inside": torch.ones(2, requires_grad=True).exp()}}
    other = torch.ones(2, requires_grad=True).exp()
    kept["deep"]["inside"].sum().backward()
    found = notes(lambda: (kept["deep"]["inside"] * other).sum().backward())
    assert found["carried"].startswith("ExpBackward0's result")


def test_without_a_name_the_operation_is_named() -> None:
    kept = {"deep": {"inside": torch.ones(2, requires_grad=True).exp()}}
    kept["deep"]["inside"].sum().backward()
    found = notes(lambda: (kept["deep"]["inside"] * 2).sin().sum().backward())
    assert found["carried"] == "ExpBackward0's result, as an earlier pass left it, is in the graph of this pass"
    assert found["instead"].startswith("detach the tensors of the state before")


def test_a_second_pass_from_the_same_place_carries_nothing() -> None:
    y = torch.ones(2, requires_grad=True).exp().sum()
    y.backward()
    found = notes(y.backward)
    assert "carried" not in found
    assert found["instead"].startswith("make one pass over the sum of the results")


def test_nothing_is_said_where_no_pass_runs() -> None:
    y = torch.ones(2, requires_grad=True).exp()
    y.sum().backward()
    assert {*notes(lambda: y.grad_fn._saved_result)} == {"freed", "read more"}
