"""Other shapes of the same elements: views where NumPy can take one, copies where it must. Must not know ops.

Sizes and dims come checked: not negative and in range, except for the -1 that a shape may hold.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = tuple[int, ...]


class StrideError(RuntimeError):
    """A view was asked for that only a copy could give."""


def view(x: Any, shape: Shape) -> Any:
    """`x` in another shape, over the same memory. Raises StrideError where the strides do not allow it."""
    try:
        return x.reshape(shape, copy=False)
    except ValueError:
        raise _refused(x, shape) from None


def reshaped(x: Any, shape: Shape) -> Any:
    """`x`, which nothing else refers to, in another shape."""
    return x.reshape(shape)


def _refused(x: Any, shape: Shape) -> Exception:
    """Why `x` cannot be viewed in `shape`."""
    unknown = [n for n in shape if n < 0]
    known = math.prod(n for n in shape if n >= 0)
    if len(unknown) > 1:
        return RuntimeError("only one dimension can be inferred")
    if unknown and not x.size and not known:
        return RuntimeError(f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
                            "dimension size -1 can be any value and is ambiguous")
    if (not known or x.size % known) if unknown else known != x.size:
        return RuntimeError(f"shape '{list(shape)}' is invalid for input of size {x.size}")
    return StrideError(
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
        f"contiguous subspaces). Use .reshape(...) instead. (The input has shape {list(x.shape)} and stride "
        f"{[s // x.itemsize for s in x.strides]}; the view was to have shape {list(shape)}.)")


def common_shape(*shapes: Shape) -> Shape:
    """The shape that all of these broadcast to. Raises RuntimeError where there is none."""
    common: Shape = ()
    for shape in shapes:
        refusal = clash(common, shape)
        if refusal is not None:
            raise RuntimeError(f"{refusal}. The shapes are {', '.join(str([*s]) for s in shapes)}.")
        common = np.broadcast_shapes(common, shape)
    return common


def clash(a: Shape, b: Shape) -> str | None:
    """PyTorch's sentence on two shapes that do not broadcast; None where they do."""
    for back in range(1, min(len(a), len(b)) + 1):
        m, n = a[-back], b[-back]
        if m != n and 1 not in (m, n):
            return (f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension "
                    f"{max(len(a), len(b)) - back}")
    return None


def alias(x: Any) -> Any:
    """The same elements."""
    return x.view()


def permute(x: Any, dims: Shape) -> Any:
    """The axes of `x` in the order `dims`."""
    return x.transpose(dims)


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    """`x` with two axes swapped."""
    return x.swapaxes(dim0, dim1) if x.ndim else x.view()


def t(x: Any) -> Any:
    """A matrix with its two axes swapped."""
    return x.T


def squeeze(x: Any) -> Any:
    """`x` without its axes of size 1."""
    return x.squeeze()


def squeeze_dims(x: Any, dims: Shape) -> Any:
    """`x` without those of the axes `dims` that have size 1."""
    shape = x.shape
    return x.squeeze(tuple([d for d in dims if d < len(shape) and shape[d] == 1]))


def squeeze_dim(x: Any, dim: int) -> Any:
    """`x` without its axis `dim`, if that has size 1."""
    shape = x.shape
    return x.squeeze(dim) if shape and shape[dim] == 1 else x.view()


def unsqueeze(x: Any, dim: int) -> Any:
    """`x` with an axis of size 1 at `dim`."""
    return x[(*(slice(None),) * dim, None, ...)]


def expand(x: Any, shape: Shape) -> Any:
    """`x` repeated along new axes and axes of size 1, over the same memory: read-only where elements coincide."""
    if shape == x.shape:
        return x.view()
    if x.size and x.flags.c_contiguous and 0 not in shape:      # as NumPy's, at a tenth of the time
        lead = len(shape) - x.ndim
        steps = [0 if n == 1 else step for n, step in zip(x.shape, x.strides)]
        wide: Any = np.ndarray(shape, x.dtype, x, 0, (*(0,) * lead, *steps))
    else:
        wide = np.broadcast_to(x, shape)
    wide.flags.writeable = wide.size == x.size and x.flags.writeable
    return wide


def diagonal(x: Any, offset: int, dim0: int, dim1: int) -> Any:
    """The diagonals of the planes of two axes, as a last axis, over the memory of `x`."""
    row, column = (-offset, 0) if offset < 0 else (0, offset)
    height, width = x.shape[dim0] - row, x.shape[dim1] - column
    size = max(min(height, width), 0)
    if not size:
        row = column = 0
    start: list[Any] = [slice(None)] * x.ndim
    start[dim0], start[dim1] = slice(row, None), slice(column, None)
    rest = [d for d in range(x.ndim) if d not in (dim0, dim1)]
    strides = (*(x.strides[d] for d in rest), x.strides[dim0] + x.strides[dim1])
    return np.lib.stride_tricks.as_strided(x[tuple(start)], (*(x.shape[d] for d in rest), size), strides)


def diagonal_copy(x: Any, offset: int, dim0: int, dim1: int) -> Any:
    """The diagonals, in memory of their own."""
    return diagonal(x, offset, dim0, dim1).copy()


def diagonal_backward(g: Any, shape: Shape, offset: int, dim0: int, dim1: int) -> Any:
    """Zeros of `shape` with `g` on the diagonals."""
    out = np.zeros(shape, g.dtype)
    diagonal(out, offset, dim0, dim1)[...] = g
    return out


def diag_embed(x: Any, offset: int, dim0: int, dim1: int) -> Any:
    """Matrices in the axes `dim0` and `dim1` with the last axis of `x` on a diagonal."""
    shape = [*x.shape[:-1]]
    for d in sorted((dim0, dim1)):
        shape.insert(d, x.shape[-1] + abs(offset))
    return diagonal_backward(x, tuple(shape), offset, dim0, dim1)


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    """Windows of `size` elements along `dim`, one every `step`, as a last axis, over the memory of `x`."""
    if not x.ndim:
        return np.lib.stride_tricks.as_strided(x, (size,), (x.itemsize,))
    shape, strides = [*x.shape, size], [*x.strides, x.strides[dim]]
    shape[dim], strides[dim] = (x.shape[dim] - size) // step + 1, strides[dim] * step
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def unfold_backward(g: Any, shape: Shape, dim: int, size: int, step: int) -> Any:
    """The sum, for each element, of the gradients of the windows it is in."""
    out = np.zeros(shape, g.dtype)
    if not shape:
        return out + g.sum(dtype=g.dtype)
    windows = g.shape[dim]
    for i in range(size):
        into: list[Any] = [slice(None)] * len(shape)
        into[dim] = slice(i, i + windows * step, step)
        out[tuple(into)] += g[..., i]
    return out


def tril(x: Any, diagonal: int) -> Any:
    """The lower triangles, zeros elsewhere."""
    return _triangle(x, np.tri(x.shape[-2], x.shape[-1], diagonal, bool))


def triu(x: Any, diagonal: int) -> Any:
    """The upper triangles, zeros elsewhere."""
    return _triangle(x, ~np.tri(x.shape[-2], x.shape[-1], diagonal - 1, bool))


def _triangle(x: Any, mask: Any) -> Any:
    return np.where(mask, x, np.zeros((), x.dtype))


def flip(x: Any, dims: Shape) -> Any:
    """`x` with some axes reversed, in memory of its own."""
    return np.array(np.flip(x, dims), order="C")


def roll(x: Any, shifts: Shape, dims: Shape) -> Any:
    """`x` turned along some axes; without axes, along all of it."""
    return np.roll(x, shifts, dims) if dims else np.roll(x, shifts[0])


def rot90(x: Any, k: int, dims: tuple[int, int]) -> Any:
    """`x` turned by k right angles in the plane of two axes."""
    return np.copy(np.rot90(x, k, dims), order="K")


def repeat(x: Any, repeats: Shape) -> Any:
    """`x` beside itself, `repeats` times along each axis; leading axes are added."""
    return np.tile(x, repeats)


def sum_of_parts(g: Any, shape: Shape, repeats: Shape) -> Any:
    """The sum of the copies that `repeat` made of an array of `shape`."""
    lead = (1,) * (len(repeats) - len(shape)) + shape
    if 0 in repeats:
        return np.zeros(shape, g.dtype)
    split: list[int] = []
    for count, size in zip(repeats, lead):
        split += (count, size)
    copies = g.reshape(split)
    return copies.sum(axis=tuple(range(0, len(split), 2)), dtype=g.dtype).reshape(shape)


def concatenate(xs: Sequence[Any], dim: int) -> Any:
    """Arrays one after another along `dim`. One-dimensional arrays without elements are passed over."""
    try:
        return np.concatenate(xs, dim)
    except ValueError:
        full = [x for x in xs if x.shape != (0,)]
        if not full or len(full) == len(xs):
            raise _unequal(xs, dim) from None
    return concatenate(full, dim)


def _unequal(xs: Sequence[Any], dim: int) -> Exception:
    """Why arrays cannot be joined along `dim`."""
    first = xs[0].shape
    for i, x in enumerate(xs):
        if not x.ndim:
            return RuntimeError(f"zero-dimensional tensor (at position {i}) cannot be concatenated")
        if x.ndim != len(first):
            return RuntimeError(f"Tensors must have same number of dimensions: got {len(first)} and {x.ndim}")
        for d, (have, want) in enumerate(zip(x.shape, first)):
            if d != dim and have != want:
                return RuntimeError(
                    f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} "
                    f"for tensor number {i} in the list. (It has shape {list(x.shape)}, the first {list(first)}.)")
    return RuntimeError("torch.cat(): expected a non-empty list of Tensors")


def stack(xs: Sequence[Any], dim: int) -> Any:
    """Arrays of one shape along a new axis at `dim`."""
    first = xs[0].shape
    for i, x in enumerate(xs):
        if x.shape != first:
            raise RuntimeError(f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                               f"{list(x.shape)} at entry {i}")
    key = (*(slice(None),) * dim, None, ...)
    return np.concatenate([x[key] for x in xs], dim)


def unbind(x: Any, dim: int) -> list[Any]:
    """The slices of `x` along `dim`, without that axis."""
    if dim:
        x = np.moveaxis(x, dim, 0)
    return [x[i, ...] for i in range(len(x))]


def split(x: Any, sizes: Shape, dim: int) -> list[Any]:
    """Consecutive parts of `x` along `dim`, of the given sizes."""
    lead, parts, start = (slice(None),) * dim, [], 0
    for size in sizes:
        parts.append(x[(*lead, slice(start, start + size))])
        start += size
    return parts
