"""Arguments that the function can also reach in a list, such as a batch of a list of batches that it knows.

A step is called with one batch after the other. A trace must tell what it reads of its argument from what it reads of
the list, so while it runs, other tensors over the same memory stand for such arguments. Then the guard need not ask
that the argument stands at the same place of the list in each call. If the program may ask which tensor of the list its
argument is, by `is`, by `in` or as a key, nothing stands for the argument, and the guard asks for the place. The same
holds if the call may communicate: an operation that has not ended keeps the tensors that it was given.
"""

from __future__ import annotations

from typing import Any

from ...foundations.names import reached
from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ...tensors.state.base import plain
from .communicating import may_communicate
from .items import CONTAINER, TENSOR, Item, State

_COPIED = (list, tuple, dict)


class Twins:
    """The arguments of a traced call. A twin replaces an argument that a reachable list holds, too."""

    def __init__(self, state: State, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.tensors: list[tuple[Any, Any, Any]] = []      # each with its twin, and the array of this one
        self.copies: list[tuple[Any, Any]] = []            # lists and dicts with theirs, and what stood in these
        self._twins: dict[int, Any] = {}
        places = [item for part in state.items[:] if part.parent is None and part.step.kind in ("args", "kwargs")
                  for item in part.entries.values()]
        listed = {id(item.value): item for item in places if not state.identity and _in_a_list(item)}
        self.known = {} if listed and may_communicate(state) else listed
        self.args = tuple([self._instead(value) for value in args]) if self.known else args
        self.kwargs = {name: self._instead(value) for name, value in kwargs.items()} if self.known else kwargs

    def _instead(self, value: Any) -> Any:
        """What stands for an argument."""
        item = self.known.get(id(value))
        return value if item is None else self._twin(item)

    def _twin(self, item: Item) -> Any:
        value = item.value
        if item.kind == TENSOR and not value.__dict__ and item.facts.plain and not (
                item.facts.requires_grad or item.facts.view):
            found = self._twins.get(id(value))
            if found is None:
                array = value._array[...]
                found = self._twins[id(value)] = plain(array)
                self.tensors.append((value, found, array))
            return found
        if item.kind != CONTAINER or type(value) not in _COPIED:
            return value
        parts = {step.key: self._twin(part) for step, part in item.entries.items()}
        if type(value) is dict:
            copy: Any = {key: parts.get(key, part) for key, part in value.items()}
        else:
            copy = type(value)([parts.get(place, part) for place, part in enumerate(value)])
        if type(value) is not tuple:
            self.copies.append((value, copy))
        return copy

    def originals(self, result: Any) -> Any:
        """What a call returned. The arguments replace their twins."""
        return reached("utils._pytree").tree_map(self._original, result) if self.tensors else result

    def _original(self, value: Any) -> Any:
        return next((tensor for tensor, twin, _ in self.tensors if twin is value), value)

    def give_back(self) -> None:
        """Have the arguments be as the program has left their twins."""
        for tensor, twin, array in self.tensors:
            if twin._array is not array or twin._grad_meta is not None or twin._edge is not None:
                tensor._array, tensor._grad_meta, tensor._edge = twin._array, twin._grad_meta, twin._edge
            tensor.__dict__.update(twin.__dict__)
        for value, copy in self.copies:
            if type(value) is dict:
                value.clear()
                value.update({key: self._original(part) for key, part in copy.items()})
            else:
                value[:] = map(self._original, copy)


def _in_a_list(item: Item) -> bool:
    """Whether a thing in the arguments was found before in a list, tuple or dict that belongs to the program."""
    parent = item.parent
    if parent is None or parent.parent is None or item.step.kind == "fixed":
        return False
    if parent.kind != CONTAINER or type(parent.value) not in _COPIED:
        return False
    return not isinstance(parent.parent.value, (Module, Optimizer))
