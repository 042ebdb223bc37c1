"""torch.nn.utils.rnn: sequences of several lengths, padded to one length, or packed one step after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ...foundations.errors import noted
from ...tensors.arguments.options import number
from ...tensors.face.memory import as_tensor
from ...tensors.functions.creation.creation import empty_like
from ...tensors.functions.creation.ranges import arange
from ...tensors.functions.indexing.sorting import sort
from ...tensors.functions.networks.packing import _pack_padded_sequence, _pad_packed_sequence
from ...tensors.state.base import TensorBase
from ...tensors.tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pad_packed_sequence", "pad_sequence",
    "unpad_sequence", "pack_sequence", "unpack_sequence",
]


class PackedSequence_(NamedTuple):
    """The fields of a `PackedSequence`."""

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(PackedSequence_):
    """Sequences of several lengths, one step after the other. `pack_padded_sequence` and `pack_sequence` make them.

    `data` (elements, …) holds the elements of all sequences at the first step, then those at the second step, and so
    on. `batch_sizes` holds the number of sequences at each step. The longest sequence comes first. `sorted_indices`
    says where each sequence stood before, and `unsorted_indices` is the inverse of this permutation. Both are None if
    the sequences were in this order.

    >>> import retrograd as torch
    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    PackedSequence(data=tensor([1, 4, 2, 3]), batch_sizes=tensor([2, 1, 1]), sorted_indices=None, unsorted_indices=None)
    """

    def __new__(cls, data: Tensor, batch_sizes: Tensor | None = None, sorted_indices: Tensor | None = None,
                unsorted_indices: Tensor | None = None) -> Self:
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise noted(
                    AssertionError("Expected data to be a list or tuple of length 2"),
                    given="the data and the batch sizes")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        """False: the data is in main memory."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Whether the data is in memory that another device can read, which is never so here."""
        return self.data.is_pinned()

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """The sequences with `data.to(*args, **kwargs)` as their data, or this object if this changes nothing."""
        if "copy" in kwargs:
            raise RuntimeError(".to() does not accept copy argument")
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        return self._of(data)

    def pin_memory(self) -> Self:
        """The sequences in memory that another device can read. Raises RuntimeError: there is no other device."""
        return self._of(self.data.pin_memory())

    def cuda(self, *args: Any, **kwargs: Any) -> Self:
        """The sequences on a GPU. Raises AssertionError: there is none."""
        return self._of(self.data.cuda(*args, **kwargs))

    def cpu(self, *args: Any, **kwargs: Any) -> Self:
        """The sequences in main memory: this object."""
        return self._of(self.data.cpu(*args, **kwargs))

    def double(self) -> Self:
        """The sequences in float64."""
        return self._of(self.data.double())

    def float(self) -> Self:
        """The sequences in float32."""
        return self._of(self.data.float())

    def half(self) -> Self:
        """The sequences in float16."""
        return self._of(self.data.half())

    def long(self) -> Self:
        """The sequences in int64."""
        return self._of(self.data.long())

    def int(self) -> Self:
        """The sequences in int32."""
        return self._of(self.data.int())

    def short(self) -> Self:
        """The sequences in int16."""
        return self._of(self.data.short())

    def char(self) -> Self:
        """The sequences in int8."""
        return self._of(self.data.char())

    def byte(self) -> Self:
        """The sequences in uint8."""
        return self._of(self.data.byte())

    def _of(self, data: Tensor) -> Self:
        """The sequences with other data, or this object if the data is the same tensor."""
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The inverse of a permutation (n), which is a tensor of ints. None stands for no permutation.

    >>> import retrograd as torch
    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places: Any = arange(0, permutation.numel())
    inverse: Any = empty_like(permutation)
    inverse.scatter_(0, permutation, places)
    return inverse


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False,
                         enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences of the lengths `lengths` (batch) that are padded to one length: (steps, batch, …).

    With `batch_first` the input is (batch, steps, …). The lengths are a tensor or a list. They must decrease, unless
    `enforce_sorted` is False. The result has derivatives by the input.

    >>> import retrograd as torch
    >>> x = torch.tensor([[1, 2, 0], [3, 4, 5]])
    >>> packed = torch.nn.utils.rnn.pack_padded_sequence(
    ...     x, [2, 3], batch_first=True, enforce_sorted=False)
    >>> packed.data
    tensor([3, 1, 4, 2, 5])

    Raises RuntimeError if the lengths do not fit the input.
    """
    sizes: Any = lengths if isinstance(lengths, TensorBase) else as_tensor(lengths)
    sizes = sizes.long()
    order = None
    if not enforce_sorted:
        sizes, order = sort(sizes, descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = _pack_padded_sequence(input, sizes, batch_first)
    return PackedSequence(data, batch_sizes, order, None)


def pad_packed_sequence(sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
                        total_length: int | None = None) -> tuple[Tensor, Tensor]:
    """Packed sequences padded to one length, (steps, batch, …), and their lengths (batch), in their first order.

    With `batch_first` the result is (batch, steps, …). The places behind the ends hold `padding_value`. `total_length`
    is the number of steps; the default is the length of the longest sequence.

    >>> import retrograd as torch
    >>> rnn = torch.nn.utils.rnn
    >>> packed = rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))

    Raises ValueError if `total_length` is shorter than a sequence.
    """
    steps = sequence.batch_sizes.shape[0]
    if total_length is not None and total_length < steps:
        raise ValueError("Expected total_length to be at least the length of the longest sequence in input, but got "
                         f"total_length={total_length} and max sequence length being {steps}")
    padded, lengths = _pad_packed_sequence(sequence.data, sequence.batch_sizes, batch_first, padding_value,
                                           total_length or 0)
    order = sequence.unsorted_indices
    if order is not None:
        return padded.index_select(0 if batch_first else 1, order), lengths[order]
    return padded, lengths


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0,
                 padding_side: str = "right") -> Tensor:
    """Sequences (length, …) padded to the length of the longest: (steps, batch, …).

    With `batch_first` the result is (batch, steps, …). `padding_value` fills the places behind the ends, or, if
    `padding_side` is "left", before the beginnings.

    >>> import retrograd as torch
    >>> torch.nn.utils.rnn.pad_sequence(
    ...     [torch.tensor([1, 2, 3]), torch.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])

    Raises RuntimeError if there are no sequences, or if their sizes differ beyond the length.
    """
    if isinstance(sequences, TensorBase):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: "
                           f"{type(sequences)}")
    sequences = tuple(sequences)
    for place, sequence in enumerate(sequences):
        if not isinstance(sequence, TensorBase):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(sequence).__name__}")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if not sequences[0].ndim:
        raise noted(
            RuntimeError("ArrayRef: invalid slice, N = 1; size = 0"), because="a sequence has at least one dimension")
    padding_value = float(number("pad_sequence", "padding_value", 3, padding_value, "float"))
    longest, rest = max(len(sequence) for sequence in sequences), sequences[0].shape[1:]
    shape = (len(sequences), longest) if batch_first else (longest, len(sequences))
    out: Tensor = sequences[0].new_full((*shape, *rest), padding_value)
    for place, sequence in enumerate(sequences):
        row = out.select(0 if batch_first else 1, place)
        start = 0 if padding_side == "right" else longest - len(sequence)
        row.narrow(0, start, len(sequence)).copy_(sequence)
    return out


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences of the lengths `lengths` (batch) in (steps, batch, …), or with `batch_first` in (batch, steps, …).

    As in PyTorch, an input that is not `batch_first` is transposed in place.

    >>> import retrograd as torch
    >>> torch.nn.utils.rnn.unpad_sequence(
    ...     torch.tensor([[1, 2, 3], [4, 0, 0]]), torch.tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    if not batch_first:
        padded_sequences.transpose_(0, 1)
    places = arange(padded_sequences.shape[1])
    return [sequence[places < length] for sequence, length in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences (length, …). Their lengths must decrease, unless `enforce_sorted` is False.

    >>> import retrograd as torch
    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """
    lengths = as_tensor(np.array([len(sequence) for sequence in sequences], np.int64))
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The list of sequences that were packed, in their first order.

    >>> import retrograd as torch
    >>> rnn = torch.nn.utils.rnn
    >>> rnn.unpack_sequence(rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]))
    [tensor([1, 2, 3]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
