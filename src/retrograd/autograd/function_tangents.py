"""A custom Function in forward mode: `forward` runs without the level, and `jvp` gives the tangents of the outputs.

`jvp` runs without the level, too, but with all other levels. So the tangents of outer levels pass through `jvp`, and
each nesting is right. A backward pass through a level runs the user's `backward` on dual tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..foundations.dtypes import DIFFERENTIABLE, Array
from ..foundations.errors import noted
from ..foundations.modes import local
from ..kernels.layout import owner_of
from ..ops.basic import cast
from ..ops.creation import full_beside
from ..tensors.state.base import TensorBase, as_leaf, edge_of, plain
from ..tensors.transforms.batched import parts
from ..tensors.transforms.forward import fresh_copy, misfit
from ..tensors.transforms.levels import in_effect, inner, inside, others, outer
from .backward import grad
from .function_node import FunctionNode


def called(function: Any, args: tuple[Any, ...]) -> Any:
    """The result of a Function with its tangents, if some arguments have tangents."""
    call = _Call(function, args)
    found = call.found()
    if call.node.edges and local.thread.watchers:          # which see the values at all levels
        local.thread.tell(call.node, call.outputs, args)
    return found


def _tensors(values: Sequence[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, TensorBase)]


def _owner(array: Array) -> Any:
    return owner_of(parts(inner(array))[0])


def _not_written() -> Exception:
    return noted(RuntimeError(
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is modifying "
        "an input inplace, then the jvp function must modify the corresponding gradient inplace."),
        "forward-mode#tangent-of-a-write")


def _no_view(arg: Any, result: Any) -> Exception:
    """The error of a `jvp` whose result is no view of the tangent of `arg`, in whose memory the output lies."""
    if result is None or not result._is_view():
        return noted(RuntimeError("A custom Function's forward is returning a view (or an input as-is) but the jvp is "
                                  "not returning a view."), "forward-mode#tangent-of-a-view")
    return noted(RuntimeError(
        "A custom Function is returning a view but the jvp is not returning a view of the same base as the given grad "
        "input." if arg._is_view() else
        "A custom Function is returning a view but the jvp is not returning a view of the given grad input."),
        "forward-mode#tangent-of-another-view")


class _Call:
    """One call of a Function. `outputs` are known when forward has returned."""

    node: FunctionNode
    outputs: tuple[Any, ...]

    def __init__(self, function: Any, args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args

    def found(self) -> Any:
        """The result, with the tangents of all levels in effect: first those of the outer levels."""
        for level in reversed(local.thread.levels):
            if any([level.moves(arg._array) for arg in _tensors(self.args)]):
                with in_effect(others(level)):
                    tangents = [self._tangent(level, arg) for arg in self.args]
                    found = self.found()
                    for i, result in enumerate(self._pushed(tangents)):
                        self._give(level, self.outputs[i], result, tangents)
                return found
        self.kept: dict[str, Any] = {}
        found, self.context = self.function._called(self.args, self.kept)
        self.node = self.context._node
        self.outputs = found if isinstance(found, tuple) else (found,)
        return found

    @staticmethod
    def _tangent(level: Any, arg: Any) -> Any:
        """The tangent of an argument, as the memory that holds it; None for zero."""
        if not isinstance(arg, TensorBase) or not level.moves(arg._array):
            return None
        tangent = level.shadows.tangent(inner(arg._array))
        return None if tangent is None else plain(outer(tangent))

    def _pushed(self, tangents: list[Any]) -> list[Any]:
        """What the user's `jvp` returns, checked."""
        node = self.node
        given = [self._zeros(arg) if t is None and node.materialize else t for arg, t in zip(self.args, tangents)]
        saved, node.saved = node.saved, self.kept.get("saved_for_forward") or ()
        try:
            found = self._transposed(given) if self.function._transposes else self.function.jvp(self.context, *given)
        finally:
            node.saved = saved
        results = [*found] if isinstance(found, tuple) else [found]
        if len(results) != len(self.outputs):
            raise noted(
                RuntimeError("Function's jvp returned an invalid number of forward gradients "
                             f"(expected {len(self.outputs)} but got {len(results)})"),
                "forward-mode#number-of-tangents")
        for i, (output, result) in enumerate(zip(self.outputs, results)):
            if result is not None:
                self._check(i, output, result)
        return results

    def _transposed(self, tangents: list[Any]) -> tuple[Any, ...]:
        """The tangents by the gradient of the gradient, because `backward` is linear in the cotangents."""
        node, thread = self.node, local.thread
        needs, grad_mode, watchers = node.needs_input_grad, thread.grad, thread.watchers
        node.needs_input_grad, thread.grad, thread.watchers = tuple([t is not None for t in tangents]), True, ()
        try:
            cotangents = [self._zeros(output) for output in self.outputs]
            moving = [as_leaf(g) for g in cotangents if g is not None]
            gradients = self.function.backward(self.context, *cotangents)
            reached = [(g, t) for g, t in zip(gradients, tangents)
                       if isinstance(g, TensorBase) and t is not None and edge_of(g) is not None]
            if not reached:
                return (None,) * len(cotangents)
            found = iter(grad([g for g, _ in reached], moving, [t for _, t in reached], allow_unused=True))
            return tuple([None if g is None else next(found) for g in cotangents])
        finally:
            node.needs_input_grad, thread.grad, thread.watchers = needs, grad_mode, watchers

    @staticmethod
    def _zeros(arg: Any) -> Any:
        if not isinstance(arg, TensorBase) or arg._array.dtype not in DIFFERENTIABLE:
            return None
        return plain(full_beside(arg._array, arg._array.shape, arg._array.dtype, 0))

    def _check(self, i: int, output: TensorBase, result: TensorBase) -> None:
        if not isinstance(result, TensorBase):
            raise noted(
                RuntimeError(f"expected Variable or None (got {type(result).__name__}) for grad output {i}."),
                "forward-mode#tangents-are-tensors")
        constant = self.kept.get("non_differentiable") or ()
        if (not isinstance(output, TensorBase) or output._array.dtype not in DIFFERENTIABLE
                or any([output is t for t in constant])):
            raise noted(
                RuntimeError(f"Function's jvp returned a gradient at position {i}, but  the corresponding forward "
                             "output is not a differentiable Tensor.You should return None at that position instead."),
                "forward-mode#tangent-of-non-differentiable")
        if result._array.shape != output._array.shape:
            raise misfit(output._array.shape, result._array.shape)

    def _give(self, level: Any, output: Any, result: TensorBase | None, tangents: list[Any]) -> None:
        """Give an output its tangent. An output in the memory of a dual input has that of the memory."""
        if not isinstance(output, TensorBase):
            return
        owner, changed = _owner(output._array), any([output is arg for arg in self.args])
        for arg, t in zip(self.args, tangents):
            if t is not None and _owner(arg._array) is owner:
                if result is not None and result is not t and _owner(result._array) is _owner(t._array):
                    return
                if changed and result is t:
                    return
                raise _not_written() if changed else _no_view(arg, result)
        if result is not None:
            if changed:
                level.note_write(owner, None)
            array, target = inner(result._array), inner(output._array)
            with inside():
                level.shadows.give(target, fresh_copy(array) if array.dtype == target.dtype else cast.run(
                    array, target.dtype))
