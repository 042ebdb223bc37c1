"""In-place writes: which writes are allowed, how the graph records them, and how versions count them.

A write to a view goes through its base: the base gets a `CopySlices` node, which runs the derivative on the slice
only. Every other view of that memory gets its new edge when it is next used (`renew` in `state.base`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import (
    DIFFERENTIABLE,
    F32,
    F64,
    I64,
    RARE,
    Array,
    category,
    dtype as torch_dtype,
    result_dtype,
)
from ...foundations.errors import at, noted, user_site
from ...foundations.modes import local
from ...graph import versions
from ...graph.faults import second_pass
from ...graph.locks import histories
from ...graph.node import ENGINE, OtherNode, origin_of
from ...graph.versions import before_write, next_number
from ...kernels.indexing.indexing import overlaps
from ...kernels.layout import layout_of, one_by_one, owner_of
from ...kernels.narrow import rare_among, write_in_float32
from ...kernels.shape import common_shape
from ...ops.basic import clone
from ...ops.elementwise.arithmetic import copy
from ...ops.framework import Op
from ...ops.lacking import refuse_lacking
from ..state.base import StridedView, TensorBase, edge_of, requires, set_edge, stands_as_leaf
from ..state.dispatch import DISPATCH
from ..state.inference import refuse_saved, within
from ..state.refusals import ORDINARY, VALUES, refusal
from ..state.writable import may_share_memory, refuse_inference, refuse_overlap, unlock
from .cotangents import of_all_levels
from .nodes import look_after_converted, new_node, saved_for
from .operands import NUMBERS, common, explained, operand, scalar
from .overlaps import check_overlaps, opened

if TYPE_CHECKING:
    from ...graph.engine import Pass

_TYPE_KEPT = ("promote", "as given")    # the domains of operators that compute with integers without conversion


def written(tensor: TensorBase) -> None:
    """Count a write to the tensor's memory, and remember the line of the program that wrote."""
    versions.written(tensor._array, user_site(3))


def check_writable(x: TensorBase, requires_grad: bool) -> None:
    """Raise RuntimeError for a write that autograd could not follow, before anything is written.

    `requires_grad` says whether the write will be recorded: grad mode is on and some operand requires grad.
    """
    meta = x._grad_meta
    if meta is None:
        return
    refuse_inference(meta)
    if not requires_grad:
        return
    if meta.base is not None:
        if meta.creation != ORDINARY:
            raise refusal(meta.creation, x._edge, of_base=False)
        if stands_as_leaf(meta.base) and requires(x):
            raise noted(
                RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation."),
                "in-place#view-of-leaf-written-in-place",
                written=at(user_site(3)), instead="write under torch.no_grad(), or to a clone")
    elif meta.creation == VALUES:
        raise refusal(VALUES, x._edge, of_base=False)
    if stands_as_leaf(x) and requires(x):
        raise noted(
            RuntimeError("a leaf Variable that requires grad is being used in an in-place operation."),
            "in-place#leaf-written-in-place",
            written=at(user_site(3)),
            instead="write under torch.no_grad() to change a parameter; write to a clone to record the write")


def over(op: Op, x: TensorBase, *args: Any, into: Callable[..., Any] | None = None) -> Any:
    """Compute `op(x, *args)`, write it over x's memory, and record it. Returns x.

    The in-place form of the operator, `op.written`, is recorded. If the operator changes only a part of x, `into` is a
    kernel that writes to its first argument. This kernel must raise before it writes.
    """
    op = op.written
    if _write_unrecorded(op, x, args, into):
        return x
    operands = [x, *[value if isinstance(value, TensorBase) else operand(op, i, value, x, None, "_")
                     for i, value in enumerate(args[: op.arity - 1], 1)]]
    if not local.thread.grad or not any([o is not None and requires(o) for o in operands]):
        return _write(op, x, operands, args, into, False)
    with histories:                                      # no other thread gives x or its base a history meanwhile
        return _write(op, x, operands, args, into, True)


def _write(op: Op, x: TensorBase, operands: list[Any], args: tuple[Any, ...], into: Callable[..., Any] | None,
           recording: bool) -> Any:
    """Check a write, make it, and record it."""
    thread = local.thread
    check_writable(x, recording)
    edges = tuple([None if o is None else edge_of(o) for o in operands]) if recording else ()
    recording = recording and bool(op.steps) and x._array.dtype in DIFFERENTIABLE
    check_overlaps(op, x._array, [None if o is None else o._array for o in operands])
    arrays, target, options = _promoted(op, operands), x._array, args[op.arity - 1:]
    out, node, after, transform = None, None, False, thread.transform
    try:
        if into is None and transform is None:
            out = op.compute(*arrays, *options) if RARE else thread.quietly(op.kernel, *arrays, *options)
            check_result(out, target)
        if recording:
            node, after = _inner_node(op, operands, arrays, edges, args)
            refuse_saved(node, [
                (o._array, within(o)) for o in operands if o is not None and o._grad_meta and o._grad_meta.inference])
        versions.writing(target)
        if transform is None:
            _put(op, target, arrays, options, out, into)
        else:
            transform(op, partial(write_over, op, into), (target, *arrays, *options), True)
    except (TypeError, ValueError) as error:
        raise explained(op, operands, error) from None
    written(x)
    if node is not None:
        if after:
            node.number = next_number()
        if thread.watchers:
            thread.tell(node, (x,), operands)
        rebase(x, node)
    return x


def _write_unrecorded(op: Op, x: Any, args: tuple[Any, ...], into: Callable[..., Any] | None) -> bool:
    """Make the usual write, of equal dtypes, that needs no recording. For any other write, do nothing, return False."""
    if type(x) is not DISPATCH.tensor or (thread := local.thread).transform is not None:
        return False
    target, dtype, meta, run, out = x._array, x._array.dtype, x._grad_meta, thread.run, None
    unusual = dtype is not F32 and dtype is not F64 and not (dtype is I64 and op.domain in _TYPE_KEPT)
    if unusual or not target.flags.writeable or (thread.grad and requires(x)) or (meta is not None and meta.inference):
        return False
    try:
        if op.arity == 2 and len(args) == 1:
            other: Any = args[0] if op.derived and (op.short or into is not None) else None
            if type(other) in NUMBERS:
                other = scalar(other, dtype)
            elif type(other) is not DISPATCH.tensor or (thread.grad and requires(other)):
                return False
            args = (array := other._array,)
            if array.dtype is not dtype:
                return False
            if target.base is not None or array.base is not None:
                refuse_overlap(target, array)
        elif op.arity > 1:
            if into is not None or (others := _of_dtype(op, target, args)) is None:
                return False
            out = run(op.kernel, target, *others, *args[op.arity - 1:])
        elif into is None:
            out = run(op.kernel, target, *args)
        if out is not None and (out.dtype is not dtype or out.shape != target.shape):
            return False
        if before_write:
            versions.writing(target)
        if out is not None:
            np.copyto(target, out)
        elif into is None:
            run(op.kernel, target, *args, out=target)
        else:
            run(into, target, *args)
    except (TypeError, ValueError, RuntimeError) as error:
        return _unwritten(error)
    versions.written(target, user_site(3))
    return True


def _unwritten(error: Exception) -> bool:
    """Nothing was written, and `write` makes the write again, or raises PyTorch's error. Other errors are raised."""
    if isinstance(error, RuntimeError) and not local.thread.renewed(error):
        raise error
    return False


def _of_dtype(op: Op, target: Array, args: tuple[Any, ...]) -> list[Any] | None:
    """The arrays of the other operands of an elementwise op, if all are plain tensors of the target's floating dtype.

    Refuses overlaps.
    """
    others, grad = args[: op.arity - 1], local.thread.grad
    if not op.derived or target.dtype is I64 or any([
            type(x) is not DISPATCH.tensor or (grad and requires(x)) for x in others]):
        return None
    arrays = [x._array for x in others]
    if any([a.dtype is not target.dtype for a in arrays]):
        return None
    for array in arrays:
        if target.base is not None or array.base is not None:
            refuse_overlap(target, array)
    return arrays


def write_over(op: Op, into: Callable[..., Any] | None, target: Array, *args: Any) -> None:
    """The part of a write beyond the seam, for NumPy arrays: compute the op, and write the result over `target`."""
    arrays, options, out = [*args[: op.arity]], args[op.arity:], None
    check_overlaps(op, target, arrays)
    if into is None:
        out = op.compute(*args)
        check_result(out, target)
    _put(op, target, arrays, options, out, into)


def _put(op: Op, target: Array, arrays: list[Any], options: tuple[Any, ...], out: Any,
         into: Callable[..., Any] | None) -> None:
    """Write a result over memory, or let the kernel `into` write it."""
    if not target.flags.writeable:
        _write_unlocked(op, target, arrays[1:], options, out, into)
    elif into is None:
        np.copyto(target, out, casting="unsafe")
    else:
        _write_into(op, into, [*arrays, *options])


def _write_into(op: Op, into: Callable[..., Any], args: list[Any]) -> None:
    """Have the kernel `into` write over `args[0]`."""
    if RARE and rare_among(args):
        refuse_lacking(op.name, args, RARE)
        if not op.any_type:
            into = partial(write_in_float32, into)
    local.thread.quietly(into, *args)


def _write_unlocked(op: Op, target: Array, others: list[Any], options: Any, out: Any,
                    into: Callable[..., Any] | None) -> None:
    """Write over a view that is read-only because its elements, or those of the viewed array, coincide."""
    if not target.size:                                  # without elements, none coincide
        return
    target = opened(op, target, others)
    if into is not None:
        _write_into(op, into, [target, *others, *options])
    elif op.kind != "constant" and overlaps(target):
        one_by_one(op.compute, target, others, options)
    else:
        np.copyto(target, out, casting="unsafe")


def _promoted(op: Op, operands: list[Any]) -> list[Any]:
    """The arrays in the type to compute in. The error about an unfit result type comes before the domain's error."""
    if op.domain == "as given":
        return [None if o is None else o._array for o in operands]
    try:
        return common(op, operands)
    except NotImplementedError:
        arrays = [o._array for o in operands if o is not None]
        if op.kind == "elementwise" or op.kind == "constant":
            dtype = result_dtype((a.dtype, a.ndim > 0) for a in arrays)
            check_result(np.broadcast_to(np.empty((), dtype), common_shape(*[a.shape for a in arrays])), arrays[0])
        raise


def check_result(out: Any, target: Array) -> None:
    """Refuse a result that does not fit the memory that it will be written to."""
    if out.shape != target.shape:
        raise noted(
            RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast "
                         f"shape {list(out.shape)}"), "in-place#broadcast-of-output")
    if category(out.dtype) > category(target.dtype):
        have, to = [torch_dtype.of[array.dtype].legacy for array in (out, target)]
        raise noted(
            RuntimeError(f"result type {have} can't be cast to the desired output type {to}"), "in-place#result-type",
            instead="use the operation that returns a new tensor, or convert the target of the write first")


def _inner_node(op: Op, operands: list[Any], arrays: list[Any], edges: tuple[Any, ...],
                args: tuple[Any, ...]) -> tuple[Any, bool]:
    """The node of a write, and whether it saves the result, so that its number must come after the write."""
    needed, target = saved_for(op, edges), operands[0]._array
    after = any(op.saves[i].kind == "out" for i in needed)
    kept = [*arrays]
    for i in needed:
        kind, index = op.saves[i]
        if kind == "input" and arrays[index] is not None:
            # Values that the write destroys are copied: the operand itself, and its aliases if the node is numbered
            # after the write, or if hooks will see the saved values, since they are called after the write.
            # Arrays without elements share no memory for NumPy, but a write to them is counted too.
            lost = (index == 0 or after or local.thread.watchers) and (
                not target.size or may_share_memory(arrays[index], target))
            kept[index] = clone.run(arrays[index], "C") if lost else arrays[index]
    node = new_node(op, operands, kept, edges, (target, *args), operands[:1])
    node.shape, node.dtype = target.shape, target.dtype
    look_after_converted(node, operands, arrays, 1)      # the first operand was copied already
    return node, after


def rebase(x: Any, node: Any) -> None:
    """Make `node` the history of x. If x is a view, this is done through its base."""
    meta = x._grad_meta
    if meta is None or meta.base is None:
        set_edge(x, node)
        versions.note_recorded(x._array, type(node))
        return
    with histories:
        slices, thread = CopySlices(meta.base, meta.replay, node), local.thread
        set_edge(meta.base, slices)
        if thread.watchers:
            thread.tell(slices, (meta.base,), (meta.base,))
        versions.note_recorded(x._array, CopySlices)
        edge_of(x)                                       # like PyTorch, renew x now: the base may change later


def take_history(x: Any, after: Any) -> None:
    """Make the history of x that of `after`, which holds the numbers that were written to the memory of x.

    Raises RuntimeError if such a write may not be recorded.
    """
    check_writable(x, True)
    if x._grad_meta is None or x._grad_meta.base is None:
        set_edge(x, edge_of(after))
        return
    with histories:
        node, _ = _inner_node(copy.written, [x, after], [x._array, after._array], (edge_of(x), edge_of(after)), ())
        rebase(x, node)


class CopySlices(OtherNode):
    """The history of a base after a write through a view: `inner` made the slice, and the rest is unchanged."""

    __slots__ = ("inner", "inputs", "layout", "replay")
    namespace = ENGINE

    def __init__(self, base: TensorBase, replay: Callable[[Any], Any], inner: Any) -> None:
        before = edge_of(base)
        super().__init__((before, *inner.edges[1:]), base._array.shape, base._array.dtype)
        if inner.steps is not None:
            # Saved values of the slice belong to a view of the base before the write. (Functions check their edges.)
            sliced = None if before is None else StridedView(base, replay, inner, before)
            if sliced is not None:
                sliced.number = inner.number - 1
            inner.edges = (sliced, *inner.edges[1:])
        self.replay, self.inner, self.inputs = replay, inner, inner.inputs_shown()
        self.layout = layout_of(base._array)
        origin = origin_of(inner)
        if origin is not None:
            self.origin = origin

    def inputs_shown(self) -> tuple[int, ...] | None:
        """The places of the base before the write, and of the other inputs of the written operation."""
        return None if self.inputs is None else (0, *[i for i in self.inputs if i])

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        gradient = clone(cotangents[0], self.layout)
        part = self.replay(gradient)
        if type(part) is np.ndarray and not part.flags.writeable:
            part = unlock(part)
        inner = self.inner
        if inner is None:
            raise second_pass(self)
        if walk.wanted is not None and self.edges[0] in walk.wanted:
            walk.wanted.add(inner.edges[0])
        saved = inner.saved
        gradients = [*walk.gradients(inner, clone(part, "C"))]
        of_slice = gradients[0]
        if (wide := of_all_levels(gradient, of_slice, walk)) is not gradient:
            gradient = clone(wide, self.layout)
            part = self.replay(gradient)
        if not walk.keep:
            self.inner = None
        if inner.steps is not None:
            inner.saved = saved                          # a recorded pass may use it as a node of its own
            part[...] = walk.fitted(of_slice, inner.shape, inner.dtype) if of_slice is not None else 0
        elif of_slice is None:                           # a custom Function returned None, so the base gets no gradient
            return gradients
        else:
            part[...] = of_slice
        if not local.thread.grad and isinstance(gradient, TensorBase):       # so the program does not know of the write
            versions.forget(owner_of(gradient._array))
        gradients[0] = gradient
        return gradients

