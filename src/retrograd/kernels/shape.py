"""The same elements in other shapes: a view if NumPy can take one, else a copy.

Sizes and dims have been checked: they are not negative and are in range, except for the -1 that a shape may hold.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from ..foundations.dtypes import Array, Shape
from ..foundations.errors import noted
from .elementwise.choosing import where
from .elementwise.elementary import widened
from .layout import address, by_strides, empty_as, empty_strided, owner_of, row_by_row, steps, strided, window, within
from .thresholds import TRIANGLE_MASK_KEPT


class StrideError(RuntimeError):
    """The requested view is not possible without a copy."""


def view(x: Array, shape: Shape) -> Any:
    """`x` in another shape, over the same memory. Raises StrideError if the strides do not allow it."""
    by_rows = x.flags.c_contiguous                      # then no copy is needed, and `copy=False` only costs time
    try:
        out = x.reshape(shape) if by_rows else x.reshape(shape, copy=False)
    except ValueError:
        raise _refused(x, shape) from None
    new, old = out.shape, x.shape
    if (1 in new and (1 in old or not by_rows)) or 0 in new:    # NumPy chooses its own strides in these cases
        by = tuple([n * x.itemsize for n in _view_strides(old, steps(x), new)])
        if by != out.strides:
            return by_steps(x, new, by)
    return out


def by_steps(x: Array, shape: Shape, by: Shape) -> Any:
    """The memory of `x` in a shape with as many elements, by strides in bytes that stay inside the memory."""
    owner = owner_of(x)
    if owner.flags.forc and 0 < x.nbytes <= owner.nbytes:          # an array without memory has an owner of one element
        out = window(owner, shape, x.dtype, address(x) - address(owner), by)
    else:
        out = by_strides(x, shape, by)
    if not x.flags.writeable:
        out.flags.writeable = False
    return out


def _view_strides(old: Shape, strides: Shape, new: Shape) -> Shape:
    """The strides that PyTorch gives a possible view, computed block by block from the last dimension on."""
    if 0 in old:
        return strides if old == new else row_by_row(new)
    out, block, left, d = [0] * len(new), 1, 1, len(new) - 1
    if not strides:
        return (1,) * len(new)
    base = strides[-1]
    for axis in range(len(old) - 1, -1, -1):
        block *= old[axis]
        if axis == 0 or (old[axis - 1] != 1 and strides[axis - 1] != block * base):
            while d >= 0 and (left < block or new[d] == 1):
                out[d] = left * base
                left *= new[d]
                d -= 1
            if axis > 0:
                base, block, left = strides[axis - 1], 1, 1
    return tuple(out)


def reshaped(x: Array, shape: Shape) -> Any:
    """`x` in another shape. Nothing else refers to `x`."""
    return x.reshape(shape)


def _refused(x: Array, shape: Shape) -> Exception:
    """The error that says why `x` cannot be viewed in `shape`."""
    unknown, known = [n for n in shape if n < 0], math.prod(n for n in shape if n >= 0)
    if len(unknown) > 1:
        return RuntimeError("only one dimension can be inferred")
    if unknown and not x.size and not known:
        return RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
                            "dimension size -1 can be any value and is ambiguous")
    if (not known or x.size % known) if unknown else known != x.size:
        return noted(RuntimeError(f"shape '{list(shape)}' is invalid for input of size {x.size}"), "shapes#other-size")
    return StrideError(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        "contiguous subspaces). Use .reshape(...) instead.")


def common_shape(*shapes: Shape) -> Shape:
    """The shape that all of these broadcast to. Raises RuntimeError if there is none."""
    common: Shape = shapes[0] if shapes else ()
    for shape in shapes:
        if shape == common:
            continue
        refusal = clash(common, shape)
        if refusal is not None:
            raise noted(RuntimeError(refusal), given=f"the shapes {', '.join(str([*s]) for s in shapes)}")
        lead = len(common) - len(shape)               # np.broadcast_shapes takes six times as long
        common = tuple([n if m == 1 else m for m, n in zip((1,) * -lead + common, (1,) * lead + shape)])
    return common


def clash(a: Shape, b: Shape) -> str | None:
    """PyTorch's sentence on two shapes that do not broadcast, or None if they do."""
    for back in range(1, min(len(a), len(b)) + 1):
        m, n = a[-back], b[-back]
        if m != n and 1 not in (m, n):
            return (f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension "
                    f"{max(len(a), len(b)) - back}")
    return None


def alias(x: Array) -> Any:
    """A view of the same elements."""
    return x.view()


def permute(x: Array, dims: Shape) -> Any:
    """The axes of `x` in the order `dims`."""
    return x.transpose(dims)


def transpose(x: Array, dim0: int, dim1: int) -> Any:
    """`x` with two axes swapped."""
    return x.swapaxes(dim0, dim1) if x.ndim else x.view()


def t(x: Array) -> Any:
    """A matrix with its two axes swapped."""
    return x.T


def squeeze(x: Array) -> Any:
    """`x` without its axes of size 1."""
    return x.squeeze()


def squeeze_dims(x: Array, dims: Shape) -> Any:
    """`x` without those of the axes `dims` that have size 1."""
    shape = x.shape
    return x.squeeze(tuple([d for d in dims if d < len(shape) and shape[d] == 1]))


def squeeze_dim(x: Array, dim: int) -> Any:
    """`x` without its axis `dim`, if this axis has size 1."""
    shape = x.shape
    return x.squeeze(dim) if shape and shape[dim] == 1 else x.view()


def unsqueeze(x: Array, dim: int) -> Any:
    """`x` with an axis of size 1 at `dim`."""
    shape, steps_, flags = x.shape, x.strides, x.flags
    step = shape[dim] * steps_[dim] if dim < len(shape) else x.itemsize
    new_shape, new_steps = (*shape[:dim], 1, *shape[dim:]), (*steps_[:dim], step, *steps_[dim:])
    if not flags.c_contiguous or 0 in shape:
        return within(x, new_shape, new_steps)
    view = np.ndarray(new_shape, x.dtype, np.asarray(x), 0, new_steps)       # quicker than indexing with None
    if not flags.writeable:
        view.flags.writeable = False
    return view


def expand(x: Array, shape: Shape) -> Any:
    """`x` repeated along new axes and axes of size 1, over the same memory. Repeated elements are read-only."""
    if shape == x.shape:
        return x.view()
    lead = len(shape) - x.ndim
    by = [step if n == m else 0 for n, m, step in zip(x.shape, shape[lead:], x.strides)]
    for n in reversed(shape[:lead]):
        by.insert(0, 0 if n != 1 else shape[len(shape) - len(by)] * by[0] if by else x.itemsize)
    if x.size and x.flags.c_contiguous and 0 not in shape:      # the view of np.broadcast_to, in a tenth of the time
        wide: Any = np.ndarray(shape, x.dtype, np.asarray(x), 0, by)
    else:
        wide = within(x, shape, by)
    if wide.size != x.size or not x.flags.writeable:
        wide.flags.writeable = False
    return wide


def diagonal(x: Array, offset: int, dim0: int, dim1: int) -> Any:
    """The diagonals of the planes of two axes, as a new last axis, over the memory of `x`."""
    view = x.diagonal(offset, dim0, dim1)
    view.flags.writeable = x.flags.writeable                # NumPy returns a read-only view
    return view


def diagonal_backward(g: Array, shape: Shape, offset: int, dim0: int, dim1: int) -> Any:
    """Zeros of `shape` with `g` on the diagonals."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, dim0, dim1)[...] = g
    return out


def diag_embed(x: Array, offset: int, dim0: int, dim1: int) -> Any:
    """Matrices in the axes `dim0` and `dim1` with the last axis of `x` on a diagonal."""
    shape = [*x.shape[:-1]]
    for d in sorted((dim0, dim1)):
        shape.insert(d, x.shape[-1] + abs(offset))
    return diagonal_backward(x, tuple(shape), offset, dim0, dim1)


def unfold(x: Array, dim: int, size: int, step: int) -> Any:
    """Windows of `size` elements along `dim`, one every `step` elements, as a new last axis, over the memory of `x`."""
    if not x.ndim:
        return strided(x, (size,), (1,))
    by = steps(x)
    shape, strides = [*x.shape, size], [*by, by[dim]]
    shape[dim], strides[dim] = (x.shape[dim] - size) // step + 1, by[dim] * step
    in_bytes = [n * x.itemsize for n in strides]
    view: Any = (np.ndarray(shape, x.dtype, np.asarray(x), 0, in_bytes) if x.flags.c_contiguous and x.size else
                 within(x, tuple(shape), in_bytes))
    if not x.flags.writeable or (step < size and shape[dim] > 1):                # windows overlap
        view.flags.writeable = False
    return view


# By strides

Geometry = tuple[Shape, Shape, int]                     # a shape, strides in elements, the place of the first element


def as_strided(x: Array, size: Shape, stride: Shape, start: int, layout: Shape) -> Any:
    """The memory of `x` by other strides, from `start` elements on. `layout` are the strides that `x` must have."""
    if any([n > 1 and a != b for n, a, b in zip(x.shape, steps(x), layout)]):
        other = empty_strided(x.shape, layout, x.dtype)
        other[...] = x
        x = other
    return strided(x, size, stride, start)


def transfer(g: Array, source: Geometry, target: Geometry, shared: Geometry) -> Any:
    """Add `g` to zeros at the places of `source`, and read the sum at the places of `target`.

    Before reading, each sum is divided by the number of elements of `shared` at its place.
    """
    into, out_of, among = (_places(*geometry) for geometry in (source, target, shared))
    low = min([int(places.min()) for places in (into, out_of, among) if places.size], default=0)
    span = max([int(places.max()) for places in (into, out_of, among) if places.size], default=-1) + 1 - low
    memory = widened(np.zeros(span, g.dtype))
    np.add.at(memory, (into - low).reshape(-1), widened(g).reshape(-1))
    shares = np.bincount((among - low).reshape(-1), minlength=span)
    if np.any(shares > 1):
        memory /= np.maximum(shares, 1).astype(memory.real.dtype)
    return np.asarray(memory[out_of - low]).astype(g.dtype, copy=False)


def _places(shape: Shape, strides: Shape, start: int) -> Any:
    """The place of each element of a geometry."""
    places = np.full(shape, start, np.int64)
    for d, (n, stride) in enumerate(zip(shape, strides)):
        places += (np.arange(n) * stride).reshape(n, *(1,) * (len(shape) - 1 - d))
    return places


def unfold_backward(g: Array, shape: Shape, dim: int, size: int, step: int) -> Any:
    """For each element, the sum of the gradients of the windows that contain it."""
    out = np.zeros(shape, g.dtype)
    if not shape:
        return out + g.sum(dtype=g.dtype)
    along, windows = np.moveaxis(out, dim, -1), g.shape[dim]
    g = np.moveaxis(g, dim, -2)
    if windows * step < size:                                   # few windows: add one window at a time
        for i in range(windows):
            along[..., i * step : i * step + size] += g[..., i, :]
        return out
    for start in range(0, size, step):  # add a part of each window that does not overlap the others' parts
        part = g[..., start : start + step]
        stride = along.strides[-1]
        into = np.lib.stride_tricks.as_strided(along[..., start:], part.shape,
                                               (*along.strides[:-1], stride * step, stride))
        into += part
    return out


def tril(x: Array, diagonal: int) -> Any:
    """The lower triangles, with zeros elsewhere."""
    return _triangle(x, _below(x.shape[-2], x.shape[-1], diagonal))


def triu(x: Array, diagonal: int) -> Any:
    """The upper triangles, with zeros elsewhere."""
    return _triangle(x, ~_below(x.shape[-2], x.shape[-1], diagonal - 1))


_kept_below = lru_cache(maxsize=64)(np.tri)                 # making a mask takes as long as using it


def _below(rows: int, columns: int, diagonal: int) -> Any:
    """A read-only mask of the elements up to a diagonal."""
    return (_kept_below if rows * columns <= TRIANGLE_MASK_KEPT else np.tri)(rows, columns, diagonal, bool)


def _triangle(x: Array, mask: Array) -> Any:
    return where(mask, x, 0 if x.dtype.kind == "f" else np.zeros((), x.dtype))


def flip(x: Array, dims: Shape) -> Any:
    """`x` flipped along some axes, in new memory."""
    np.copyto(out := empty_as(x, x.dtype), np.flip(x, dims))
    return out


def roll(x: Array, shifts: Shape, dims: Shape) -> Any:
    """`x` rolled along some axes, or the flattened elements rolled if there are no axes."""
    return np.roll(x, shifts, dims) if dims else np.roll(x, shifts[0])


def rot90(x: Array, k: int, dims: tuple[int, int]) -> Any:
    """`x` rotated by k right angles in the plane of two axes."""
    flipped = flip(x, ((), dims[1:], dims, dims[:1])[k % 4]) if k % 4 else np.copy(x, order="C")
    return flipped.swapaxes(*dims) if k % 2 else flipped


def unbind(x: Array, dim: int) -> list[Any]:
    """The slices of `x` along `dim`, without this axis."""
    if dim:
        x = np.moveaxis(x, dim, 0)
    return [*x] if x.ndim > 1 else [x[i, ...] for i in range(len(x))]


def split(x: Array, sizes: Shape, dim: int) -> list[Any]:
    """Consecutive parts of `x` along `dim`, of the given sizes."""
    lead, parts, start = (slice(None),) * dim, [], 0
    for size in sizes:
        parts.append(x[(*lead, slice(start, start + size))])
        start += size
    return parts


def narrow_copy(x: Array, dim: int, start: int, length: int) -> Any:
    """`length` slices along `dim` from `start` on, in new memory."""
    return x[(*(slice(None),) * dim, slice(start, start + length))].copy()


def detach_copy(x: Array) -> Any:
    """A row-major copy."""
    return np.array(x, order="C")
