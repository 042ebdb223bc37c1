"""The recorded call of an operator with sparse tensors. `record` makes a node as the calls of dense tensors do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import call
from typing import Any

import numpy as np

from ...foundations.dtypes import (
    DIFFERENTIABLE,
    FLOATING,
    category,
    default_floating,
    legacy,
    result_dtype,
)
from ...foundations.errors import user_site, warn_of_discarded_part
from ...foundations.modes import local
from ...graph.versions import count_with, new_lineage, writing, written
from ...kernels.kinds import with_numbers
from ...kernels.sparse.arrays import SparseLike
from ...ops.basic import beyond, cast
from ...ops.framework import Op
from ..recording.inplace import check_writable
from ..recording.nodes import new_node
from ..recording.operands import floating, scalar
from ..state.base import (
    TensorBase,
    edge_of,
    mark_inference,
    plain,
    refuse_tangents,
    requires,
    with_edge,
)
from ..state.inside import no_batch
from ..transforms.batched import is_batch

# What a public function does with sparse tensors, by the name of the function.
TABLE: dict[str, Callable[..., Any]] = {}


def sparse(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The decorator of a function that `TABLE` holds under these names."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        TABLE.update(dict.fromkeys(names, function))
        return function

    return decorate


def counted_with(array: Any, other: SparseLike) -> Any:
    """A NumPy array that `other` stores, or a sparse one with its elements: writes to it count as writes to `other`."""
    alone = array if isinstance(array, SparseLike) else new_lineage(array)
    count_with(alone, other)  # type: ignore[arg-type]
    return alone


def _operand(value: Any, beside: TensorBase, op: Op) -> Any:
    """A tensor as it is; a number or a NumPy array as a tensor."""
    if isinstance(value, TensorBase) or value is None:
        return value
    if isinstance(value, (bool, int, float, complex)):
        dtype = beside._array.dtype
        return scalar(value, floating(dtype) if op.domain == "float" else dtype)
    array: Any = value if isinstance(value, SparseLike) else np.asarray(value)
    return plain(array)


def _arrays(op: Op, operands: Sequence[Any]) -> list[Any]:
    """The arrays of the operands, in the type that the operator computes in."""
    arrays = [None if x is None else with_numbers(x._array) for x in operands]
    if op.domain == "as given":
        return arrays
    present = [a for a in arrays if a is not None]
    dtype = result_dtype((a.dtype, a.ndim > 0) for a in present)
    if op.domain == "float":
        dtype = dtype if category(dtype) >= FLOATING else default_floating()
    elif callable(op.domain):
        dtype = op.domain(dtype, [a.dtype for a in present])
    return [a if a is None or a.dtype == dtype else cast(a, dtype) for a in arrays]


def record(op: Op, *args: Any) -> Any:
    """The result of an operator for tensors and options: a tensor, with a node if an operand requires grad."""
    given = args[0] if op.variadic else args[:op.arity]
    beside = next(x for x in given if isinstance(x, TensorBase))
    operands = [_operand(x, beside, op) for x in given]
    arrays = _arrays(op, operands)
    thread = local.thread
    if thread.levels:
        refuse_tangents(op.name, operands, "compute with dense tensors: sparse ones have no tangents")
    options = args[1:] if op.variadic else args[op.arity:]
    if thread.levels and any(map(is_batch, arrays)):
        out = _by_samples(op, arrays, options)
    else:
        run = thread.run if thread.transform is None else call  # a transform sees the call, and runs the kernel
        out = run(op, arrays, *options) if op.variadic else run(op, *arrays, *options)
    result = with_edge(out, None)
    edges: tuple[Any, ...] = ()
    if thread.grad and op.steps:
        edges = tuple([None if x is None or not (op.variadic or i in op.uses) else edge_of(x)
                       for i, x in enumerate(operands)])
    if any(edges) and out.dtype in DIFFERENTIABLE:
        result._edge = node = new_node(op, operands, arrays, edges, args, (result,))
        node.shape, node.dtype = out.shape, out.dtype
        if thread.watchers:
            thread.tell(node, (result,), operands)
    elif thread.inference:
        mark_inference(result)
    return result


def _by_samples(op: Op, arrays: Sequence[Any], options: Sequence[Any]) -> Any:
    """The dense results of an operator for all samples of its dense operands, one by one. The sparse operands are the
    same for all samples. Raises RuntimeError if a result would be sparse.
    """
    def of_sample(*given: Any) -> Any:
        found = op([*given], *options) if op.variadic else op(*given, *options)
        if isinstance(found, SparseLike):
            raise no_batch(op.name)
        return found

    return beyond(of_sample, *arrays)


def before_write(x: Any, other: Any = None) -> Any:
    """The tensor for a function of it, and of another, that is about to write to it: what a node saves is not written.
    """
    if not (local.thread.grad and (requires(x) or (isinstance(other, TensorBase) and requires(other)))):
        return x
    return with_edge(x._array.with_values(np.array(x._array.values)), edge_of(x))


_NARROWER = "result type {made} can't be cast to the desired output type {held}"


def write(x: Any, result: Any, refusal: str | None = _NARROWER, over: bool = False) -> Any:
    """Let a sparse tensor become the result of a function, in place.

    With `over`, the elements are written over those that the tensor stores, which other tensors may share. Raises
    RuntimeError for a leaf that requires grad, and for an inference tensor outside of inference mode. Raises it also,
    with the text `refusal`, for a result of a higher kind of number; if `refusal` is None, the numbers are converted.
    """
    check_writable(x, local.thread.grad and requires(x))
    array, held = result._array, x._array.values
    if array.dtype != held.dtype:
        if refusal is not None and category(array.dtype) > category(held.dtype):
            raise RuntimeError(refusal.format(made=legacy(array), held=legacy(held)))
        warn_of_discarded_part(array.dtype, held.dtype)
        if array.dtype.kind == "c" and held.dtype.kind not in "cb":
            array = array.with_values(array.values.real)
        array = cast(array, held.dtype)
    writing(x._array)
    x._array.take(array)
    if over and held.shape == array.values.shape and held.flags.writeable:
        held[...] = array.values
        x._array.values = held
    written(x._array, user_site())
    if local.thread.grad:                                   # else x keeps its history, as a dense tensor does
        x._edge = result._edge if held.dtype in DIFFERENTIABLE else None
    return x
