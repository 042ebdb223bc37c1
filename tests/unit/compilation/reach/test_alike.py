"""State that equals a former state, or has as many parts, and is another one: a compiled function finds the difference.

Each program is run as it is and compiled, with another state before each call.
"""

from __future__ import annotations

import math
import operator
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import retrograd as torch

pytestmark = pytest.mark.filterwarnings("ignore:torch.compile runs")
Change = Callable[[Any], Any]


def as_eager(program: Callable[[Any, Any], Any], states: list[Any]) -> None:
    """Run a program with each state, as it is and compiled, and compare what it returns."""
    def results(change: Change) -> list[Any]:
        holder = SimpleNamespace(value=None)
        function, found = change(lambda x: program(holder, x)), []
        for state in [states[0], *states, *states]:
            holder.value = state() if callable(state) else state
            found.append(repr(function(torch.ones(2))))
        return found

    assert results(torch.compile) == results(lambda function: function)


@pytest.mark.parametrize("states", [
    [{1}, {1.0}, {True}], [frozenset([1]), frozenset([True])], [{0, 8}, {8, 0}], [{0.0}, {-0.0}], [{(1,)}, {(True,)}],
    [{1: 0}, {1.0: 0}, {True: 0}], [{(1,): 0}, {(True,): 0}], [{"a": 0, 1: 0}, {"a": 0, True: 0}]], ids=str)
def test_parts_of_sets_and_keys(states: list[Any]) -> None:
    as_eager(lambda holder, x: (x * 2, [*holder.value]), states)


@pytest.mark.parametrize("states", [
    [range(0), range(2, 2)], [range(0, 4, 2), range(0, 3, 2)]], ids=str)
def test_ends_of_ranges(states: list[Any]) -> None:
    as_eager(lambda holder, x: (x, holder.value.start, holder.value.stop, holder.value.step), states)


def test_limits_of_deques() -> None:
    as_eager(lambda holder, x: (x, holder.value.maxlen), [deque([1], 3), deque([1], 4), deque([1])])


def retaining(retains: bool) -> Any:
    """A tensor with a history, which retains its gradient or not."""
    tensor = torch.ones(2, requires_grad=True) * 2
    if retains:
        tensor.retain_grad()
    return tensor


def test_whether_a_gradient_is_retained() -> None:
    compiled = torch.compile(lambda x: torch.ones(1) * (2 if x.retains_grad else 3))
    for retains in (False, True, False, True):
        assert compiled(retaining(retains)).item() == (2 if retains else 3)


def test_keys_that_are_tensors() -> None:
    """No repetition has the tensor of the first call as a key."""
    holder = SimpleNamespace(value={})

    def replaced(x: Any) -> Any:
        holder.value = {x: 1}
        return x * 2

    def added(x: Any) -> Any:
        holder.value[x] = 1
        return x * 2

    for program in (replaced, added):
        compiled = torch.compile(program)
        for i in range(4):
            holder.value, x = {}, torch.ones(2) + i
            assert torch.equal(compiled(x), x * 2)
            assert [key is x for key in holder.value] == [True]


@pytest.mark.parametrize("program", [
    lambda x: {x: 1}, lambda x: {"a": [{(x, 1): 2}]}, lambda x: {x * 2: 1}], ids=["itself", "in a tuple", "computed"])
def test_keys_of_results(program: Callable[[Any], Any]) -> None:
    compiled = torch.compile(program)
    for i in range(3):
        x = torch.ones(2) + i
        assert repr(compiled(x)) == repr(program(x))


def test_a_list_that_is_returned_in_itself() -> None:
    def program(x: Any) -> Any:
        found: list[Any] = [x * 2]
        found.append(found)
        return found

    compiled = torch.compile(program)
    for i in range(3):
        found = compiled(torch.ones(1) + i)
        assert found[0].item() == 2 + 2 * i
        assert found[1] is found


def computed() -> str:
    """The name of an attribute, which stands in no code."""
    return "".join(["sca", "le"])


NAMED: dict[str, Callable[[Any, Any], Any]] = {
    "a method": lambda m, x: x * m.__getattribute__(computed()),
    "of object": lambda m, x: x * object.__getattribute__(m, computed()),
    "a caller": lambda m, x: x * operator.methodcaller("__getattribute__", computed())(m),
    "under another name": lambda m, x, get=getattr: x * get(m, computed()),
    "in a list": lambda m, x, gets=(vars,): x * gets[0](m)[computed()],
    "set by a method": lambda m, x: m.__setattr__(computed(), x * 2),
    "set of object": lambda m, x: object.__setattr__(m, computed(), x * 2),
    "set under another name": lambda m, x, put=setattr: put(m, computed(), x * 2),
    "set by object under another name": lambda m, x, put=object.__setattr__: put(m, computed(), x * 2),
    "deleted": lambda m, x: delattr(m, computed())}


class Scaled:
    def __init__(self) -> None:
        self.scale = 2.0


@pytest.mark.parametrize("name", NAMED)
def test_attributes_whose_names_are_computed(name: str) -> None:
    def results(change: Change) -> list[Any]:
        holder, found = Scaled(), []
        function = change(lambda x: NAMED[name](holder, x))
        for i in range(5):
            holder.scale = 1.0 + i // 2
            found.append((repr(function(torch.ones(2) + i)), repr(vars(holder))))
        return found

    assert results(torch.compile) == results(lambda function: function)


def test_products_of_complex_infinities_with_one() -> None:
    x = torch.tensor([complex(math.inf, 0), complex(math.nan, 1), complex(0, -math.inf)])
    compiled = torch.compile(lambda x: torch.view_as_real((x * 1).to(torch.complex128)))
    for _ in range(3):
        assert str(compiled(x).tolist()) == "[[inf, nan], [nan, nan], [nan, -inf]]"


class Plain:
    scale = 1.0

    def __init__(self) -> None:
        self.unused = 0

    def act(self, x: Any) -> Any:
        return x


class Answering(Plain):
    def __getattr__(self, name: str) -> Any:
        return 4.0


class Module(torch.nn.Module):
    scale = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.unused = 0

    def forward(self, x: Any) -> Any:
        return x * self.scale


def tried(thing: Any, x: Any) -> Any:
    try:
        return x * thing.added
    except AttributeError:
        return x * 7


def made_of(kind: Any) -> Any:
    """A class, a function, a module of Python or a tensor with an attribute."""
    thing: Any = {"class": lambda: type("Made", (Plain,), {}), "function": lambda: lambda: None,
                  "module": lambda: ModuleType("made"), "tensor": lambda: torch.ones(2)}[kind]()
    thing.unused = 0
    return thing


SWAPPED: dict[str, tuple[Callable[[], Any], Callable[[Any, Any], Any], str, Any]] = {
    "a variable of the class": (Plain, lambda thing, x: x * thing.scale, "scale", 5.0),
    "a method": (Plain, lambda thing, x: thing.act(x), "act", lambda x: x * 3),
    "hasattr": (Plain, lambda thing, x: x * 2 if hasattr(thing, "added") else x, "added", 5.0),
    "an error": (Plain, tried, "added", 5.0),
    "__getattr__": (Answering, lambda thing, x: x * thing.added, "added", 5.0),
    "a variable of a module": (Module, lambda thing, x: thing(x), "scale", 5.0),
    "forward": (Module, lambda thing, x: thing(x), "forward", lambda x: x * 9),
    "a variable of a base": (lambda: made_of("class"), lambda thing, x: x * thing.scale, "scale", 5.0),
    **{f"of a {kind}": (partial(made_of, kind), lambda thing, x: x * 2 if hasattr(thing, "added") else x, "added", 5.0)
       for kind in ("class", "function", "module", "tensor")}}


@pytest.mark.parametrize("name", SWAPPED)
def test_an_attribute_that_takes_the_place_of_another(name: str) -> None:
    def results(change: Change) -> list[Any]:
        make, program, added, value = SWAPPED[name]
        thing = make()
        function = change(lambda x: program(thing, x))
        found = [function(torch.ones(2)).tolist() for _ in range(2)]
        delattr(thing, "unused")
        setattr(thing, added, value)
        return [*found, function(torch.ones(2)).tolist()]

    assert results(torch.compile) == results(lambda function: function)
