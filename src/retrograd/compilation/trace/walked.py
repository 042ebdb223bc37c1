"""A call that is traced, and all that it can reach before it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reach.appended import Grown
from ..reach.state import State, walk
from ..reach.twins import Twins


class WalkedCall:
    """A call of a function, with what it can reach (`before`).

    In `args` and `kwargs`, a twin replaces each argument that the function can also reach in a list.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.before: State = walk(function, args, kwargs)
        self.twins = Twins(self.before, args, kwargs)
        if self.twins.tensors:
            self.args, self.kwargs = self.twins.args, self.twins.kwargs
            self.before.let_go()
            self.before = walk(function, self.args, self.kwargs)

    def again(self, grown: Grown | None = None) -> State:
        """What the call can reach by now, in the same way. `grown` are lists that grow, with their former lengths."""
        return walk(self.function, self.args, self.kwargs, self.before.mentioned, grown or self.before.grown)
