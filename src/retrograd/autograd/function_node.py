"""The node that one call of a Function leaves in the graph: its saved tensors, and the user's backward.

Saved inputs are kept as tensors. Saved outputs are kept as arrays, because an output tensor holds the node.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array, letter
from ..foundations.errors import noted
from ..foundations.modes import as_program, local
from ..graph import faults
from ..graph.locks import moment
from ..graph.node import RELEASED, Node, Output
from ..graph.versions import written_since
from ..kernels.shape import clash
from ..ops.creation import full_beside
from ..tensors.recording.gradients import as_tensor
from ..tensors.recording.saved_values import SavedTensor, saved_tensor
from ..tensors.recording.saving import Hooked
from ..tensors.state.base import TensorBase, edge_of, faced, plain, requires, with_edge

if TYPE_CHECKING:
    from ..graph.engine import Pass

_new = object.__new__

# Stands for saved tensors that were released when they were read.
READ: Any = "read"


class SavedOutput(NamedTuple):
    """A saved output: enough to make the tensor again."""

    number: int
    array: Any


class FunctionNode(Node):
    """The node of one call of a Function.

    `attributes` is the `__dict__` of the context, which `public` finds or makes. `tensors` says which arguments of
    forward were tensors. `slice` says whether forward wrote to the first of them and that tensor is a view; then this
    node lies inside another node.
    """

    __slots__ = ("attributes", "context", "context_class", "materialize", "needs_input_grad", "outputs", "slice",
                 "tensors")
    runs_always = True
    attributes: dict[str, Any]
    context: Callable[[], Any]
    outputs: int
    needs_input_grad: Any

    def __init__(self, context_class: type[Any], args: Sequence[Any] = ()) -> None:
        self.number = self.outputs = 0                  # until forward has returned
        self.hooks = self.plan = self.saved = self.shape = self.dtype = None
        self.context_class, self.materialize, self.slice = context_class, True, False
        edges: list[Any] = []
        needs: list[bool] = []
        tensors: list[bool] = []
        grad = local.thread.grad
        for arg in args:
            if isinstance(arg, TensorBase):
                edge = arg._edge if arg._grad_meta is None else edge_of(arg) if grad else None
                edges.append(edge)
                needs.append(edge is not None or (not grad and requires(arg)))
                tensors.append(True)
            else:
                needs.append(False)
                tensors.append(False)
        self.edges, self.needs_input_grad, self.tensors = tuple(edges), tuple(needs), tensors

    @property
    def public(self) -> Any:
        """The context that users hold, or else a new context with the same attributes."""
        context = self.context()
        if context is None:
            with moment:
                context = self.context()                # another thread may have been quicker
                if context is None:
                    context = _new(self.context_class)
                    context._node = self
                    context.__dict__ = self.attributes
                    self.context = weakref.ref(context)
        return context

    def name(self) -> str:
        """The name of the class, followed by 'Backward'."""
        return self.context_class.__name__

    def edge_to(self, index: int) -> Any:
        """The edge to one of the outputs."""
        return self if self.outputs == 1 else Output(self, index)

    # Saved tensors

    def save(self, tensors: Sequence[Any], outputs: dict[int, int]) -> None:
        """Save tensors. `outputs` maps the identity of each differentiable output to its number."""
        self.saved = tuple([SavedOutput(outputs[id(t)], t._array) if id(t) in outputs else t for t in tensors])

    def unpacked(self) -> tuple[Any, ...]:
        """The saved tensors, with their edges."""
        saved = self.saved
        if saved is None:
            return ()
        if saved is RELEASED:
            raise faults.second_pass(self)
        if saved is READ:
            raise noted(
                RuntimeError("saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is "
                             "set on the autograd.Function. Either access saved_tensors only once, or set "
                             "clear_saved_tensors_on_access=False."), "context#saved-tensors-accessed-twice",
                given=f"{self.name()} sets it")
        tensors: list[Any] = []
        for value in saved:
            if value is None:
                tensors.append(None)
            elif type(value) is Hooked:
                tensors.append(value.tensor(value.edge if value.number is None else self.edge_to(value.number)))
            elif type(value) is SavedOutput:
                if written_since(value.array, self.number):
                    raise faults.modified(self, value.array, faults.origin(self, value.array, None, value.number))
                tensors.append(with_edge(value.array, self.edge_to(value.number)))
            elif written_since(value._array, self.number):
                raise faults.modified(self, value._array, faults.origin(self, value._array, value._edge))
            else:
                tensors.append(value)
        if self.context_class._forward_cls.clear_saved_tensors_on_access:
            self.saved = READ
        return tuple(tensors)

    def raw(self) -> tuple[SavedTensor, ...]:
        """The saved tensors, to register hooks on them."""
        if self.saved is RELEASED:
            raise faults.second_pass(self)
        return tuple([saved_tensor(self, i) for i in range(len(self.saved))]) if isinstance(self.saved, tuple) else ()

    def whence(self, value: Any) -> tuple[Any, Any, int | None]:
        """The array of a saved tensor, and its edge if it is an input, or its number if it is an output."""
        if type(value) is SavedOutput:
            return value.array, None, value.number
        return value._array, edge_of(value), None

    def repack(self, hooked: Callable[[Any, Any, int | None], Hooked], outputs: Sequence[Any]) -> None:
        """Replace each saved tensor by the result of `hooked(tensor, edge, number of the output)`."""
        self.saved = tuple([
            None if s is None else hooked(outputs[s.number], None, s.number) if type(s) is SavedOutput
            else hooked(s, edge_of(s), None) for s in self.saved])

    # The backward pass

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        """Run the user's backward on tensors."""
        grads = [None if g is None else faced(as_tensor(g)) for g in cotangents]
        given = [g._array for g in grads if g is not None]
        if len(given) < len(grads):
            beside = given[0] if given else None
            grads = [self._absent(i, beside) if g is None else g for i, g in enumerate(grads)]
        results = self.called(self.public, grads)
        if not walk.keep and self.saved is not READ:
            self.saved = RELEASED
        return self._checked(results if isinstance(results, tuple) else (results,), walk)

    def called(self, context: Any, grads: Sequence[Any]) -> Any:
        """The result of the user's backward for the gradients of the outputs."""
        function = self.context_class._forward_cls
        backward = function._backward_or_vjp()
        return as_program(backward, context, *([[*grads]] if function.boxed_grads_call else grads))

    def _absent(self, index: int, beside: Any) -> Any:
        """The stand-in for the absent gradient of an output. `beside` is a gradient that another output has, if any."""
        shape, dtype = (self.shape[index], self.dtype[index]) if self.several else (self.shape, self.dtype)
        if not self.materialize or shape is None:
            return None
        return plain(full_beside(beside, shape, dtype, 0))

    def _checked(self, results: tuple[Any, ...], walk: Pass) -> list[Any]:
        """The user's gradients by edge. Raises RuntimeError in PyTorch's words if they do not fit the inputs."""
        tensors = self.tensors
        expected = len(tensors)
        if len(results) != expected:
            if len(results) < expected or any(r is not None for r in results[expected:]):
                raise noted(
                    RuntimeError(f"function {self.name()} returned an incorrect number of gradients "
                                 f"(expected {expected}, got {len(results)})"),
                    "functions#backward-returns-each-gradient",
                    instead="return one for each argument of forward, or None for an argument that needs none")
            results = results[:expected]
        gradients: list[Any] = []
        for i, result in enumerate(results):
            if not tensors[i]:
                if result is not None:
                    raise noted(
                        RuntimeError(f"function {self.name()} returned a gradient different than None at "
                                     f"position {i + 1}, but the corresponding forward input was not a Variable"),
                        "functions#gradient-of-a-non-tensor")
            elif result is None or isinstance(result, TensorBase):
                gradients.append(result)
            else:
                raise noted(
                    RuntimeError(f"expected Variable or None (got {type(result).__name__})"),
                    "functions#backward-returns-tensors")
        for i, (edge, result) in enumerate(zip(self.edges, gradients)):
            if result is not None:
                array = result._array
                if edge is not None and (array.shape != edge.shape or array.dtype is not edge.dtype):
                    self._check_fit(i, array, edge)
                if walk.recorder is None:
                    gradients[i] = array
        return gradients

    def _check_fit(self, index: int, array: Array, edge: Any) -> None:
        """Raise RuntimeError if a gradient cannot be fitted to the value of `edge`."""
        shape, target = array.shape, edge.shape
        whose = f"Function {self.name()} returned"
        if self.slice and index == 0:  # the gradient is copied to where the slice is, so it may be smaller
            sentence = clash(target, shape)
            if sentence is None and np.broadcast_shapes(target, shape) != target:
                sentence = f"output with shape {list(target)} doesn't match the broadcast shape {list(shape)}"
            if sentence is not None:
                raise noted(
                    RuntimeError(sentence), "context#gradient-of-a-view",
                    given=f"{whose} it as the gradient of the values that it overwrote")
        elif len(target) > len(shape) or not all(n in (1, m) for m, n in zip(reversed(shape), reversed(target))):
            raise noted(
                RuntimeError(f"{whose} an invalid gradient at index {index} - got {list(shape)} but expected shape "
                             f"compatible with {list(target)}"), "functions#shape-of-gradient",
                recorded=faults.recorded(self))
        if letter(array.dtype) != "f" and (array.dtype.kind == "c") != (edge.dtype.kind == "c"):
            raise noted(
                RuntimeError("Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to "
                             "be true, but got false.  (Could this error message be improved?  If so, please report an "
                             "enhancement request to PyTorch.)"), "functions#dtype-of-gradient",
                given=f"{whose} a gradient of type {array.dtype} at index {index} for a value of type {edge.dtype}")
