"""One call of a Function: the context that `forward` and `backward` share, and the node that it leaves in the graph.

PyTorch has one object for both. Here they are two that answer for each other, since users name their attributes as
they like, and a node has names of its own. The node holds the context, the context knows the node weakly. Saved
inputs are kept as the tensors they are; saved outputs as arrays, since the node may not hold what holds the node.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..graph import faults
from ..graph.node import OtherNode, Output
from ..graph.versions import written_since
from ..tensor.gradients import as_tensor
from ..tensor.state import State, plain, with_edge

# What a context answers in the name of its node.
_OF_NODE = frozenset(("metadata", "name", "next_functions", "register_hook", "register_prehook"))


class SavedOutput(NamedTuple):
    """A saved output: enough to make its tensor again."""

    number: int
    array: Any


class FunctionCtx:
    """The context of one call of a Function. Free attributes may be set on it."""

    needs_input_grad: tuple[bool, ...] = ()
    materialize_grads = True
    _to_save: tuple[Any, ...] = ()
    _dirty: tuple[Any, ...] = ()
    _non_differentiable: tuple[Any, ...] = ()
    _node: Callable[[], FunctionNode | None] | None = None

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        node = None if self._node is None else self._node()
        if node is not None and name in _OF_NODE:
            return getattr(node, name)
        if name == "next_functions":                       # nothing was recorded, and so there is no node
            return ()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `backward`, which reads them from `saved_tensors`."""
        self._to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `jvp`."""
        if not all(t is None or isinstance(t, State) for t in tensors):
            raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                                 "attributes on ctx.")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` wrote to in place; each must be returned."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self._non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether an absent gradient of an output reaches `backward` as zeros (the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept. Raises RuntimeError once freed, and where one was modified in place."""
        node = None if self._node is None else self._node()
        return () if node is None else node.unpacked()


class FunctionNode(OtherNode):
    """The node of one call of a Function, its `grad_fn`."""

    __slots__ = ("constant_outputs", "context", "freed", "positions")
    runs_always = True
    forward_class: ClassVar[Any]

    def __init__(self, context: FunctionCtx) -> None:
        super().__init__((), (), ())
        self.context = context
        self.positions: tuple[int | None, ...] = ()        # of each argument of forward, the edge it has
        self.constant_outputs: set[int] = set()
        self.freed = False
        context._node = weakref.ref(self)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{self.name()} object at {id(self):#x}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "context":
            raise AttributeError(name)
        return getattr(self.context, name)

    def unpacked(self) -> tuple[Any, ...]:
        """The saved tensors, with their edges."""
        if self.freed:
            raise faults.second_pass(self)
        return () if self.saved is None else tuple(None if s is None else self._tensor(s) for s in self.saved)

    def _tensor(self, saved: Any) -> Any:
        if not isinstance(saved, SavedOutput):
            if written_since(saved._array, self.number):
                edge = saved._edge
                raise faults.modified(self, saved._array, *((None, 0) if edge is None else (edge.node, edge.index)))
            return saved
        if written_since(saved.array, self.number):
            raise faults.modified(self, saved.array, self, saved.number)
        return with_edge(saved.array, None if saved.number in self.constant_outputs else self.edge_to(saved.number))

    def edge_to(self, index: int) -> Any:
        """The edge of one of the outputs."""
        return self if self.outputs == 1 else Output(self, index)

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """Run the user's backward on tensors."""
        grads = [self._cotangent(g, i) for i, g in enumerate(cotangents)]
        results = self.forward_class._backward_or_vjp()(self.context, *grads)
        if not walk.keep:
            self.freed = True
            self.saved = None
        return self._checked(results if isinstance(results, tuple) else (results,), walk)

    def _cotangent(self, g: Any, index: int) -> Any:
        if g is not None:
            return as_tensor(g)
        shapes, dtypes = ((self.shape,), (self.dtype,)) if self.outputs == 1 else (self.shape, self.dtype)
        if not self.context.materialize_grads or shapes[index] is None:
            return None
        return plain(np.zeros(shapes[index], dtypes[index]))

    def _checked(self, results: tuple[Any, ...], walk: Any) -> list[Any]:
        """The user's gradients by edge, refused with PyTorch's words where they do not fit the inputs."""
        name, expected = self.name(), len(self.positions)
        if len(results) > expected and all(r is None for r in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise RuntimeError(f"function {name} returned an incorrect number of gradients (expected {expected}, got "
                               f"{len(results)}). One is due for each argument of forward, None for those without.")
        gradients: list[Any] = [None] * len(self.edges)
        for i, (position, result) in enumerate(zip(self.positions, results, strict=True)):
            if position is None:
                if result is not None:
                    raise RuntimeError(f"function {name} returned a gradient different than None at position {i + 1}, "
                                       "but the corresponding forward input was not a Variable.")
                continue
            if result is None:
                continue
            if not isinstance(result, State):
                raise RuntimeError(f"expected Variable or None (got {type(result).__name__})")
            edge = self.edges[position]
            if edge is not None:
                if not _reaches(result._array.shape, edge.shape):
                    raise RuntimeError(f"Function {name} returned an invalid gradient at index {i} - got "
                                       f"{list(result._array.shape)} but expected shape compatible with "
                                       f"{list(edge.shape)}")
                gradients[position] = result if walk.recorder is not None else result._array
        return gradients


def _reaches(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a gradient of `shape` can be summed down to `target`."""
    if len(target) > len(shape):
        return False
    return all(n in (1, m) for m, n in zip(reversed(shape), reversed(target), strict=False))
