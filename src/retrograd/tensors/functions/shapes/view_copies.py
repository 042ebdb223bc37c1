"""The functions that end in `_copy`, which copy the elements of a view; and splits whose parts do not count as views.

A `_copy` function first calls the function of the view on a detached tensor. This call checks the options, and the
view records which operator made it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....foundations.dtypes import C_NAMES, dtype as torch_dtype
from ....foundations.errors import noted, unsaid
from ....foundations.modes import local
from ....graph.versions import new_lineage
from ....ops import basic, view_copies as ops
from ....ops.framework import Op
from ....ops.indexing.indexing import slice_
from ....ops.shape import alias
from ...arguments.dims import array_of, as_int, axis_of, size_at
from ...recording.calls import recorded
from ...recording.out import check_gradients, into
from ...recording.out_rules import EXACT, FREE, UNASKED, UNDERIVED, rule
from ...recording.public import public
from ...state.base import TensorBase, plain, requires, with_edge
from ..elementwise import elementary
from ..indexing.indexing import narrow, select
from . import axes, joining, shape as shapes
from .geometry import as_strided
from .rearranging import diagonal, unfold
from .shape import clone
from .view_scatters import range_of

# Views that are copied

# Functions that PyTorch does not differentiate if the result is complex.
_REAL = ("view_as_complex_copy", "select_copy", "slice_copy")


# Functions with several results, and the name that PyTorch's message about a wrong number of outputs begins with.
_PARTS = {"split_copy": "split_copy_Tensor_out()", "split_with_sizes_copy": "split_with_sizes_copy_out",
          "unbind_copy": "unbind_copy_int_out"}


_PART = rule(exact=EXACT, overlap=FREE, gradient=UNASKED)
# `unbind_copy` alone looks at the gradients of the tensors that it writes to.
_UNBOUND = rule()


def _into_parts(name: str, out: Any, parts: tuple[Any, ...]) -> None:
    """Write each part to its tensor in a list. Like in PyTorch, the result is None."""
    if not isinstance(out, (tuple, list)):
        raise TypeError(f"{name}(): argument 'out' must be tuple of Tensors, not {type(out).__name__}")
    if name == "unbind_copy":
        check_gradients(name, _UNBOUND, [], tuple(out))
    if len(out) != len(parts):
        raise RuntimeError(f"{_PARTS[name]} expected an out= argument of size {len(parts)}, got size {len(out)}")
    if name == "split_copy":
        _copy_parts(out, parts)
        return
    for i, (target, part) in enumerate(zip(out, parts)):
        if array_of(name, target, f"out[{i}]").dtype != part._array.dtype:
            have, want = C_NAMES[part._array.dtype.name], C_NAMES[target._array.dtype.name]
            raise RuntimeError(f"Expected out tensor to have dtype {have}, but got {want} instead")
    for target, part in zip(out, parts):
        into(target, "clone", _PART, clone, (part,), {})


def _copy_parts(out: Sequence[Any], parts: tuple[Any, ...]) -> None:
    """Copy each part to its tensor as `copy_` does, in the dtype and the shape of the tensor."""
    grad, local.thread.grad = local.thread.grad, False
    try:
        for target, part in zip(out, parts):
            target.copy_(part)
    finally:
        local.thread.grad = grad


def _copying(name: str, view: Callable[..., Any]) -> Callable[..., Any]:
    """The function that copies the elements of `view`."""

    def copied(input: TensorBase, *options: Any, **named: Any) -> Any:
        shown = view(with_edge(array_of(name, input), None), *options, **named)
        if type(shown) is tuple and not shown:
            return shown
        taken = (shown[0] if type(shown) is tuple else shown)._grad_meta
        if taken is None or taken.replay is None:        # the same bytes in another dtype: no gradient
            return plain(basic.clone.run(shown._array, "C"))
        op, given, _ = taken.replay.args
        if name in _REAL and shown._array.dtype.kind == "c" and local.thread.grad and requires(input):
            raise noted(
                RuntimeError(f"{name} does not support automatic differentiation for outputs with complex dtype."),
                instead="take the view itself, which has a gradient")
        return ops.COPIES[op](input, *given)

    def into_parts(input: TensorBase, *options: Any, out: Any = None, **named: Any) -> TensorBase | Any:
        if out is None:
            return copied(input, *options, **named)
        _into_parts(name, out, copied(plain(array_of(name, input)), *options, **named))
        return None

    described = public(name=name, doc=f"Like `{name.removesuffix('_copy')}`, but a copy in new memory.",
                       out=None if name in _PARTS else rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED))
    return described(into_parts if name in _PARTS else copied)


def _expand(input: TensorBase, size: Sequence[int], *, implicit: bool = False) -> Any:
    return shapes.expand(input, size)


def _permute(input: TensorBase, dims: Sequence[int]) -> Any:
    return axes.permute(input, dims)


def _view(input: TensorBase, size: Sequence[int] | torch_dtype | None = None, *,
          dtype: torch_dtype | None = None) -> Any:
    if isinstance(size, (tuple, list)):
        return shapes.view(shapes.contiguous(input), size)
    kind = size if dtype is None else dtype
    if not isinstance(kind, torch_dtype):
        raise TypeError("view_copy() received an invalid combination of arguments: it takes a tuple of ints or a "
                        f"dtype, not {type(kind).__name__}")
    return shapes.view(input, kind)


def _range(input: TensorBase, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    return slice_(input, *range_of(input, dim, start, end, step))


def _split(input: TensorBase, split_size: int, dim: int = 0) -> Any:
    return joining.split(input, as_int("split_copy", split_size, "split_size"), dim)


alias_copy = _copying("alias_copy", recorded(alias))
as_strided_copy = _copying("as_strided_copy", as_strided)
diagonal_copy = _copying("diagonal_copy", diagonal)
expand_copy = _copying("expand_copy", _expand)
permute_copy = _copying("permute_copy", _permute)
select_copy = _copying("select_copy", select)
slice_copy = _copying("slice_copy", _range)
split_copy = _copying("split_copy", _split)
split_with_sizes_copy = _copying("split_with_sizes_copy", joining.split_with_sizes)
squeeze_copy = _copying("squeeze_copy", shapes.squeeze)
t_copy = _copying("t_copy", axes.t)
transpose_copy = _copying("transpose_copy", axes.transpose)
unbind_copy = _copying("unbind_copy", joining.unbind)
unfold_copy = _copying("unfold_copy", unfold)
unsqueeze_copy = _copying("unsqueeze_copy", shapes.unsqueeze)
view_copy = _copying("view_copy", _view)
view_as_complex_copy = _copying("view_as_complex_copy", elementary.view_as_complex)
view_as_real_copy = _copying("view_as_real_copy", elementary.view_as_real)


@public("detach_copy(Tensor input, out)", out=rule(exact=EXACT, overlap=FREE, gradient=UNDERIVED), strict=True)
def detach_copy(input: TensorBase) -> Any:
    """A copy. A backward pass that reaches the copy raises RuntimeError."""
    return ops.detach_copy(input)


@public(
    out=rule(exact=unsaid("Expected self.dtype() == output.dtype() to be true"), overlap=FREE,
        notice="", repeated=True), method=True)
def narrow_copy(input: TensorBase, dim: int, start: Any, length: int) -> Any:
    """Like `narrow`, but a copy in new memory."""
    array = array_of("narrow_copy", input)
    if length < 0:
        raise RuntimeError(f"start ({start}) + length ({length}) exceeds dimension size ({size_at(array, dim)}).")
    shown = narrow(with_edge(array, None), dim, start, length)
    _, (axis, first, last, _), _ = shown._grad_meta.replay.args
    return ops.narrow_copy(input, axis, first, last - first)


# Parts that do not count as views

def _apart(op: Op, input: TensorBase, shown: tuple[Any, ...], dim: int) -> tuple[Any, ...]:
    """Parts like `shown`, which are views along `dim`. A write to one part is not counted as a write to the others."""
    axis = axis_of("", dim, input._array.ndim)
    parts: tuple[Any, ...] = op(input, tuple([part._array.shape[axis] for part in shown]), axis)
    if local.thread.transform is None:                     # a transform knows memory by its lineage
        for part in parts:
            part._array = new_lineage(part._array)
    return parts


@public(method=True)
def unsafe_split(input: TensorBase, split_size: int, dim: int = 0) -> tuple[Any, ...]:
    """Like `split` into parts of one size. The parts do not count as views, so they may be written to.

    The name says unsafe because autograd does not notice if a write changes a value that a gradient needs.
    """
    shown = _split(plain(array_of("unsafe_split", input)), as_int("unsafe_split", split_size, "split_size"), dim)
    return _apart(ops.unsafe_split, input, shown, dim)


@public(method=True)
def unsafe_split_with_sizes(input: TensorBase, split_sizes: Any, dim: int = 0) -> tuple[Any, ...]:
    """Like `split_with_sizes`. The parts do not count as views. See `unsafe_split`."""
    shown = joining.split_with_sizes(plain(array_of("unsafe_split_with_sizes", input)), split_sizes, dim)
    return _apart(ops.unsafe_split_with_sizes, input, shown, dim)


@public(method=True)
def unsafe_chunk(input: TensorBase, chunks: int, dim: int = 0) -> tuple[Any, ...]:
    """Like `chunk`. The parts do not count as views. See `unsafe_split`."""
    shown = joining.chunk(plain(array_of("unsafe_chunk", input)), as_int("unsafe_chunk", chunks, "chunks"), dim)
    op = ops.unsafe_split if input._array.shape[dim] else ops.unsafe_split_with_sizes
    return _apart(op, input, shown, dim)
