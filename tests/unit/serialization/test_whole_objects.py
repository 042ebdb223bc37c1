"""Whole objects in files: modules, optimizers, and the classes that a program allows `torch.load` to make."""

from __future__ import annotations

import io
import math
import pickle
from collections import deque
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd import nn


def saved(obj: Any) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file)
    return file.getvalue()


def round_trip(obj: Any) -> Any:
    return torch.load(io.BytesIO(saved(obj)))


class Pair:
    """A class of a program."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


class WithState(Pair):
    """A class that chooses its state."""

    def __getstate__(self) -> Any:
        return [self.a, self.b]

    def __setstate__(self, state: Any) -> None:
        self.a, self.b = state


def twice(x: Any) -> Any:
    return [x, x]


class Made:
    """An object that a function makes when it is read."""

    def __reduce__(self) -> Any:
        return twice, (3,)


@pytest.mark.filterwarnings("ignore:torch.load with weights_only=False")
@pytest.mark.parametrize("obj", [
    nn.Sequential(nn.Linear(2, 1), nn.ReLU()), nn.Conv2d(1, 2, 3), nn.BatchNorm1d(2).eval(), np.arange(3), b"x",
    {frozenset([1])}, deque([1]), torch.float32, torch.max(torch.eye(2), 0), int, nn.functional.relu, torch.sin])
def test_whole_objects_come_back_if_the_program_trusts_the_file(obj: Any) -> None:
    loaded = torch.load(io.BytesIO(saved(obj)), weights_only=False)
    assert type(loaded) is type(obj)
    if isinstance(obj, nn.Module):
        assert repr(loaded) == repr(obj)
        assert loaded.training == obj.training
        assert all(torch.equal(loaded.state_dict()[name], value) for name, value in obj.state_dict().items())
    else:
        assert repr(loaded) == repr(obj)


@pytest.mark.filterwarnings("ignore:torch.load with weights_only=False")
def test_training_goes_on_with_whole_objects() -> None:
    net = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    copy, steps = torch.load(io.BytesIO(saved((net, optimizer))), weights_only=False)
    assert steps.param_groups[0]["params"][0] is copy.weight
    for model, step in ((net, optimizer), (copy, steps)):
        step.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        step.step()
    assert torch.equal(net.weight, copy.weight)


@pytest.mark.parametrize(("obj", "safe", "names"), [
    (Pair(1, torch.ones(1)), [Pair], ["Pair"]), (WithState(1, [2]), [WithState], ["WithState"]),
    (Made(), [twice], ["twice"]), (Fraction(1, 3), [Fraction], ["fractions.Fraction"]),
    (nn.Linear(1, 1), [nn.Linear], ["torch.nn.modules.linear.Linear"]), (Pair, [Pair], ["Pair"]),
    (Pair(1, 2), [(WithState, f"{__name__}.Pair")], ["Pair"])])
def test_a_program_allows_classes_and_functions(obj: Any, safe: list[Any], names: list[str]) -> None:
    file, before = io.BytesIO(saved(obj)), torch.serialization.get_safe_globals()
    for _ in range(2):
        file.seek(0)
        with pytest.raises(pickle.UnpicklingError, match="(?s)Weights only load failed.*was not an allowed global"):
            torch.load(file)
        found = torch.serialization.get_unsafe_globals_in_checkpoint(file)
        assert [name.removeprefix(f"{__name__}.") for name in found] == names
        file.seek(0)
        with torch.serialization.safe_globals(safe):
            assert torch.serialization.get_safe_globals() == [*before, *safe]
            if obj is not Pair and not isinstance(safe[0], tuple):
                torch.load(file)
    assert torch.serialization.get_safe_globals() == before


def test_a_block_forbids_what_it_has_allowed_and_nothing_else() -> None:
    before = torch.serialization.get_safe_globals()
    try:
        torch.serialization.clear_safe_globals()
        assert torch.serialization.get_safe_globals() == []
        torch.serialization.add_safe_globals([Pair])
        with torch.serialization.safe_globals([Pair, twice]):
            torch.serialization.add_safe_globals([WithState])          # as an import may do
            assert torch.serialization.get_safe_globals() == [Pair, twice, WithState]
        assert torch.serialization.get_safe_globals() == [Pair, WithState]
    finally:
        torch.serialization.clear_safe_globals()
        torch.serialization.add_safe_globals(before)


def test_an_allowed_object_gets_its_state() -> None:
    with torch.serialization.safe_globals([Pair, WithState, twice]):
        pair, other, made = round_trip([Pair(1, {"x": torch.ones(1)}), WithState(3, (4,)), Made()])
    assert (pair.a, pair.b["x"].tolist(), other.a, other.b, made) == (1, [1.], 3, (4,), [3, 3])
    with pytest.raises(TypeError, match="takes classes and functions"):
        torch.serialization.add_safe_globals([3])


def test_what_python_cannot_pickle_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises((AttributeError, pickle.PicklingError), match="Can't (pickle|get) "):
        torch.save(lambda: 1, tmp_path / "x")
    with pytest.raises(TypeError, match="cannot pickle 'module' object"):
        torch.save({"a": [math]}, tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_what_contains_itself_comes_back() -> None:
    circle: list[Any] = [1]
    circle.append({"again": circle})
    loaded = round_trip(circle)
    assert loaded[1]["again"] is loaded
