"""A trace with two things is not for calls with one thing in both places, nor the other way round."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd import nn

# Where a function changes things, or many cases differ, it runs as it is.
pytestmark = pytest.mark.filterwarnings("ignore:torch.compile")
captured = torch.arange(4.0)
empty = torch.ones(0)
a_list, a_dict, a_set = [1, 2], {"a": 1}, {1}


def asks(x: Any, y: Any) -> Any:
    return x is y, x + 1


def asks_for_captured(x: Any, y: Any) -> Any:
    return x is captured, y is captured, x is empty, captured * 2


def finds(x: Any, y: Any) -> Any:
    return [place for place, tensor in enumerate((x, y, captured, empty)) if tensor is x], x + 0


def uses_as_keys(x: Any, y: Any) -> Any:
    found = {x: 1}
    found[y] = 2
    return len(found), x + y


def marks(x: Any, y: Any) -> Any:
    x.mark = 1
    return getattr(y, "mark", 0), x * 1


def tensors(size: int) -> list[tuple[Any, Any]]:
    """Pairs of tensors: one, two, two over one memory, and captured ones."""
    x, y = torch.arange(float(size)), torch.ones(size)
    pairs = [(x, x[:]), (x, x), (x, y), (x, x.detach()), (y, y), (x[:], x[:])]
    if size == 4:
        pairs += [(captured, captured[:]), (captured, captured), (captured[:], captured), (captured[:], captured[:])]
    if size == 0:
        pairs += [(empty, y), (y, empty), (empty, empty), (empty[:], empty)]
    return pairs


@pytest.mark.parametrize("dynamic", [None, True, False])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("function", [asks, asks_for_captured, finds, uses_as_keys, marks])
def test_tensors(function: Callable[..., Any], backwards: bool, dynamic: bool | None) -> None:
    compiled = torch.compile(function, backend="numpy", dynamic=dynamic)
    for size in (4, 0, 4, 5, 6, 7, 0, 4):
        for place in range(len(tensors(size)))[::-1 if backwards else 1]:
            found = []
            for call in (function, compiled):
                captured.__dict__.clear()
                empty.__dict__.clear()
                found.append([str(each) for each in call(*tensors(size)[place])])
            assert found[0] == found[1]


def asks_of_things(a: Any, b: Any, x: Any) -> Any:
    return a is b, x + 1


def asks_for_captured_things(a: Any, b: Any, x: Any) -> Any:
    return a is a_list or a is a_dict or a is a_set, x + 1


def changes(a: Any, b: Any, x: Any) -> Any:
    if isinstance(a, (list, deque)):
        a.append(x)
    elif isinstance(a, dict):
        a["x"] = x
    elif isinstance(a, nn.Module):
        a.x = x                                               # type: ignore[assignment]
    return len(b) if hasattr(b, "__len__") else hasattr(b, "x"), x * 2


MAKERS: list[Callable[[], Any]] = [lambda: [1, 2], lambda: {"a": 1}, lambda: {1}, list, dict, lambda: deque([1]),
                                   lambda: (1, [2]), lambda: [torch.ones(1)], nn.Identity]


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("function", [asks_of_things, asks_for_captured_things, changes])
@pytest.mark.parametrize("make", MAKERS)
def test_lists_and_other_things(make: Callable[[], Any], function: Callable[..., Any], backwards: bool) -> None:
    def pairs() -> list[tuple[Any, Any]]:
        one, like = make(), [each for each in (a_list, a_dict, a_set) if each == make()]
        first = like[0] if like and function is not changes else one
        return [(make(), make()), (one, one), (first, make()), (make(), first), (first, first)]

    compiled, x = torch.compile(function, backend="numpy"), torch.ones(2)
    for _ in range(3):
        for place in range(5)[::-1 if backwards else 1]:
            assert str(compiled(*pairs()[place], x)) == str(function(*pairs()[place], x))
