"""What a walk over a function finds: items, and facts about tensors. `state` makes them."""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import address, span
from ...tensors.state.base import TensorBase, requires, stands_as_leaf
from ..program.stand_in_numbers import Number
from .places import Step

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60

# The kinds of items. CONSTANT: a value that cannot change, such as a number. CONTAINER: a list, tuple or dict, or
# another thing that is guarded by its parts. OBJECT: a thing with an identity, and with parts. GROWN: a list to which
# the program only appends, so that its parts do not matter.
TENSOR, CONSTANT, CONTAINER, OBJECT, SET, ARRAY, OPAQUE, REFUSED, GROWN = (
    "tensor", "constant", "container", "object", "set", "array", "opaque", "refused", "grown")


class Names(NamedTuple):
    """What is guarded of the names of attributes: how many there are, and which came last.

    A name that takes the place of another one comes last. `last` is None if it is no name that a guard compares.
    """

    size: int
    last: str | None


def names_of(attributes: Mapping[str, Any], ignored: frozenset[str] = frozenset()) -> Names:
    """The facts about the names of attributes, of which a guard does not compare those that are `ignored`."""
    last = next(reversed([*attributes]), None)
    return Names(len(attributes), last if type(last) is str and last not in ignored else None)


class Facts(NamedTuple):
    """What is guarded of a tensor, besides its identity.

    `plain` says that no gradient, no hooks and no history of its own stand in the tensor. `tracked` is `_meta.leaf`.
    `offset` is that in the memory, and `retained` whether the tensor retains its gradient, if the code asks for it.
    `attributes` are the `Names` of the attributes, if the code may ask whether there is one.
    """

    cls: type[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: Any
    requires_grad: bool
    leaf: bool
    inference: bool
    plain: bool
    tracked: bool
    view: bool
    offset: int | None = None
    attributes: Names | None = None
    retained: bool | None = None


class Defined(NamedTuple):
    """What is guarded of a function, a class or a module, besides what its variables hold.

    `made_of` is the code of a function, or the classes that a class inherits from, in their order; None for a module.
    `names` are those of the attributes; None if the code cannot ask which attributes there are.
    """

    made_of: Any
    names: Names | None


def facts_of(tensor: TensorBase) -> Facts:
    """The facts about a tensor at this moment."""
    array, meta = tensor._array, tensor._grad_meta
    geometry = type(tensor), array.shape, array.strides, array.dtype, requires(tensor), stands_as_leaf(tensor)
    if meta is None:
        return Facts(*geometry, False, True, False, False)
    plain = (meta.grad is None and meta.hooks is None and meta.post_accumulate is None and not meta.leaf
             and not meta.inference)
    return Facts(*geometry, meta.inference, plain, meta.leaf, meta.base is not None)


class Item:
    """A value that a function can reach, and the first place in which the walk found it.

    `fixed` says that the guard asks for this very object. A tensor in the arguments, and one that is a gradient, are
    not fixed. `entries` has the parts of the value by step. `facts` are the `Facts` of a tensor, the bytes of an array,
    the keys of a container, and the reason for which a value is refused. `array` is the array of a tensor, or the
    `Option` of an optimizer that plans read.
    """

    __slots__ = ("_words", "array", "entries", "facts", "fixed", "key", "kind", "number", "parent", "role", "step",
                 "value")

    def __init__(self, number: int, parent: Item | None, step: Step, value: Any, kind: str, fixed: bool) -> None:
        self.number, self.parent, self.step, self.value, self.kind, self.fixed = (
            number, parent, step, value, kind, fixed)
        self.entries: dict[Step, Item] = {}
        self.facts: Any = None
        self.array: Any = None
        self.role = ""                                       # "argument", "captured" or "grad"; "rate" for an option
        self.key: Item | None = None                         # the item of the key, if a tensor is the key
        self._words = ""

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps from the function, or from the arguments, to the value."""
        steps = [self.step]
        item = self.parent
        while item is not None:
            steps.append(item.step)
            item = item.parent
        return tuple(reversed(steps))

    def anchored(self) -> tuple[Item | None, list[Step]]:
        """The nearest item on the way to this one that is the same object in each call, and the steps from there. The
        way begins at the function or at its arguments, as the first step says, if there is no such item.
        """
        steps: list[Step] = []
        item: Item | None = self
        while item is not None and not item.fixed and item.step.kind not in ("fixed", "function"):
            steps.insert(0, item.step)
            item = item.parent
        return item, steps

    @property
    def words(self) -> str:
        """The place as the user writes it, such as `model.weight`."""
        unnamed: list[Item] = []
        item: Item | None = self
        while item is not None and not item._words:              # no recursion, since lists may be nested deeply
            unnamed.append(item)
            item = item.parent
        for item in reversed(unnamed):
            if item.parent is None:
                item._words = item.step.shown
            else:
                key = None if item.key is None else item.key.words
                item._words = item.step.words(item.parent._words, key)
        return self._words

    def __repr__(self) -> str:
        return f"Item({self.words}, {self.kind})"


def is_constant(item: Item) -> bool:
    """Whether a guard knows an item as one object, which it need not read from its place."""
    return item.fixed or item.step.kind in ("fixed", "function")


def take_apart(items: list[Item]) -> None:
    """Have items hold nothing."""
    for item in items:
        item.entries.clear()
        item.parent = item.value = item.array = None


class State:
    """All that a call of a function can reach. The items are in such an order that parents come before their parts.

    `mentioned` are the names in the code that may run: of other objects' attributes the call knows nothing. `identity`
    says whether the code may ask which of several equal things a thing is. `read` is the code of the functions that the
    call can reach, by identity. `grown` are lists that the walk has not looked into.
    """

    def __init__(self, items: list[Item], known: dict[int, Item], mentioned: frozenset[str], modes: Any,
                 identity: bool, read: dict[int, CodeType], grown: Any) -> None:
        self.items, self.known, self.mentioned, self.modes, self.identity = items, known, mentioned, modes, identity
        self.read, self.grown = read, grown

    def let_go(self) -> None:
        """Take the items apart, since parents and parts hold each other. The state is of no further use."""
        take_apart(self.items)

    def tensors(self) -> Iterator[Item]:
        """The items of all tensors: arguments, captured tensors and their gradients."""
        return (item for item in self.items if item.kind == TENSOR)

    def tensors_and_bases(self) -> list[Any]:
        """All tensors, and the tensors that they are views of."""
        found = {id(item.value): item.value for item in self.tensors()}
        for tensor in [*found.values()]:
            base = tensor._grad_meta.base if tensor._grad_meta is not None else None
            if base is not None:
                found.setdefault(id(base), base)
        return [*found.values()]

    @property
    def refusals(self) -> list[str]:
        """Why a call cannot be traced, in sentences; empty if nothing stands against it."""
        reasons = [f"{item.words} is {item.facts}" for item in self.items if item.kind == REFUSED]
        return [*reasons, "there are hooks on all modules or on all optimizers"] if self.modes["hooks"] else reasons


def root_of(array: Array) -> Any:
    """The array that owns the memory; None if the memory belongs to something else, which others may share, too."""
    while (base := getattr(array, "base", None)) is not None:
        array = base
    return array if isinstance(array, np.ndarray) else None


def overlapping(first: list[Any], second: list[Any]) -> tuple[tuple[int, int, int], ...]:
    """Which arrays share memory: the two positions in `[*first, *second]`, and how many bytes lie between the starts.

    Pairs within `second` do not count.
    """
    arrays = [*first, *second]
    spans = [span(array) for array in arrays]
    return tuple([(i, j, address(arrays[j]) - address(arrays[i]))
                  for i in range(len(first)) for j in range(i + 1, len(arrays))
                  if spans[i][0] < spans[j][1] and spans[j][0] < spans[i][1]])


def shown(value: Any) -> str:
    """A value in a sentence: short, and under the user's name."""
    value = value.value if issubclass(type(value), Number) else value
    return f"a {type(value).__name__}" if isinstance(value, TensorBase) else _short.repr(value)
