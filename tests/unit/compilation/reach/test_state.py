"""The walk over all that a function can reach."""

import functools
import io
import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from compiled.cases import Holder, Net, guarded, identity, why, words
from retrograd.compilation.reach.items import CONSTANT, OPAQUE, TENSOR
from retrograd.compilation.reach.state import outside_random, walk

RATE = 0.5
SETTINGS = {"lr": 0.1, "steps": [1, 2]}
WEIGHT = torch.ones(3, requires_grad=True)
UNUSED = 1
FACTOR = torch.zeros(1)


def test_arguments_captured_variables_globals_and_defaults_are_found() -> None:
    captured = torch.ones(2)

    def function(x: Any, factor: Any = FACTOR) -> Any:
        return x * captured * WEIGHT * RATE * SETTINGS["lr"] * factor

    state = walk(function, (torch.ones(3),), {"factor": torch.ones(1)})
    assert words(state, TENSOR) == ["captured", "WEIGHT", "function.__defaults__[0]", "argument x", "argument factor"]
    assert {"RATE", "SETTINGS['lr']"} <= {*words(state, CONSTANT)}
    assert not any("UNUSED" in item.words for item in state.items)
    assert [item.role for item in state.tensors()] == ["captured", "captured", "captured", "argument", "argument"]


def test_each_thing_is_found_once_and_cycles_end() -> None:
    loop: list[Any] = [WEIGHT]
    loop.append(loop)
    state = walk(identity, (loop, WEIGHT), {})
    assert words(state, TENSOR) == ["argument 1"]
    assert sum(item.value is loop for item in state.items) == 1
    guarded(identity, loop, WEIGHT)


def test_parameters_buffers_and_the_state_of_optimizers_are_found() -> None:
    model = Net()
    optimizer = torch.optim.Adam(model.parameters())

    def step(x: Any) -> None:
        model(x).sum().backward()
        optimizer.step()

    step(torch.ones(1, 3))
    found = words(walk(step, (torch.ones(1, 3),), {}), TENSOR)
    assert {"model.first.weight", "model.first.bias", "model.seen", "model.first.weight.grad",
            "optimizer.state[model.first.weight]['exp_avg']"} <= {*found}
    assert len(found) == 1 + 2 + 2 + 1 + 6


def test_functions_that_a_function_calls_are_walked() -> None:
    inner = torch.ones(1)
    decorated = torch.no_grad()(lambda: inner)
    cached = functools.lru_cache(lambda: inner * RATE)
    partly = functools.partial(lambda x, y: x + y, torch.ones(2))
    state = walk(lambda: (decorated(), partly(1)), (), {})
    assert {item.value.shape for item in state.tensors()} == {(1,), (2,)}
    assert [item.value is inner for item in walk(lambda: cached(), (), {}).tensors()] == [True]


def test_methods_and_the_attributes_that_they_name() -> None:
    holder = Holder(value=torch.ones(2), other=torch.ones(3), count=0)
    state = walk(holder.act, (), {})
    assert words(state, TENSOR) == ["self.value"]
    guard = guarded(holder.act)
    holder.count = 1
    assert why(guard, holder.act) == ""
    holder.value = 3
    assert why(guard, holder.act) == "self.value was a tensor and is an int"
    holder.value = torch.ones(2)
    named = walk(lambda name: getattr(holder, name), ("other",), {})
    assert {*words(named, TENSOR)} == {"holder.value", "holder.other"}


def test_third_party_values_are_not_walked() -> None:
    state = walk(lambda: (np.add, itertools.chain, torch.relu, math.pi), (), {})
    assert {*words(state, OPAQUE)} == {"np", "itertools", "torch", "math", "np.add", "itertools.chain", "builtins"}
    assert "math.pi" in words(state, CONSTANT)


# What cannot be replayed


@pytest.mark.parametrize("value", [
    iter([1]), (i for i in [1]), itertools.count(), io.StringIO(), random.Random(1), np.random.default_rng(),
    np.random.RandomState(1), np.ones(5000), torch.ones(2).to_sparse(), torch.ones(2, device="meta"),
    torch.utils.data.DataLoader([1, 2]), iter(torch.utils.data.DataLoader([1, 2])),
])
def test_things_that_hide_state_are_refused(value: Any) -> None:
    state = walk(lambda: value, (), {})
    assert [reason.startswith("value is a") for reason in state.refusals] == [True]
    assert walk(lambda: 1, (), {}).refusals == []


def test_random_numbers_from_elsewhere() -> None:
    before = outside_random()
    torch.rand(2)
    assert outside_random() == before
    random.random()
    after = outside_random()
    assert after != before
    np.random.rand()
    assert outside_random() != after


def test_methods_of_every_kind_are_walked() -> None:
    class Kinds:
        @functools.cached_property
        def first(self) -> Any:
            return WEIGHT

        @property
        def second(self) -> Any:
            return FACTOR

        @staticmethod
        def third() -> Any:
            return RATE

        def unused(self) -> Any:
            return UNUSED

    kinds = Kinds()
    found = walk(lambda: (kinds.first, kinds.second, kinds.third()), (), {})
    assert {*words(found, TENSOR)} == {"WEIGHT", "FACTOR"}
    assert "RATE" in words(found, CONSTANT)
    assert not any("UNUSED" in item.words for item in found.items)


def test_a_module_that_the_code_imports() -> None:
    def function() -> Any:
        from compiled import cases
        return cases.Net.scale

    guard = guarded(function)
    Net.scale = 5.0
    try:
        assert why(guard, function).endswith("Net.scale was 2.0 and is 5.0")
    finally:
        Net.scale = 2.0


def test_deeply_nested_lists() -> None:
    value: list[Any] = [WEIGHT]
    for _ in range(1200):
        value = [value]
    guarded(identity, value)


class Hostile:
    __slots__ = ("x",)

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_no_code_of_an_object_runs_in_a_walk() -> None:
    hostile = Hostile()
    hostile.x = 1
    function = lambda: hostile.x                             # noqa: E731
    guard = guarded(function)
    hostile.x = 2
    assert why(guard, function) == "hostile.x was 1 and is 2"
    del hostile.x
    assert why(guard, function) != ""
