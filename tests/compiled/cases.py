"""Things that compiled functions reach, and the steps of the tests of guards and changes."""

from typing import Any

import retrograd as torch
from retrograd.compilation.guards.guard import Guard, make
from retrograd.compilation.reach.state import Changes, State, changes, walk


class Net(torch.nn.Module):
    scale = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(3, 2)
        self.register_buffer("seen", torch.zeros(2))
        self.power, self.epoch = 1, 0

    def forward(self, x: Any) -> Any:
        return (self.first(x) * self.scale) ** self.power + self.seen


class Holder:
    """Something with attributes. `act` is the code that looks at them."""

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def act(self) -> Any:
        return self.value


def guarded(function: Any, *args: Any, **kwargs: Any) -> Guard:
    guard = make(walk(function, args, kwargs))
    assert guard(function, args, kwargs), guard.why(function, args, kwargs)
    assert guard.why(function, args, kwargs) == ""
    return guard


def why(guard: Guard, function: Any, *args: Any, **kwargs: Any) -> str:
    reason = guard.why(function, args, kwargs)
    assert guard(function, args, kwargs) is (reason == "")
    return reason


def changed(function: Any, *args: Any) -> Changes:
    before = walk(function, args, {})
    function(*args)
    return changes(before, walk(function, args, {}, before.mentioned))


def words(state: State, kind: str) -> list[str]:
    return [item.words for item in state.items if item.kind == kind]


def identity(*values: Any) -> Any:
    return values
