"""How a repetition makes what a traced call left: the structure that it returned, and its new tensors.

A new tensor is either an output of the plan, or a view of another tensor, which is taken again. A part of a structure
that existed before the call is the same thing, or is found in the arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.modes import local
from ...foundations.names import reached
from ...graph.node import AccumulateGrad, OpNode
from ...graph.versions import written_since
from ...kernels.kinds import with_numbers
from ...tensors.recording.hooks import retain
from ...tensors.state.base import ORDINARY, StridedView, TensorBase, edge_of, meta_of, plain, set_leaf
from ...tensors.state.dispatch import DISPATCH
from ...tensors.transforms.crossing import EnterBatch, LeaveBatch
from ..numbers.traced_numbers import Numbers
from ..program import constants
from ..program.expressions import Expression
from ..program.stand_in_numbers import STAND_INS, is_traced
from ..reach.items import Item, State
from .borders import Border
from .harmless import is_harmless
from .traced import Traced

if TYPE_CHECKING:
    from ...graph.node import Node

# How a repetition makes a part of the result, from the new tensors, the tensors that the guard found, the arguments.
Make = Callable[[list[Any], list[Any], Any, Any], Any]


class Unknown(Exception):
    """A repetition cannot make a value; the text says why."""


class Left:
    """The new tensors of a call. `made` are outputs of the plan; `views` are views of them, or of known tensors."""

    def __init__(self, before: State, inputs: list[int], numbers: Numbers) -> None:
        self.before, self.inputs, self.numbers = before, inputs, numbers
        self.known = {id(item.value): item for item in before.tensors()}
        self.bases = {id(item.value._grad_meta.base): item for item in before.tensors()
                      if item.value._grad_meta is not None and item.value._grad_meta.base is not None}
        self.made: list[Any] = []
        self.views: list[Any] = []
        self.places: dict[int, int] = {}
        self._count = [0]                                  # how many are `made`, for those who must not hold them
        # Arrays of NumPy that the call leaves, by identity, each with a tensor that has its memory.
        self.handed: dict[int, tuple[Expression, Any]] = {}

    def add(self, tensor: Any) -> None:
        """Note a tensor that the call left, with the tensors that belong to it. Raises Unknown if it is too special."""
        if id(tensor) in self.known or id(tensor) in self.places or id(tensor) in self.bases:
            return
        meta = tensor._grad_meta
        if type(tensor) is not DISPATCH.tensor or tensor.__dict__ or type(tensor._array) is not Traced:
            raise Unknown("the program leaves a tensor that was not computed by operators, or that has attributes")
        self.places[id(tensor)] = -1
        if meta is not None:
            if meta.hooks or meta.post_accumulate or meta.name is not None:
                raise Unknown("a tensor that the program leaves has hooks")
            if meta.base is not None:
                self.add(meta.base)
                if tensor._edge is not None and not _passes(tensor._edge, meta.base):
                    raise Unknown("a view that the program leaves has another history than its base")
                if meta.creation != ORDINARY and written_since(tensor._array, meta.seen):
                    raise Unknown("the program leaves a view that can no longer be used")
                if _taken_again(tensor):
                    self.places[id(tensor)] = -1 - len(self.views)
                    self.views.append(tensor)
                    return
                raise Unknown("a view that the program leaves was changed in its shape")
            if meta.grad is not None:
                self.add(meta.grad)
        self.places[id(tensor)] = len(self.made)
        self.made.append(tensor)
        self._count[0] += 1

    def every(self) -> list[Any]:
        """All new tensors: the tensors that the plan makes, then the views."""
        return [*self.made, *self.views]

    def place(self, tensor: TensorBase) -> int:
        """The place of a tensor among the outputs of the plan; -1 if the plan does not make the tensor."""
        return max(-1, self.places.get(id(tensor), -1))

    def finder(self, tensor: Any) -> Make:
        """How a repetition finds a tensor, or makes a number."""
        if type(tensor) is Expression and tensor.what == "array":
            return self._array(tensor)
        if type(tensor) is Expression:
            at = self.number_place(tensor)
            return lambda tensors, inputs, args, kwargs: inputs[at]
        item = self.known.get(id(tensor))
        if item is not None:
            if item.number in self.inputs:
                at = self.inputs.index(item.number)
                return lambda tensors, inputs, args, kwargs: inputs[at]
            return lambda tensors, inputs, args, kwargs: tensor
        if id(tensor) in self.bases:
            find = self.finder(self.bases[id(tensor)].value)
            return lambda tensors, inputs, args, kwargs: find(tensors, inputs, args, kwargs)._grad_meta.base
        place, count = self.places[id(tensor)], self._count
        if place < 0:                                      # more tensors may still come before the views
            return lambda tensors, inputs, args, kwargs: tensors[count[0] - 1 - place]
        return lambda tensors, inputs, args, kwargs: tensors[place]

    def _array(self, expression: Expression) -> Make:
        """How a repetition makes an array of NumPy, over the memory of a tensor."""
        if id(expression) in self.handed:
            raise Unknown("the program leaves an array in two places")
        array = expression.array
        same = [tensor for tensor in (*self.every(), *[item.value for item in self.known.values()])
                if tensor._array is array]
        tensor = same[0] if same else plain(array)
        self.add(tensor)
        self.handed[id(expression)] = expression, tensor
        find = self.finder(tensor)
        return lambda tensors, inputs, args, kwargs: with_numbers(
            find(tensors, inputs, args, kwargs)._array).view()

    def number_place(self, expression: Expression) -> int:
        """The place of a number in what the guard has found and in the numbers behind it."""
        return len(self.inputs) + len(self.numbers.counted()) + self.numbers.place(expression)

    def number(self, expression: Expression) -> Callable[[list[Any]], Any]:
        """How a repetition finds a number."""
        at = self.number_place(expression)
        return lambda inputs: inputs[at]

    def finishing(self) -> list[Callable[[list[Any], list[Any]], None]]:
        """What a repetition does with the outputs of the plan: marks, gradients and views."""
        steps: list[Callable[[list[Any], list[Any]], None]] = []
        for place, tensor in enumerate(self.made):
            meta = tensor._grad_meta
            if meta is not None and meta.leaf:
                steps.append(partial(_mark_leaf, place))
            if meta is not None and meta.inference:
                steps.append(partial(_mark_inference, place))
            if meta is not None and meta.retained is not None:
                steps.append(partial(_retain, place))
            if meta is not None and meta.grad is not None:
                steps.append(partial(_put_gradient, place, self.finder(meta.grad)))
        return [*steps, *self.retaking()]

    def retaking(self) -> list[Callable[[list[Any], list[Any]], None]]:
        """What takes the views again, each at the end of the list of tensors."""
        steps: list[Callable[[list[Any], list[Any]], None]] = []
        for view in self.views:
            steps.append(Retaken(self.finder(view._grad_meta.base), view._grad_meta.replay, view._grad_meta.creation,
                                 view._edge is not None, view._grad_meta.leaf))
        return steps


def _mark_leaf(place: int, tensors: list[Any], inputs: list[Any]) -> None:
    set_leaf(meta_of(tensors[place]), True)


def _mark_inference(place: int, tensors: list[Any], inputs: list[Any]) -> None:
    meta_of(tensors[place]).inference = True


def _retain(place: int, tensors: list[Any], inputs: list[Any]) -> None:
    retain(tensors[place])


def _put_gradient(place: int, find: Make, tensors: list[Any], inputs: list[Any]) -> None:
    meta_of(tensors[place]).grad = find(tensors, inputs, (), {})


@dataclass(frozen=True)
class Retaken:
    """Takes a view again, of the tensor of this run, and in the same grad mode."""

    find: Make
    replay: Callable[[Any], Any]
    creation: int
    recorded: bool
    leaf: bool

    def __call__(self, tensors: list[Any], inputs: list[Any]) -> None:
        thread = local.thread
        before = thread.grad
        try:
            try:                                           # two exits, as `Undo` has, in less time
                thread.grad = self.recorded or (self.creation == ORDINARY and before)
                view = self.replay(self.find(tensors, inputs, (), {}))
            finally:
                thread.grad = before
        finally:
            thread.grad = before
        if self.creation != ORDINARY:
            view._grad_meta.creation = self.creation
        if self.leaf:
            set_leaf(view._grad_meta, True)
        tensors.append(view)


def _passes(edge: Any, base: Any) -> bool:
    """Whether the history of a view leads to that of its base through nothing but views, without hooks.

    A custom Function between them, or a hook, does something with the gradient that a view taken again does not do.
    """
    wanted = edge_of(base)
    while edge is not None and wanted is not None:
        node = edge.node
        if node is wanted.node:
            return True
        if not _is_view(node) or is_hooked(node):
            return False
        edge = next(iter(node.edges), None)
    return False


def _is_view(node: Any) -> bool:
    """Whether a node stands for a view that an operator of the package took, or that `vmap` took of a batch."""
    return isinstance(node, (StridedView, EnterBatch, LeaveBatch)) or (
        isinstance(node, OpNode) and node.op.view and node.op.known)


def is_hooked(node: Node) -> bool:
    """Whether something is called when a gradient comes to a node."""
    hooks = node.hooks
    return hooks is not None and bool(hooks.tensor or hooks.retain or hooks.pre or hooks.post)


def _taken_again(view: Any) -> bool:
    """Whether the view that a repetition takes of the base lies as this one does."""
    meta = view._grad_meta
    base, like = meta.base._array, view._array.like
    if meta.retained is not None or meta.grad is not None or meta.replay is None or (
            meta.base._grad_meta is not None and meta.base._grad_meta.turned > meta.seen):
        return False
    base = base.like if type(base) is Traced else base
    found = meta.replay(base)
    return bool(type(found) is np.ndarray and found.shape == like.shape and found.strides == like.strides
                and found.dtype == like.dtype and np.may_share_memory(found, like) | (not like.size))


def form(value: Any, left: Left, before: State, placed: set[int]) -> Make:
    """How a repetition makes a value that the call returned. Raises Unknown if it cannot.

    `placed` are the identities of new lists and dicts that the call has left in its state.
    """
    return _Forms(left, before, placed).make(value)


class _Forms:
    """The forms of the parts of one result."""

    def __init__(self, left: Left, before: State, placed: set[int]) -> None:
        self.left, self.before = left, before
        self.seen = {*placed}

    def make(self, value: Any) -> Make:
        """How a repetition makes a part."""
        if isinstance(value, TensorBase):
            return self.left.finder(value)
        if type(value) in STAND_INS:
            return self.left.finder(value.expression)
        if constants.is_constant(value):
            return lambda tensors, inputs, args, kwargs: value
        item = self.before.known.get(id(value))
        if item is not None:
            return _found(item)
        if id(value) in self.seen:
            raise Unknown("the program returns a new list or dict in two places, or also leaves it in its state")
        self.seen.add(id(value))
        if isinstance(value, dict) and not all(map(self._stays, value)):
            raise Unknown("the program returns a dict with a key that may be another in each call")
        children, rebuild = _taken_apart(value)
        parts = [self.make(child) for child in children]
        return lambda tensors, inputs, args, kwargs: rebuild([part(tensors, inputs, args, kwargs) for part in parts])

    def _stays(self, key: Any) -> bool:
        """Whether a key of a new dict is the same in each call."""
        known = self.before.known.get(id(key))
        return (constants.is_constant(key) and not is_traced(key)) or (known is not None and known.fixed)


def _taken_apart(value: Sequence[TensorBase]) -> tuple[Iterable[Any], Callable[[list[Any]], Any]]:
    """The parts of a container, and what makes it again of them."""
    kind = type(value)
    if kind is tuple or kind is list:
        return value, kind
    pytree = reached("utils._pytree")
    node = pytree._get_node_type(value)
    if node not in pytree.SUPPORTED_NODES:
        raise Unknown(f"the program returns a new {kind.__name__}")
    children, context = pytree.SUPPORTED_NODES[node].flatten_fn(value)
    rebuild = pytree.SUPPORTED_NODES[node].unflatten_fn
    return children, lambda parts: rebuild(parts, context)


def _found(item: Item) -> Make:
    """How a repetition finds a thing that existed before the call."""
    at, steps = item.anchored()
    if at is not None and not at.fixed and at.step.kind != "function":
        raise Unknown(f"the program returns {item.words}")
    anchor = None if at is None else at.value

    def find(tensors: list[Any], inputs: list[Any], args: Any, kwargs: Any) -> Any:
        thing, rest = anchor, steps
        if anchor is None:
            thing, rest = args if steps[0].kind == "args" else kwargs, steps[1:]
        for step in rest:
            thing = step.read(thing)
        return thing

    return find


def new_tensors(value: Any) -> Iterable[Any]:
    """The tensors in what a call returned. Raises Unknown if their place has no end."""
    if value is None or isinstance(value, TensorBase):
        return () if value is None else (value,)
    if type(value) is tuple and all([part is None or isinstance(part, TensorBase) for part in value]):
        return [part for part in value if part is not None]
    try:
        return [leaf for leaf in reached("utils._pytree").tree_leaves(value) if isinstance(leaf, TensorBase)]
    except RecursionError:
        raise Unknown("the program returns a list or dict in itself, or too deep in others") from None


SPECIAL = ("the graph of the results has hooks, has a step without a derivative, or leads to a new leaf that requires "
            "grad")


def leaves_reached(edges: Iterable[Any]) -> tuple[list[Any], str]:
    """The leaves of a graph, among them tensors from outside, and why a trace cannot follow its backward pass; "" if a
    trace can.
    """
    waiting, seen, leaves = [edge.node for edge in edges], set[int](), []
    special = ""
    while waiting:
        node = waiting.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, AccumulateGrad):
            if not node.abandoned:                         # by `torch.func`, so that nobody knows the leaf
                leaves.append(node.variable)
            continue
        if isinstance(node, Border) and not is_hooked(node):
            leaves.append(node.tensor)
            continue
        if not special and (is_hooked(node) or type(node).__name__ == "NotImplemented"):
            special = SPECIAL
        elif not special and not is_harmless(node):
            special = "the backward pass of the results runs code of the program that may change something: that of " \
                      f"{node.name()}"
        waiting += [edge.node for edge in node.edges if edge is not None]
    return leaves, special
