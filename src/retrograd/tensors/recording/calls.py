"""The recorded call of an operator: it runs the kernel, and makes a node if an input requires grad.

There is one kind of closure for each shape of call: a ufunc of one tensor, a ufunc of two, one tensor and options,
anything else. The public functions and methods are these closures, or call them. Promotion happens before the kernel.
Each closure repeats the code that makes a result, since a Python call would cost more than that code.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from ...foundations.dtypes import DIFFERENTIABLE, F16, F32, F64, RARE, Array
from ...foundations.modes import local
from ...graph.node import Output, plan_of
from ...graph.packed import look_after_indices
from ...graph.versions import next_number
from ...kernels.elementwise.parts import in_parts, pair_in_parts
from ...kernels.layout import in_common_order
from ...kernels.narrow import rare_among
from ...kernels.thresholds import PAIRS, PARTS
from ...ops.elementwise.arithmetic import IN_HALF
from ...ops.framework import Op, Save
from ..state.base import ORDINARY, TensorBase, edge_of, make_view, mark_inference, note_layout, plain
from ..state.dispatch import DISPATCH, UNHANDLED
from .composing import composing
from .joins import joining, joins
from .nodes import choosing, class_of, keeping, look_after_converted, new_node
from .operands import NUMBERS, Bound, again, common, floating, leaves, operand, scalar, schemas_of
from .out_rules import ELEMENTWISE
from .overriding import cast_by_autocast
from .public_facts import recorded_as
from .unusual import ABSENT, overridden, signature, unusual
from .views import parts_of, taken_again, viewing

_new = object.__new__
_LATER: Any = None                      # the class of an operator's nodes, and their plan, before the first node
_calls: dict[tuple[Op, str, str], Callable[..., Any]] = {}


def recorded(op: Op, *, dunder: str = "", out: Any = ..., bound: str = "") -> Callable[..., Any]:
    """The function that calls `op` on tensors and records it, or the method of tensors that has the name `bound`.

    If `dunder` is given, the function is one of Python's operators: it returns NotImplemented for a value that is no
    operand, and modes and subclasses are given the method of this name. `out` is the rule for the `out` of an
    elementwise function; None if it takes no `out`.
    """
    if op.composition is not None:
        return composing(op, op.composition)
    call = _calls.get((op, dunder, bound))
    if call is None:
        single = op.arity == 1 and not op.variadic and op.outputs == ("out",)
        whole = not op.steps or len(op.uses) == op.arity         # a rule for each operand, or for none
        make = (_unary if op.arity == 1 else _binary) if op.short and whole else _optioned if single else _general
        call = make(op, NotImplemented if dunder else Bound(bound) if bound else None)
        _describe(call, op, dunder)
        if joins(op):
            call = joining(op, call)
            _describe(call, op, dunder)
        if op.short and not dunder:
            plain_call: Any = recorded(op) if bound else call
            rule = plain_call.public.out if bound else ELEMENTWISE
            recorded_as(call, schemas_of(op), rule, plain_call, partial(_method, op))
        call = _calls.setdefault((op, dunder, bound), call)
    if out is not ...:
        call.public.out = out  # type: ignore[attr-defined]
    return call


def _method(op: Op, name: str) -> Callable[..., Any]:
    return recorded(op, bound=name)


def _describe(call: Any, op: Op, dunder: str) -> None:
    call.__name__ = call.__qualname__ = dunder if dunder.startswith("__") else op.name
    call.method = dunder
    call.__doc__ = f"`{op.name}`, element by element." if op.short else op.kernel.__doc__
    if op.short:
        call.__signature__ = signature(() if dunder else schemas_of(op), op.arity)


class _Calls(dict[Op, Callable[..., Any]]):
    """The recorded calls by operator. Each is made when it is first asked for."""

    def __missing__(self, op: Op) -> Callable[..., Any]:
        return self.setdefault(op, recorded(op))


CALLS = _Calls()


def _unary(op: Op, otherwise: Any) -> Callable[..., Any]:
    kernel, chosen, recordable = op.kernel, op.domain not in ("promote", "as given"), bool(op.steps)
    keep_x, keep_out = keeping(op, 1) or (False, False)
    saves, large = keep_x or keep_out, in_parts(kernel)
    node_type = plan = _LATER

    def first() -> Any:
        nonlocal plan, node_type
        plan, node_type = plan_of(op), class_of(op)    # other threads may see the class, and then the plan is there
        return node_type()

    node_type = first

    def call(input: Any = ABSENT, *rest: Any, out: Any = None) -> Any:
        if rest or out is not None:
            return unusual(call, (input, *rest), out, bool(rest))
        if type(input) is not DISPATCH.plain:
            if type(input) not in DISPATCH.inert:
                result = overridden(call, (input,))
                if result is not UNHANDLED:
                    return result
            input = operand(op, 0, input, None, otherwise)
        array = input._array
        dtype = array.dtype
        thread = local.thread
        straight = thread.transform is None
        if dtype is not F32 and dtype is not F64:
            array = common(op, (input,))[0] if chosen else array
            straight = straight and not (RARE and array.dtype in RARE)
        try:
            out = op.run(array) if not straight else thread.run(
                kernel if large is None or array.size < PARTS else large, array, out=...)
        except (TypeError, RuntimeError) as error:
            return again(call, (input,), op, (input,), error)
        result = _new(DISPATCH.tensor)
        result._array = out
        result._grad_meta = result._edge = None
        meta = input._grad_meta
        if meta and thread.transform is None and not array.flags.c_contiguous:
            result._array = out = in_common_order(out, (array,))
            note_layout(result)
        edge = None
        if recordable and thread.grad:
            edge = input._edge if meta is None else ((hold := meta.accumulator) and hold()) or edge_of(input)
        if edge is None:
            if thread.inference:
                mark_inference(result)
            return result
        node = node_type()
        node.number = next_number()
        node.edges = (edge,)
        node.shape = out.shape
        node.dtype = out.dtype                      # abs of a complex input is real
        node.hooks = None
        node.plan = plan
        node.saved = (array if keep_x else None, out if keep_out else None) if saves else None
        result._edge = node
        if thread.watchers:
            thread.tell(node, (result,), (input,))
        return result

    return call


def _binary(op: Op, otherwise: Any) -> Callable[..., Any]:
    kernel, widened = op.kernel, op.domain == "float"
    chosen, recordable = op.domain not in ("promote", "as given"), bool(op.steps)
    keep_left, keep_right, keep_both = [kept and kept[:3] for kept in (keeping(op, mask) for mask in (1, 2, 3))]
    strided = len(op.saves) > 3                           # the rules also name the strides of both
    promoting, ordered, large = _general(op, otherwise), op.layout == "elementwise", pair_in_parts(kernel)
    straight: set[np.dtype[Any]] = set()                  # other types that the domain is known to leave as they are
    node_type = plan = _LATER

    def first() -> Any:
        nonlocal plan, node_type
        plan, node_type = plan_of(op), class_of(op)
        return node_type()

    node_type = first

    def call(input: Any = ABSENT, other: Any = ABSENT, *rest: Any, out: Any = None) -> Any:
        if rest or out is not None:
            return unusual(call, (input, other, *rest), out, bool(rest))
        plain = DISPATCH.plain
        if type(input) is not plain:
            if type(input) not in DISPATCH.inert:
                result = overridden(call, (input, other))
                if result is not UNHANDLED:
                    return result
            input = operand(op, 0, input, other, otherwise)
        if type(other) is not plain:
            if type(other) not in DISPATCH.inert:
                result = overridden(call, (input, other))
                if result is not UNHANDLED:
                    return result
            if type(other) in NUMBERS and isinstance(input, TensorBase):
                other = scalar(other, floating(input._array.dtype) if widened else input._array.dtype)
            else:
                other = operand(op, 1, other, input, otherwise)
                if other is NotImplemented:
                    return other
        a, b = input._array, other._array
        dtype = a.dtype
        if dtype is not b.dtype or (dtype is not F32 and dtype is not F64 and dtype not in straight and (
                chosen or (RARE and dtype in RARE))):
            result = promoting(input, other)
            if dtype is b.dtype and leaves(op.domain, dtype):
                straight.add(dtype)
            return result
        thread = local.thread
        try:
            out = op.run(a, b) if thread.transform is not None else thread.run(
                kernel if large is None or a.size < PAIRS else large, a, b, out=...)
        except (TypeError, ValueError, RuntimeError) as error:
            return again(call, (input, other), op, (input, other), error)
        result = _new(DISPATCH.tensor)
        result._array = out
        result._grad_meta = result._edge = None
        meta, other_meta = input._grad_meta, other._grad_meta
        if ordered and (meta or other_meta) and thread.transform is None and not (
                a.flags.c_contiguous and b.flags.c_contiguous):
            result._array = out = in_common_order(out, (a, b))
            note_layout(result)
        left = right = None
        if recordable and thread.grad:
            left = input._edge if meta is None else ((hold := meta.accumulator) and hold()) or edge_of(input)
            right = (other._edge if other_meta is None
                     else ((hold := other_meta.accumulator) and hold()) or edge_of(other))
        if left is None and right is None:
            if thread.inference:
                mark_inference(result)
            return result
        node = node_type()
        node.number = next_number()
        node.edges = (left, right)
        node.shape = out.shape
        node.dtype = dtype
        node.hooks = None
        node.plan = plan
        keep = keep_right if left is None else keep_left if right is None else keep_both
        if keep is None:
            node.saved = None
        else:
            keep_x, keep_y, keep_out = keep
            node.saved = (a if keep_x else None, b if keep_y else None, out if keep_out else None)
            if strided:
                node.saved += (None if left is None else a.strides, None if right is None else b.strides)
        result._edge = node
        if thread.watchers:
            thread.tell(node, (result,), (input, other))
        return result

    return call


def _optioned(op: Op, otherwise: Any) -> Callable[..., Any]:
    """One tensor and options, one result: reductions, views, powers to a number."""
    straight: set[np.dtype[Any]] = set()                     # types that are known to need no promotion
    kernel, promote, differentiable = op.kernel, op.domain != "as given", bool(op.steps)
    usual, row_major = op.domain in ("promote", "float"), op.layout == "rows"   # usual: promotion may keep the types
    loose, ordered, indexed = op.layout != "rows", op.layout == "elementwise", op.indices_at is not None
    chosen = choosing([save if i in op.uses.get(0, ()) else Save("nothing", 0) for i, save in enumerate(op.saves)])
    if op.view and not promote:
        return viewing(op, otherwise, chosen)
    node_type = plan = _LATER

    def first() -> Any:
        nonlocal plan, node_type
        plan, node_type = plan_of(op), class_of(op)
        return node_type()

    node_type = first

    def call(x: Any, *options: Any) -> Any:
        if type(x) is not DISPATCH.plain:
            x = operand(op, 0, x, None, otherwise)
        array = x._array
        dtype = array.dtype
        if promote and not (usual and (dtype is F32 or dtype is F64)) and dtype not in straight:
            array = common(op, (x,))[0]
            if array.dtype is dtype and dtype not in RARE:
                straight.add(dtype)
        thread = local.thread
        edge = None
        if differentiable and thread.grad:
            edge = x._edge if x._grad_meta is None else edge_of(x)
        try:
            if thread.transform is not None or (
                    RARE and (array.dtype in RARE or rare_among(options))):
                out = op.run(array, *options)
            else:
                out = thread.run(kernel, array, *options)
                if type(out) is not np.ndarray or (row_major and not out.flags.c_contiguous):
                    out = np.asarray(out, order="C" if row_major else None)
        except (TypeError, ValueError, RuntimeError) as error:
            return again(call, (x, *options), op, (x,), error)
        result = _new(DISPATCH.tensor)
        result._array = out
        result._grad_meta = result._edge = None
        if loose and thread.transform is None and not (array if ordered else out).flags.c_contiguous:
            result._array = out = in_common_order(out, (array,)) if ordered else out
            note_layout(result)
        made = out.dtype
        if edge is not None and (made is F32 or made is F64 or made in DIFFERENTIABLE):
            node = node_type()
            node.number = next_number()
            node.edges = (edge,)
            node.shape = out.shape
            node.dtype = made
            node.hooks = None
            node.plan = plan
            node.saved = None if chosen is None else chosen((None, array, array.shape, array.dtype, out, *options))
            result._edge = node
            if indexed:
                look_after_indices(node)
            if thread.watchers:
                thread.tell(node, (result,), (x,))
        elif thread.inference:
            mark_inference(result)
        return result

    return call


def _general(op: Op, otherwise: Any) -> Callable[..., Any]:
    """Any other call: options, several outputs, views, a sequence of tensors, optional tensors that may be None."""
    kernel, arity, variadic, single, in_half = op.kernel, op.arity, op.variadic, op.outputs == ("out",), IN_HALF.get(op)
    order: Literal["C"] | None = "C" if op.layout == "rows" else None
    underived = () if variadic else tuple([i for i in range(arity) if i not in op.uses])
    promote, recordable, ordered = op.domain != "as given", bool(op.steps), single and op.layout == "elementwise"

    def call(*args: Any) -> Any:
        operands = args[0] if variadic else args[:arity]
        for i, x in enumerate(operands):
            if type(x) is not DISPATCH.plain and x is not None:
                if DISPATCH.plain is not DISPATCH.tensor and (result := cast_by_autocast(call, args)) is not UNHANDLED:
                    return result
                operands = [None if x is None else operand(op, i, x, operands[i - 1], otherwise)
                            for i, x in enumerate(operands)]
                if NotImplemented in map(type, operands):
                    return NotImplemented
                break
        thread = local.thread
        edges: tuple[Any, ...] = ()
        if thread.grad and recordable:
            edges = tuple([None if x is None else x._edge if x._grad_meta is None else edge_of(x) for x in operands])
            for i in underived:
                if edges[i] is not None:
                    edges = (*edges[:i], None, *edges[i + 1:])
        arrays: list[Any] = common(op, operands) if promote else [None if x is None else x._array for x in operands]
        try:
            given = (arrays, *args[1:]) if variadic else (*arrays, *args[arity:])
            half = in_half is not None and arrays[0].dtype is not arrays[1].dtype and F16 in [a.dtype for a in arrays]
            if half or thread.transform is not None or (RARE and not op.view and rare_among(given)):
                out = (in_half if half else op).run(*given)  # type: ignore[union-attr]
            else:
                made = thread.run(kernel, *given)
                out = np.asarray(made, order=order) if single else [np.asarray(part, order=order) for part in made]
        except (TypeError, ValueError, RuntimeError) as error:
            return again(call, args, op, operands, error)
        if ordered and thread.transform is None:
            out = in_common_order(out, arrays)
        return (_result if single else _results)(op, out, operands, arrays, edges, args)

    return call


def _result(op: Op, out: Array, operands: Any, arrays: Any, edges: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The tensor over the one output of a general op."""
    result = _new(DISPATCH.tensor)
    result._array = out
    result._grad_meta, result._edge, dtype = None, None, out.dtype
    if not op.view:
        note_layout(result)
    if any(edges) and (dtype is F32 or dtype is F64 or dtype in DIFFERENTIABLE):
        result._edge = node = new_node(op, operands, arrays, edges, args, (result,))
        node.shape, node.dtype = out.shape, dtype
        if op.domain != "as given":
            look_after_converted(node, operands, arrays)
        if local.thread.watchers:
            local.thread.tell(node, (result,), operands)
    if op.view:
        make_view(result, operands[0], partial(taken_again, op, args[1:], None), ORDINARY)
    elif local.thread.inference:
        mark_inference(result)
    return result


def _results(op: Op, outs: Any, operands: Any, arrays: Any, edges: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The tensors over the outputs of a general op. Outputs after the first `op.differentiable` ones are constants."""
    results = parts_of(op, outs, operands[0], args[1:]) if op.view else tuple([plain(out) for out in outs])
    count = len(op.differentiable) if op.outputs != ("*",) else len(results)
    if any(edges):
        node = new_node(op, operands, arrays, edges, args, results)
        if not op.several:
            node.shape, node.dtype = outs[0].shape, outs[0].dtype
            results[0]._edge = node
        else:
            node.outputs = count
            node.shape, node.dtype = [o.shape for o in outs[:count]], [o.dtype for o in outs[:count]]
            for i, result in enumerate(results[:count]):
                result._edge = Output(node, i)
        if local.thread.watchers:
            local.thread.tell(node, results, operands)
    return results
