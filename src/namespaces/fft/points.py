"""The shared parts of transforms: the dtype of the computation, the points along each dim, the scale, the output.

The checks come in PyTorch's order, with its words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..foundations.dtypes import Shape, default_floating, dtype as torch_dtype, is_half, letter
from ..foundations.errors import noted
from ..ops import basic
from ..tensors.arguments.dims import as_int, axis_of
from ..tensors.functions.images.padding import constant_pad_nd
from ..tensors.recording.out import into
from ..tensors.recording.out_rules import FOUND, FREE, UNDERIVED, rule
from ..tensors.state.base import TensorBase

# The scales of the kernels.
_FORWARD = {None: 0, "backward": 0, "ortho": 1, "forward": 2}
_INVERSE = {None: 2, "backward": 2, "ortho": 1, "forward": 0}


def scale_of(norm: Any, forward: bool) -> int:
    """The scale of a norm in this direction. Raises RuntimeError for an unknown norm."""
    if norm not in _FORWARD:
        raise noted(RuntimeError(f'Invalid normalization mode: "{norm}"'), given='"forward", "backward" or "ortho"')
    return (_FORWARD if forward else _INVERSE)[norm]


def promoted(input: TensorBase, to_complex: bool) -> Any:
    """The tensor in a dtype that transforms compute in. Raises RuntimeError for half precision."""
    dtype = input._array.dtype
    if dtype.kind == "c":
        return input
    target = dtype if letter(dtype) == "f" else default_floating()
    if is_half(target):
        raise noted(
            RuntimeError(f"Unsupported dtype {torch_dtype.of[target].legacy}"), instead="convert with .float() first")
    if to_complex:
        target = torch_dtype.of[target].to_complex().dtype
    return input if target is dtype else basic.cast(input, target)


def dim_of(dim: int, ndim: int) -> int:
    """`dim` counted from the front. Raises IndexError, also for a tensor without dimensions."""
    if not ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis_of("fft", dim, ndim)


def check_points(n: int) -> None:
    """Raise RuntimeError unless there is a point to transform."""
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


class Points(NamedTuple):
    """The dims to transform, and the number of points along each of them."""

    dims: tuple[int, ...]
    sizes: tuple[int, ...]


def points_of(input: TensorBase, sizes: Shape | None, given: tuple[int, ...] | None) -> Points:
    """The given dims and sizes as tuples. Raises IndexError or RuntimeError if they do not fit the tensor."""
    shape = input._array.shape
    dims = tuple(range(len(shape)))
    if given is not None:
        dims = tuple([dim_of(d, len(shape)) for d in given])
        if len({*dims}) < len(dims):
            raise RuntimeError("FFT dims must be unique")
    if sizes is not None:
        if given is not None and len(given) != len(sizes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        if len(sizes) > len(dims):
            raise RuntimeError(f"Got shape with {len(sizes)} values but input tensor only has {len(shape)} dimensions.")
        dims = dims[len(dims) - len(sizes):]
    counts = [shape[d] if n == -1 else n for d, n in zip(dims, [-1] * len(dims) if sizes is None else sizes)]
    for n in counts:
        check_points(n)
    return Points(dims, tuple(counts))


def ints(name: str, value: Any, argument: str) -> tuple[int, ...] | None:
    """Ints as a tuple, a single int as a tuple of one, and None unchanged. Raises TypeError for any other value."""
    if value is None:
        return None
    return tuple([as_int(name, v, argument) for v in (value if isinstance(value, (tuple, list)) else (value,))])


def half_points(name: str, input: TensorBase, points: Points, s: tuple[int, ...] | None) -> tuple[Points, int]:
    """The points of a transform to real numbers, whose last dim holds half of the result, and its last size."""
    if not points.dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    size = 2 * (input._array.shape[points.dims[-1]] - 1) if s is None or s[-1] == -1 else points.sizes[-1]
    check_points(size)
    return Points(points.dims, (*points.sizes[:-1], size // 2 + 1)), size


def resized(input: TensorBase, points: Points) -> Any:
    """The tensor cut, or padded with zeros, to these numbers of points."""
    ndim = input._array.ndim
    zeros = [0] * (2 * ndim)
    for dim, n in zip(*points):
        size = input._array.shape[dim]
        if size > n:
            input = input.narrow(dim, 0, n)
        else:
            zeros[2 * (ndim - 1 - dim) + 1] = n - size
    return constant_pad_nd(input, zeros) if any(zeros) else input


_ASKED = {name: rule(overlap=FREE, blame=name) for name in ("_fft_c2c", "_fft_r2c", "_fft_c2r")} | {
    "_fft_conj": rule(exact=FOUND, overlap=FREE, gradient=UNDERIVED, blame="conj_physical")}


def put_into(out: TensorBase, name: str, asks: str, function: Callable[..., Any], *args: Any) -> Any:
    """`into`, after a check of the dtype of `out`: only the results of "_fft_c2r" are real, the others complex."""
    if isinstance(out, TensorBase) and out._array.dtype.kind != ("f" if asks == "_fft_c2r" else "c"):
        kind = "floating point" if asks == "_fft_c2r" else "complex"
        raise RuntimeError(f"{name} expects a {kind} output tensor, but got {torch_dtype.of[out._array.dtype].legacy}")
    return into(out, name, _ASKED[asks], lambda *given: function(*given).contiguous(), args, {})      # `out` is in rows
