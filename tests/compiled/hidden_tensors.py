"""Programs that ask more of a tensor than its numbers and its shape: its place, its history, which tensor it is."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import retrograd as torch
from compiled.hidden import Program, program


def in_turns(*makes: Callable[[], Any]) -> Callable[[Callable[[Any], Any], Any], Any]:
    """Calls with one argument after the other."""
    turn = itertools.count()
    return lambda function, x: function(makes[next(turn) % len(makes)]()).detach()


@program
def an_offset() -> Program:
    whole = torch.arange(10.0)
    return Program(lambda x: x * x.storage_offset(), given=in_turns(*[lambda i=i: whole[i:i + 3] for i in range(5)]))


@program
def a_place_in_memory() -> Program:
    whole = torch.arange(10.0)
    return Program(lambda x: x.as_strided((2,), (1,), 0) * 2,
                   given=in_turns(*[lambda i=i: whole[i:i + 3].clone() if i % 2 else whole[i:i + 3] for i in range(5)]))


@program
def a_version() -> Program:
    def written(count: int) -> Any:
        x = torch.ones(3)
        for _ in range(count):
            x.add_(1)
        return x

    return Program(lambda x: x * x._version, given=in_turns(*[lambda i=i: written(i) for i in range(5)]))


@program
def whether_it_is_a_view() -> Program:
    return Program(lambda x: x * (2.0 if x._is_view() else 1.0),
                   given=in_turns(lambda: torch.ones(3), lambda: torch.ones(3)[:]))


@program
def the_base() -> Program:
    return Program(lambda x: x * (2.0 if x._base is not None else 1.0),
                   given=in_turns(lambda: torch.ones(3), lambda: torch.ones(3)[:]))


@program
def the_history() -> Program:
    return Program(lambda x: x * len(x.grad_fn.name()),
                   given=in_turns(lambda: torch.ones(3, requires_grad=True) * 2,
                                  lambda: torch.ones(3, requires_grad=True).exp()))


def with_scale(value: float) -> Any:
    x = torch.ones(3)
    if value:
        x.scale = value
    return x


@program
def an_attribute_that_a_later_argument_has() -> Program:
    return Program(lambda x: x * (x.scale if hasattr(x, "scale") else 1.0),
                   given=in_turns(*[lambda i=i: with_scale(max(0, i - 2)) for i in range(6)]))


@program
def an_attribute_by_its_error() -> Program:
    def function(x: Any) -> Any:
        try:
            return x * x.scale
        except AttributeError:
            return x

    return Program(function, given=in_turns(*[lambda i=i: with_scale(max(0, i - 2)) for i in range(6)]))


@program
def the_argument_in_a_list() -> Program:
    known = [torch.ones(3), torch.ones(3) * 2]
    return Program(lambda x: x * (2.0 if any(x is t for t in known) else 1.0),
                   given=in_turns(lambda: known[0], lambda: known[1], lambda: torch.ones(3)))


@program
def the_place_in_a_list() -> Program:
    known = [torch.ones(3), torch.ones(3) * 2]
    return Program(lambda x: x * [x is t for t in known].index(True),
                   given=in_turns(lambda: known[0], lambda: known[1]))


@program
def the_argument_as_a_key() -> Program:
    known = {torch.ones(3): 5.0, torch.ones(3) * 2: 7.0}
    return Program(lambda x: x * known[x], given=in_turns(*[lambda key=key: key for key in known]))


@program
def a_state_by_the_argument() -> Program:
    given, state = torch.ones(3), dict[Any, Any]()

    def function(x: Any) -> Any:
        if x not in state:
            state[x] = torch.zeros(3)
        state[x].add_(1)
        return x * state[x]

    return Program(function, left=lambda: len(state), given=in_turns(lambda: given))
