"""`torch.embedding`, `torch.embedding_bag` and `torch.embedding_renorm_`. `nn.functional` is built on them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....foundations.dtypes import I64, Array, dtype as torch_dtype, letter
from ....foundations.errors import noted, unsaid
from ....kernels.indexing.indexing import within
from ....kernels.networks import embedding as kernels
from ....ops.basic import beyond, cast, clone
from ....ops.networks import embedding as ops
from ....tensors.state.base import TensorBase
from ...arguments.dims import array_of, as_int
from ...arguments.options import check_flag, refuse_complex_gradient
from ...recording.calls import recorded
from ...recording.inplace import over
from ...recording.public import public
from ...state.base import plain
from ..indexing.gathering import check_range
from ..sparse import implementation

_embedding, _embedding_bag = recorded(ops.embedding), recorded(ops.embedding_bag)


def _numbers(name: str, tensor: TensorBase, position: int = 1) -> Any:
    """The row numbers, in int64. Raises RuntimeError if the dtype is neither int64 nor int32."""
    array = tensor._array
    if array.dtype.kind != "i" or array.itemsize < 4:
        raise RuntimeError(f"Expected tensor for argument #{position} 'indices' to have one of the following scalar "
                           f"types: Long, Int; but got {_type_name(array.dtype)} instead (while checking arguments for "
                           f"{name})")
    return tensor if array.dtype == I64 else plain(cast.run(array, I64))


def _type_name(dtype: np.dtype[Any]) -> str:
    legacy = torch_dtype.of[dtype].legacy
    return f"torch.{legacy}Tensor" if letter(dtype) in "fiu" else f"CPU{legacy}Type"


@public()
def embedding(weight: TensorBase, indices: TensorBase, padding_idx: int = -1, scale_grad_by_freq: bool = False,
              sparse: bool = False) -> Any:
    """The rows of the matrix `weight` with the numbers in `indices`, as (*indices.shape, columns).

    Raises IndexError if there is no such row. See `torch.nn.functional.embedding`.
    """
    array = array_of("embedding", weight, "weight")
    array_of("embedding", indices, "indices", 2)
    padding = as_int("embedding", padding_idx, "padding_idx")
    check_flag("embedding", "scale_grad_by_freq", 4, scale_grad_by_freq)
    check_flag("embedding", "sparse", 5, sparse)
    if array.ndim != 2:
        raise noted(RuntimeError("'weight' must be 2-D"), given=f"the weight has {array.ndim} dimensions")
    numbers = _numbers("embedding", indices)
    check_range(numbers._array, array.shape[0], IndexError, "index out of range in self",
                entry="shapes#index-of-embedding")
    refuse_complex_gradient("embedding", weight)
    return (implementation("_embedding") if sparse else _embedding)(weight, numbers, padding, bool(scale_grad_by_freq))


@public()
def embedding_renorm_(input: TensorBase, indices: TensorBase, max_norm: float, norm_type: float) -> Any:
    """Scale the rows with the numbers in `indices` down to the norm `max_norm` if their norms are larger, in place."""
    array = array_of("embedding_renorm_", input)
    array_of("embedding_renorm_", indices, "indices", 2)
    if array.ndim != 2:
        raise RuntimeError(f"Expected 2-dimensional tensor, but got {array.ndim}-dimensional tensor for argument #1 "
                           "'self' (while checking arguments for embedding_renorm_)")
    numbers = _numbers("embedding_renorm_", indices, 2)
    check_range(numbers._array, array.shape[0], IndexError, "select(): index {wrong} out of range for tensor of size "
                f"{[*array.shape]} at dimension 0")
    if letter(array.dtype) not in "fc":
        raise RuntimeError("norm(): input dtype should be either floating point or complex. Got "
                           f"{torch_dtype.of[array.dtype].legacy} instead.")
    return over(ops.embedding_renorm, input, numbers, float(max_norm), float(norm_type), into=kernels.renorm_rows)


# Bags

def _check_offsets(rows: int, mode: int, starts: Array, index: Array) -> Any:
    """The offsets. Raises RuntimeError if the offsets or the row numbers are wrong."""
    count = index.size
    if starts.size and starts[0]:
        raise RuntimeError("offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
                           f"position 0. However, got {starts[0]}\n"
                           f"[ torch.{torch_dtype.of[starts.dtype].legacy}Tensor{{}} ]")
    if starts.size and starts[-1] > count:
        raise RuntimeError(f"offsets[-1] can not be greater than input's length {count} but got offsets[-1] of "
                           f"{starts[-1]}")
    if np.any(starts[1:] < starts[:-1]):
        raise noted(RuntimeError(unsaid("Expected i < index_size to be true")), because="offsets must not decrease")
    if not within(index, rows):
        place = int(np.flatnonzero((index < 0) | (index >= rows))[0])
        if mode == kernels.MAX:
            raise RuntimeError("embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                               f"{index[place]}")
        raise RuntimeError(f"Index {place} of input takes value {index[place]} which is not in the valid range "
                           f"[0, {rows})")
    return starts


def _check_table(array: Array, scales: TensorBase | None) -> None:
    if letter(array.dtype) != "f":
        raise RuntimeError("Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, "
                           f"BFloat16, Float, Double; but got {_type_name(array.dtype)} instead (while checking "
                           "arguments for embedding_bag)")
    if scales is not None and scales._array.dtype != array.dtype:
        raise RuntimeError("Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
                           f"'per_sample_weights'; but type {_type_name(array.dtype)} does not equal "
                           f"{_type_name(scales._array.dtype)} (while checking arguments for embedding_bag)")


def bags(weight: TensorBase, indices: TensorBase, offsets: TensorBase, scale_grad_by_freq: bool, mode: int,
         scales: TensorBase | None, include_last_offset: bool, padding_idx: int | None,
         sparse: bool) -> tuple[Any, ...]:
    """The values of the bags, the bag of each row, the sizes of the bags, and the rows of the largest elements."""
    array = array_of("embedding_bag", weight, "weight")
    array_of("embedding_bag", indices, "indices", 2)
    array_of("embedding_bag", offsets, "offsets", 3)
    if mode not in (kernels.SUM, kernels.MEAN, kernels.MAX):
        raise RuntimeError("`mode` must be sum, mean, or max.")
    numbers, starts = _numbers("embedding_bag", indices), _numbers("embedding_bag", offsets)
    _check_table(array, scales)
    rows, index = array.shape[0], numbers._array
    padding = -1 if padding_idx is None else as_int("embedding_bag", padding_idx, "padding_idx", 9)
    if padding_idx is not None and not -rows <= padding < rows:
        raise RuntimeError(f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                           f"{padding}")
    beyond(partial(_check_offsets, rows, mode), starts._array, index)
    if include_last_offset and starts._array.size:
        used = int(starts._array[-1])
        starts = plain(starts._array[:-1])
        if used < index.size:
            numbers, scales = numbers[:used], None if scales is None else scales[:used]
    if not starts._array.size:
        numbers = numbers[:0]
    padding = padding + rows if padding_idx is not None and padding < 0 else padding
    take = implementation("_embedding_bag") if sparse else _embedding_bag
    found: tuple[Any, ...] = take(weight, scales, numbers, starts, mode, padding, bool(scale_grad_by_freq))
    return found


@public()
def embedding_bag(weight: TensorBase, indices: TensorBase, offsets: TensorBase, scale_grad_by_freq: bool = False,
                  mode: int = 0, sparse: bool = False, per_sample_weights: TensorBase | None = None,
                  include_last_offset: bool = False, padding_idx: int | None = None) -> tuple[Any, ...]:
    """The sums (mode 0), means (1) or largest elements (2) of bags of rows. See `torch.nn.functional.embedding_bag`.

    As in PyTorch, three more tensors follow for later computations: the bag of each row, the sizes of the bags, and
    the rows of the largest elements. Each is filled only if the mode needs it.
    """
    out, bag_of_row, sizes, chosen = bags(weight, indices, offsets, scale_grad_by_freq, mode, per_sample_weights,
                                  include_last_offset, padding_idx, sparse)
    if mode == kernels.MAX:
        return out, bag_of_row, sizes, chosen
    if mode == kernels.MEAN:
        return out, bag_of_row, sizes, plain(clone.run(sizes._array, "C"))
    unused = [plain(np.zeros(sizes._array.shape[0], np.int64)) for _ in range(2)]
    return out, bag_of_row if padding_idx is not None else plain(np.zeros(0, np.int64)), *unused
