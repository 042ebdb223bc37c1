"""Functions that pad with a number or with the tensor's own elements, and functions that rearrange channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....foundations.dtypes import Array
from ....foundations.errors import noted
from ....foundations.scalars import converted
from ....kernels.images.padding import padded_shape
from ....ops.images import padding as ops
from ....ops.indexing.indexing import slice_
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, as_int
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.overwriting import copy_
from ...recording.public import public
from ..creation.creation import new_zeros
from ..shapes.shape import sizes_of

_constant_pad, _slice = recorded(ops.constant_pad), recorded(slice_)
_OF_MODE = {"reflect": ("reflection", [recorded(op) for op in (
    ops.reflection_pad1d, ops.reflection_pad2d, ops.reflection_pad3d)]), "replicate": ("replication", [
        recorded(op) for op in (ops.replication_pad1d, ops.replication_pad2d, ops.replication_pad3d)])}
_pixel_shuffle, _pixel_unshuffle = recorded(ops.pixel_shuffle), recorded(ops.pixel_unshuffle)
_channel_shuffle, _native_channel_shuffle = recorded(ops.channel_shuffle), recorded(ops.native_channel_shuffle)


@public("constant_pad_nd(Tensor input, ints pad, Number value=0)")
def constant_pad_nd(input: TensorBase, pad: Sequence[int], value: Any = 0) -> Any:
    """A copy of the tensor, padded with a number. A negative `pad` removes elements.

    `pad` holds two ints (before, after) for each of the last dimensions, beginning with the last dimension. Raises
    RuntimeError if there are too many ints, or if a size would be negative.
    """
    shape = array_of("constant_pad_nd", input).shape
    sizes = sizes_of("constant_pad_nd", (pad,), "pad")
    if len(sizes) % 2:
        raise RuntimeError(f"Length of pad must be even but instead it equals {len(sizes)}")
    if len(sizes) > 2 * len(shape):
        raise RuntimeError("Length of pad should be no more than twice the number of dimensions of the input. Pad "
                           f"length is {len(sizes)}while the input has {len(shape)}dimensions.")
    for i in range(0, len(sizes), 2):
        n = shape[-1 - i // 2]
        if max(-sizes[i], 0) + max(-sizes[i + 1], 0) > n or n + sizes[i] + sizes[i + 1] < 0:
            raise noted(
                RuntimeError("narrow(): length must be non-negative."),
                given=f"dimension {len(shape) - 1 - i // 2} has size {n}")
    value = number("constant_pad_nd", "value", 3, value)
    if any([n > 0 for n in sizes]):
        value = converted(value, input._array.dtype)
    return _constant_pad(input, sizes, value)


@public()
def pad(input: TensorBase, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    """A padded copy of the tensor. A negative `pad` removes elements.

    `pad` holds two ints (before, after) for each of the last dimensions, beginning with the last dimension. The mode
    chooses the new elements: "constant" puts `value` (0), "reflect" the mirror image, "replicate" the element at the
    end, and "circular" the elements from the other end. The last three modes pad the last one, two or three dimensions
    of a tensor that has one or two more dimensions.

    >>> import retrograd as torch
    >>> torch.nn.functional.pad(torch.tensor([[1, 2, 3]]), (2, 1), "reflect")
    tensor([[3, 2, 1, 2, 3, 2]])

    Raises RuntimeError if the sizes do not fit, NotImplementedError for other modes and numbers of dimensions.
    """
    array = array_of("pad", input)
    if not isinstance(pad, (tuple, list)):
        raise TypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    sizes = _pads(pad)
    if not isinstance(mode, str):
        raise TypeError(f"pad(): argument 'mode' (position 3) must be str, not {type(mode).__name__}")
    if len(sizes) % 2:
        raise noted(RuntimeError("Padding length must be divisible by 2"), given=f"the length is {len(sizes)}")
    if len(sizes) > 2 * array.ndim:
        raise RuntimeError("Padding length should be less than or equal to two times the input dimension but got "
                           f"padding length {len(sizes)} and input of dimension {array.ndim}")
    if mode == "constant":
        # PyTorch converts the value to a float here, and a negative float does not fit an unsigned dtype.
        value = 0 if value is None else number("pad", "value", 4, value, "float")
        return constant_pad_nd(input, sizes, float(value) if type(value) is int else value)
    if value is not None and value and (mode == "circular" or mode in _OF_MODE):
        raise RuntimeError(f"Padding mode \"{mode}\" doesn't take in value argument")
    count = len(sizes) // 2
    if not 1 <= count <= 3 or array.ndim not in (count + 1, count + 2):
        raise NotImplementedError(f"Padding size {len(sizes)} is not supported for {array.ndim}D input tensor.\n"
                                  "Supported combinations for non-constant padding:\n  - 2D or 3D input: padding size "
                                  "= 2 (pads last dimension)\n  - 3D or 4D input: padding size = 4 (pads last 2 "
                                  "dimensions)\n  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)")
    if mode == "circular":
        return _circular(input, sizes)
    if mode not in _OF_MODE:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    name, calls = _OF_MODE[mode]
    _check_border(f"{name}_pad{count}d", array, sizes, mode == "reflect")
    return calls[count - 1](input, sizes)


def _pads(pad: Any) -> tuple[int, ...]:
    for i, n in enumerate(pad):
        try:
            as_int("pad", n, "pad")
        except TypeError:
            raise TypeError("pad(): argument 'pad' (position 2) must be tuple of ints, but found element of type "
                            f"{type(n).__name__} at pos {i}") from None
    return tuple(map(int, pad))


# The sizes of an input in the errors about their number of dimensions.
_TOO_SMALL = {1: "W: {}", 2: "H: {}, W: {}", 3: "D: {} H: {}, W: {}"}


def _check_border(name: str, array: Array, sizes: tuple[int, ...], mirrored: bool) -> None:
    count, shape = len(sizes) // 2, array.shape
    start = array.ndim - count - 1
    if 0 in shape[start:]:
        raise RuntimeError(f"Expected {count + 1}D or {count + 2}D (batch mode) tensor with possibly 0 batch size and "
                           f"other non-zero dimensions for input, but got: {[*shape]}")
    if mirrored:
        for i in range(count):
            n, before, after = shape[-1 - i], sizes[2 * i], sizes[2 * i + 1]
            if before >= n or after >= n:
                raise RuntimeError(f"Argument #{4 + 2 * i}: Padding size should be less than the corresponding input "
                                   f"dimension, but got: padding ({before}, {after}) at dimension "
                                   f"{array.ndim - 1 - i} of input {[*shape]}")
    made = padded_shape(shape, sizes)
    wide = made[-count:]
    if max(wide) < 1:
        names = "DHW"[-count:]
        had = _TOO_SMALL[count].format(*shape[-count:]) + " " * (count == 2 and not mirrored)
        raise RuntimeError(f"input ({had}) is too small. Calculated output "
                           + " ".join(f"{axis}: {n}" for axis, n in zip(names, wide)))
    if min(wide) < 0 and count == 2 and mirrored:
        raise RuntimeError("numel: integer multiplication overflow")
    if min(wide) < 0:
        first = next(n for n in wide if n < 0)
        raise RuntimeError(f"Trying to create tensor with negative dimension {first}: {[*made]}")
    if array.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")


def _circular(input: TensorBase, sizes: tuple[int, ...]) -> Any:
    """Circular padding. As in PyTorch, the tensor is copied into the middle, then each end to the opposite end."""
    shape = input._array.shape
    wide = padded_shape(shape, sizes)
    pads = [(len(shape) - 1 - i // 2, sizes[i], sizes[i + 1]) for i in range(0, len(sizes), 2)]
    for axis, before, after in pads:
        if before > shape[axis] or after > shape[axis]:
            raise noted(RuntimeError("Padding value causes wrapping around more than once."),
                        because=f"dimension {axis} has size {shape[axis]}")
        if wide[axis] < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
    out = new_zeros(input, wide)
    target, source = out, input
    for axis, before, after in pads[::-1]:
        target = _slice(target, axis, max(before, 0), wide[axis] - max(after, 0), 1)
        source = _slice(source, axis, max(-before, 0), shape[axis] - max(-after, 0), 1)
    copy_(target, source)
    for axis, before, after in pads:
        first, last = max(before, 0), wide[axis] - max(after, 0)
        if before > 0:
            copy_(_slice(out, axis, 0, before, 1), _slice(out, axis, last - before, last, 1))
        if after > 0:
            copy_(_slice(out, axis, last, wide[axis], 1), _slice(out, axis, first, first + after, 1))
    return out


# Channels and pixels

def _plane(name: str, input: TensorBase, argument: str, factor: Any) -> tuple[Any, int]:
    shape, by = array_of(name, input).shape, as_int(name, factor, argument)
    if len(shape) < 3:
        raise RuntimeError(f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} "
                           "dimension(s)")
    if by <= 0:
        raise RuntimeError(f"{name} expects a positive {argument}, but got {by}")
    return shape, by


@public("pixel_shuffle(Tensor input, int upscale_factor)")
def pixel_shuffle(input: TensorBase, upscale_factor: int) -> Any:
    """Rearrange groups of r² channels into r by r pixels: (*, C r², H, W) becomes (*, C, H r, W r). r is the factor.

    Raises RuntimeError if r² does not divide the number of channels.
    """
    shape, factor = _plane("pixel_shuffle", input, "upscale_factor", upscale_factor)
    if shape[-3] % factor ** 2:
        raise RuntimeError("pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
                           f"upscale_factor, but input.size(-3)={shape[-3]} is not divisible by {factor ** 2}")
    return _pixel_shuffle(input, factor)


@public("pixel_unshuffle(Tensor input, int downscale_factor)")
def pixel_unshuffle(input: TensorBase, downscale_factor: int) -> Any:
    """The inverse of `pixel_shuffle`: (*, C, H r, W r) becomes (*, C r², H, W). r is the factor.

    Raises RuntimeError if r does not divide the height and the width.
    """
    shape, factor = _plane("pixel_unshuffle", input, "downscale_factor", downscale_factor)
    for axis, side in ((-2, "height"), (-1, "width")):
        if shape[axis] % factor:
            raise RuntimeError(f"pixel_unshuffle expects {side} to be divisible by downscale_factor, but "
                               f"input.size({axis})={shape[axis]} is not divisible by {factor}")
    return _pixel_unshuffle(input, factor)


def _groups(name: str, input: TensorBase, groups: Any) -> int:
    shape, count = array_of(name, input).shape, as_int(name, groups, "groups")
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {[*shape]}")
    if count <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive. Value of groups:{count}")
    if shape[1] % count:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {shape[1]} channels and {count} "
                           "groups.")
    return count


@public("channel_shuffle(Tensor input, int groups)")
def channel_shuffle(input: TensorBase, groups: int) -> Any:
    """Reorder the channels (dimension 1): first the first channel of each group, then the second of each, and so on.

    Raises RuntimeError if `groups` does not divide the number of channels.
    """
    return _channel_shuffle(input, _groups("channel_shuffle", input, groups))


@public("native_channel_shuffle(Tensor input, int groups)")
def native_channel_shuffle(input: TensorBase, groups: int) -> Any:
    """`channel_shuffle` without a derivative. A backward pass through the result raises RuntimeError."""
    return _native_channel_shuffle(input, _groups("native_channel_shuffle", input, groups))
