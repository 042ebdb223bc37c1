"""Packed sequences as functions of the namespace torch. `nn.utils.rnn` is built on them.

Packed sequences of several lengths are one tensor: the elements of all sequences at the first step, then those at the
second step, and so on, with the longest sequence first.
"""

from __future__ import annotations

import math
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, Array, dtype as torch_dtype
from ....foundations.errors import noted
from ....ops.basic import beyond
from ....ops.networks import recurrent as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import as_int
from ...arguments.options import check_tensors, number, refuse_complex_gradient
from ...recording.calls import recorded
from ...recording.public import public
from ...state.base import plain
from ...state.inside import refuse_samples

_pack, _pad = recorded(ops.pack_padded), recorded(ops.pad_packed)


def _check_lengths(lengths: TensorBase) -> None:
    array = lengths._array
    if array.ndim != 1 or array.dtype != I64:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got "
                           f"{array.ndim}D cpu {torch_dtype.of[array.dtype].legacy} tensor")


def _sizes(batch: int, lengths: Array) -> Any:
    """How many sequences are present at each step. Raises RuntimeError if the lengths are wrong."""
    if lengths.size != batch:
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.size} (batch_size="
                           f"{batch})")
    if np.any(lengths <= 0):
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is "
                           "<= 0")
    if np.any(lengths[1:] > lengths[:-1]):
        raise RuntimeError("`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can "
                           "pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
                           "requirement if you do not need ONNX exportability.")
    return np.count_nonzero(np.arange(lengths[0])[:, None] < lengths, 1)


@public("_pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first) -> (Tensor, Tensor)", strict=True)
def _pack_padded_sequence(input: TensorBase, lengths: TensorBase, batch_first: bool) -> tuple[Any, Any]:
    """Sequences (steps, batch, …) as packed rows, and the number of sequences at each step.

    With `batch_first` the input is (batch, steps, …). `lengths` decreases. See
    `torch.nn.utils.rnn.pack_padded_sequence`.
    """
    check_tensors("_pack_padded_sequence", input=input, lengths=lengths)
    refuse_samples("_pack_padded_sequence", lengths)
    _check_lengths(lengths)
    shape = input.shape
    if not input._array.size:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(shape) < 2:
        raise IndexError("Dimension out of range (expected to be in range of [-1, 0], but got 1)")
    sizes = beyond(partial(_sizes, shape[0 if batch_first else 1]), lengths._array)
    if len(sizes) > shape[1 if batch_first else 0]:
        raise noted(
            RuntimeError(f"Expected lengths of at most {shape[1 if batch_first else 0]}, the steps of the input"),
            given=f"a length of {len(sizes)}")
    refuse_complex_gradient("_pack_padded_sequence", input)
    return _pack(input, tuple(sizes.tolist()), bool(batch_first)), plain(sizes)


def _check_rows(sizes: tuple[int, ...], shape: Any) -> None:
    """Raise RuntimeError if there are fewer rows than `sizes` say. PyTorch looks at steps of one size together."""
    if not sizes:
        raise RuntimeError("batch_sizes can not be empty")
    start = 0
    for size, group in groupby(sizes):
        steps = len([*group])
        if start + steps * size > shape[0]:
            found = max(shape[0] - start, 0) * math.prod(shape[1:])
            raise RuntimeError(f"shape '{[steps, size, *shape[1:]]}' is invalid for input of size {found}")
        start += steps * size


@public("_pad_packed_sequence(Tensor data, Tensor batch_sizes, bool batch_first, Number padding_value, "
        "int total_length) -> (Tensor, Tensor)", strict=True)
def _pad_packed_sequence(data: TensorBase, batch_sizes: TensorBase, batch_first: bool, padding_value: Any,
                         total_length: int) -> tuple[Any, Any]:
    """Packed rows as sequences of one length, filled up with `padding_value`, and the lengths of the sequences.

    A `total_length` above 0 is the number of steps. See `torch.nn.utils.rnn.pad_packed_sequence`.
    """
    _check_lengths(batch_sizes)
    sizes = tuple(batch_sizes._array.tolist())
    steps, total = len(sizes), as_int("_pad_packed_sequence", total_length, "total_length")
    if total > 0:
        if total < steps:
            raise RuntimeError("Expected total_length to be at least the length of the longest sequence in input, but "
                               f"got total_length={total} and max sequence length being {steps}")
        steps = total
    _check_rows(sizes, data.shape)
    fill = number("_pad_packed_sequence", "padding_value", 4, padding_value)
    padded = _pad(data if sum(sizes) == len(data) else data[:sum(sizes)], sizes, steps, fill)
    lengths = np.count_nonzero(np.arange(sizes[0]) < np.array(sizes)[:, None], 0)
    return padded.transpose(0, 1) if batch_first else padded, plain(lengths)
