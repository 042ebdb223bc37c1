"""Operators that a program defines, called with instances of subclasses and within modes: what the handlers see, and
the type of the result. Copies of models keep their operators.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

import retrograd
from retrograd.overrides import TorchFunctionMode as OurMode

MODES = {torch: torch.overrides.TorchFunctionMode, retrograd: OurMode}


def operators(t: Any) -> tuple[Any, Any]:
    """The definition of an operator of one tensor, and that of an operator of a list."""

    scaled = t.library.custom_op("seen::scaled", lambda x, k=3.0: x * k, mutates_args=(),
                                 schema="(Tensor x, float k=3.0) -> Tensor")
    total = t.library.custom_op("seen::total", lambda xs: sum(x * 1 for x in xs), mutates_args=(),
                                schema="(Tensor[] xs) -> Tensor")
    return scaled, total


def calls(t: Any, scaled: Any, total: Any, x: Any) -> list[Any]:
    return [scaled(x), scaled(x, 2.0), scaled(x, k=2.0), t.ops.seen.scaled.default(x), total([t.ones(2), x])]


def seen_by_subclass(t: Any, handles: bool) -> Any:
    seen = []

    class Seeing(t.Tensor):  # type: ignore[misc]
        @classmethod
        def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((str(function), [each.__name__ for each in types], len(args), sorted(kwargs or {})))
            return super().__torch_function__(function, types, args, kwargs or {})

    class Plain(t.Tensor):  # type: ignore[misc]
        pass

    x = t.ones(2).as_subclass(Seeing if handles else Plain)
    found = calls(t, *operators(t), x)
    return [(type(each).__name__, each.tolist()) for each in found], [each for each in seen if "seen" in each[0]]


@pytest.mark.parametrize("handles", [False, True])
def test_a_subclass_sees_the_operator(handles: bool) -> None:
    assert seen_by_subclass(retrograd, handles) == seen_by_subclass(torch, handles)


def seen_by_mode(t: Any) -> list[str]:
    seen = []

    class Seeing(MODES[t]):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(str(function))
            return function(*args, **(kwargs or {}))

    defined, x = operators(t), t.ones(2)
    with Seeing():
        calls(t, *defined, x)
    return [each for each in seen if each.startswith("seen")]


def test_a_mode_sees_the_operator() -> None:
    assert seen_by_mode(retrograd) == seen_by_mode(torch)


@pytest.mark.parametrize("t", [retrograd, torch], ids=["retrograd", "torch"])
def test_a_copy_of_a_model_keeps_its_operator(t: Any) -> None:
    operators(t)

    class Model(t.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.operator, self.packet = t.ops.seen.scaled.default, t.ops.seen.scaled

    copied = copy.deepcopy(Model())
    assert copied.operator is t.ops.seen.scaled.default
    assert copied.operator(t.ones(1)).item() == copied.packet(t.ones(1)).item() == 3.0


def test_copies_of_definitions_and_namespaces() -> None:
    scaled, _ = operators(retrograd)
    assert copy.deepcopy(scaled)(retrograd.ones(1)).item() == 3.0
    assert copy.deepcopy(retrograd.ops.seen) is retrograd.ops.seen
    assert copy.copy(retrograd.ops.seen.scaled)(retrograd.ones(1)).item() == 3.0
