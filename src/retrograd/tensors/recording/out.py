"""`out=`: a function writes its result to the memory of a tensor that the caller gives.

All functions share this code, and each states its own rule (see `out_rules`). The function computes as it does
without `out`, and all checks but one come before the first write. The exception is memory that cannot grow: `_deliver`
finds this when it resizes a tensor, and earlier results of the call have then been written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import return_types
from ...foundations.dtypes import (
    C_NAMES,
    DIFFERENTIABLE,
    Array,
    category,
    default_floating,
    dtype as torch_dtype,
    letter,
    unimplemented,
)
from ...foundations.errors import noted, user_site, warn
from ...foundations.modes import local
from ...graph.node import ENGINE, OtherNode
from ...graph.versions import writing, written
from ...kernels.layout import slowest_first
from ...ops.basic import cast
from ...ops.elementwise.arithmetic import copy
from ..arguments.options import element_type
from ..state.base import TensorBase, edge_of, moves, note_layout, plain, requires, set_edge, stands_as_leaf
from ..state.writable import refuse_inference, refuse_overlap, unlock, unlocked
from .out_rules import ALIGNED, CONSTANT, FOUND, REFUSED, RESIZED, UNASKED, UNDERIVED, Rule
from .resizing import only_in_rows, reshape_memory

if TYPE_CHECKING:
    from ...graph.engine import Pass

_RANDOM = frozenset(("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"))
_NOT_DRAWN_OVER = ("vmap: We do not support calling out variants of random operations inside of vmap. Please use "
                   "non-out variants as a workaround")


def into(out: Any, name: str, asks: Any, function: Callable[..., Any], args: tuple[Any, ...],
         options: dict[str, Any]) -> Any:
    """Write `function(*args, **options)` to `out`, and return `out`: a tensor, or a tuple for several results.

    `name` is the function's name in messages. `asks` is its rule, or a function that chooses a rule by the arguments.
    If the shape differs, `out` is resized, with a warning unless it was empty. Raises TypeError if `out` is
    no tensor, and RuntimeError if its dtype or memory does not fit or a gradient would be needed.
    """
    facts: Rule = asks if isinstance(asks, Rule) else asks(*args, **options)
    outs = _tensors(name, out)
    operands = [x for x in _flat((*args, *options.values())) if isinstance(x, TensorBase)]
    if name in _RANDOM and any([level.has_samples for level in local.thread.levels]):
        raise RuntimeError(_NOT_DRAWN_OVER)
    check_gradients(name, facts, operands, outs)
    for target in outs:
        if target._grad_meta is not None:
            refuse_inference(target._grad_meta)
    if facts.dtype is not None:
        _check_dtype(name, facts, 0, facts.dtype, outs[0]._array.dtype)
    making = facts.typed and facts.gradient in (CONSTANT, RESIZED)      # the function makes tensors and takes none
    require = options.pop("requires_grad", False if making else None)
    results = _computed(name, facts, function, args, options, outs)
    if len(results) != len(outs) or isinstance(out, TensorBase) == (type(results) is not _One):
        raise _misfit(name, out, results)
    for i, (result, target) in enumerate(zip(results, outs)):
        _check_dtype(name, facts, i, result._array.dtype, target._array.dtype)
        _check_memory(facts, operands, result._array, target._array)
        have, want = target._array.shape, result._array.shape
        if facts.overlap is ALIGNED and have != want and any([x is target for x in operands]):
            raise noted(
                RuntimeError(f"output with shape {[*have]} doesn't match the broadcast shape {[*want]}"),
                because="an operand is not resized", instead="pass another tensor as `out`")
    for result, target in zip(results, outs):
        _deliver(result._array, target, facts)
    if facts.gradient == UNDERIVED:
        for target in outs:
            _underive(facts.blame or name, operands, target)
    if require is not None:
        out.requires_grad = require
    if isinstance(out, TensorBase) or type(results) is tuple:
        return out if isinstance(out, TensorBase) else outs
    return getattr(return_types, f"{type(results).__name__}_out")(outs)


class _One(tuple[Any, ...]):
    """The result of a function with a single result."""

    __slots__ = ()


def _tensors(name: str, out: Any) -> tuple[Any, ...]:
    if isinstance(out, TensorBase):
        return (out,)
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    for i, each in enumerate(out):
        if not isinstance(each, TensorBase):
            raise TypeError(f"expected Tensor as element {i} in argument 'out', but got {type(each).__name__}")
    return tuple(out)


def _flat(values: Sequence[Any]) -> list[Any]:
    return [x for value in values for x in (value if isinstance(value, (tuple, list)) else (value,))]


def _misfit(name: str, out: Any, results: tuple[Any, ...]) -> TypeError:
    """The error if `out` is one tensor and the results are several, or the reverse, or if the numbers differ."""
    if type(results) is _One:
        return TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if isinstance(out, TensorBase):
        return TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not Tensor")
    return TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")


def check_gradients(name: str, facts: Rule, operands: list[Any], outs: tuple[Any, ...]) -> None:
    """Raise RuntimeError if a gradient would be needed, and NotImplementedError if a tangent would be."""
    if local.thread.levels and facts.gradient != UNASKED and any([moves(x) for x in (*operands, *outs)]):
        of = facts.blame or name
        raise noted(NotImplementedError(
            f"Trying to use forward AD with {of}_out that does not support it because it is an out= function"
            if facts.gradient == REFUSED else f"Trying to use forward AD with aten::{of} that does not support it."),
            "in-place#out-does-not-differentiate")
    if facts.gradient == RESIZED and any(map(requires, outs)):
        raise noted(
            RuntimeError("cannot resize variables that require grad"),
            instead="pass its detach() or its clone() as `out`")
    if not local.thread.grad or facts.gradient == UNASKED:
        return
    asked = (*operands, *outs) if facts.gradient == REFUSED else outs
    if any(map(requires, asked)):
        prefix = "" if facts.gradient == REFUSED else "aten::"
        raise noted(
            RuntimeError(f"{prefix}{facts.blame or name}(): functions with out=... arguments don't support "
                         "automatic differentiation, but one of the arguments requires grad."),
            "in-place#out-does-not-differentiate")


def _computed(name: str, facts: Rule, function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any],
              outs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results as a tuple, computed without a graph."""
    dtype, given = outs[0]._array.dtype, options.get("dtype")
    if (facts.typed or facts.widened or facts.converted) and given is not None and element_type(name, given) != dtype:
        raise _other_type(name, facts, element_type(name, given), dtype)
    kernel, kinds = facts.kernel
    if letter(dtype) not in kinds:
        what = kernel.format(name=name)
        raise unimplemented(what, dtype)
    if facts.typed:
        options = {**options, "dtype": torch_dtype.of[dtype]}
    elif facts.widened:
        args = tuple([_widened(x, dtype) for x in args])
    elif facts.converted and given is None and letter(args[0]._array.dtype) in "fc":
        options = {**options, "dtype": torch_dtype.of[dtype if letter(dtype) in "fc" else default_floating()]}
    thread = local.thread
    grad, thread.grad = thread.grad, False
    try:
        result = function(*args, **options)
    finally:
        thread.grad = grad
    return _One((result,)) if isinstance(result, TensorBase) else result


def _widened(x: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor cast to this dtype, if its own is of the same kind (float or complex). Other values stay as they are."""
    if not isinstance(x, TensorBase) or letter(dtype) not in "fc" or letter(x._array.dtype) != letter(dtype):
        return x
    return plain(cast.run(x._array, dtype))


def _other_type(name: str, facts: Rule, given: np.dtype[Any], have: np.dtype[Any]) -> RuntimeError:
    """The error for an argument `dtype` that differs from the dtype of `out`."""
    names = _names(given, have)
    if facts.gradient != REFUSED:
        return RuntimeError("dtype {result} does not match dtype of out parameter ({out})".format(**names))
    if name == "nansum":
        said = "nansum: provided dtype must match dtype of result. Got {out} and {result}."
        return RuntimeError(said.format(**names))
    return RuntimeError("Expected out tensor to have dtype {c_result}, but got {c_out} instead".format(**names))


def _names(have: np.dtype[Any], want: np.dtype[Any]) -> dict[str, str]:
    return {"result": torch_dtype.of[have].legacy, "out": torch_dtype.of[want].legacy,
            "c_result": C_NAMES[have.name], "c_out": C_NAMES[want.name]}


def _check_dtype(name: str, facts: Rule, place: int, have: np.dtype[Any], want: np.dtype[Any]) -> None:
    if have == want or (facts.bytes_too and want == np.uint8):
        return
    if facts.if_complex not in (None, want) and want.kind == "c":
        raise RuntimeError(FOUND.format(**_names(facts.if_complex, want)))
    message = facts.exact[place if len(facts.exact) > 1 else 0]
    if facts.uncastable and category(have) > category(want):
        message = facts.uncastable
    if message:
        part = facts.parts[place] if facts.parts else ""
        raise facts.error(message.format(name=name, part=part, **_names(have, want)))


def _check_memory(facts: Rule, operands: list[Any], result: Array, target: Array) -> None:
    """Refuse a target whose elements coincide, or that shares memory with an operand in a way the rule forbids."""
    for i, operand in enumerate(operands):
        rule = facts.overlap[min(i, len(facts.overlap) - 1)]
        if rule != "free":
            refuse_overlap(target, operand._array, whole=rule == "apart")
    if target.shape == result.shape and not target.flags.writeable and not facts.repeated:
        unlock(target)


def _deliver(result: Array, target: TensorBase, facts: Rule) -> None:
    """Resize a tensor to the shape of a result, write the result to its memory, and count the write."""
    if not (facts.any_shape and result.size == target._array.size):
        _fit(target, result, facts)
    writing(target._array)
    copy.write(_overwrite, target._array, result, facts)
    written(target._array, user_site(3))


def _overwrite(array: Array, result: Array, facts: Rule) -> None:
    """Cast a result and write it over memory with the same number of elements."""
    if not array.flags.writeable:
        array = unlocked(array) if facts.repeated else unlock(array)
    if facts.in_memory_order and not array.flags.c_contiguous:
        array = array.transpose(slowest_first(array))
    if facts.any_shape or facts.in_memory_order:
        result = result.reshape(array.shape)
    np.copyto(array, result, casting="unsafe")


def _fit(target: TensorBase, result: Array, facts: Rule) -> None:
    """Resize `out` to the shape and the order of axes of the result. Warn unless `out` was empty."""
    had, shape, notice = target._array.shape, result.shape, facts.notice
    if had == shape:
        return
    if notice and math.prod(had):
        warn(notice.format(had=[*had], shape=[*shape], had_count=math.prod(had), count=result.size),
                      UserWarning)
    if facts.in_rows or result.flags.c_contiguous or only_in_rows(target._array):
        reshape_memory(target, shape)
    else:
        order = slowest_first(result)
        reshape_memory(target, tuple([shape[axis] for axis in order]))
        target._array = target._array.transpose(np.argsort(order))
    note_layout(target)


def receive(name: str, facts: Rule, out: Any, result: TensorBase) -> None:
    """Check and resize `out`. The caller then copies the result to it, as a recorded operation."""
    target, = _tensors(name, out)
    _check_dtype(name, facts, 0, result._array.dtype, target._array.dtype)
    if local.thread.grad and requires(target) and stands_as_leaf(target):
        return                                           # the copy will raise, so nothing may change before
    _fit(target, result._array, facts)


class _Underived(OtherNode):
    """The node of an `out` that a function without a derivative wrote to. A backward pass through it raises."""

    __slots__ = ("function",)
    namespace = ENGINE

    def __init__(self, function: str, edges: tuple[Any, ...], target: TensorBase) -> None:
        super().__init__(edges, target._array.shape, target._array.dtype)
        self.function = function

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        raise RuntimeError(f"derivative for aten::{self.function} is not implemented")


_Underived.__name__ = "NotImplemented"


def _underive(name: str, operands: list[Any], target: TensorBase) -> None:
    edges = tuple(filter(None, map(edge_of, operands))) if local.thread.grad else ()
    if edges and target._array.dtype in DIFFERENTIABLE:
        set_edge(target, _Underived(name, edges, target))
