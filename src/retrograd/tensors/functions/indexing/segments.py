"""`segment_reduce`: consecutive rows, reduced in groups of given lengths."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ....foundations.dtypes import Array, letter, require, unimplemented
from ....foundations.errors import noted
from ....kernels.indexing.scattering import segments_of
from ....ops.basic import beyond
from ....ops.indexing import segments as ops
from ...arguments.dims import axis_of
from ...arguments.options import number
from ...recording.calls import recorded
from ...recording.public import public
from ...state.base import TensorBase, plain

_OPS = {"sum": recorded(ops.segment_sum), "mean": recorded(ops.segment_mean), "prod": recorded(ops.segment_prod),
        "max": recorded(ops.segment_extreme), "min": recorded(ops.segment_extreme)}
_SPELLED = {"amax": "max", "amin": "min"}


@public("segment_reduce(Tensor data, str reduce, *, Tensor lengths=None, Tensor indices=None, Tensor offsets=None, "
        "int axis=0, bool unsafe=False, Number initial=None)", strict=True)
def segment_reduce(data: TensorBase, reduce: str, *, lengths: TensorBase | None = None,
                   indices: TensorBase | None = None, offsets: TensorBase | None = None, axis: int = 0,
                   unsafe: bool = False, initial: Any = None) -> TensorBase:
    """The sum, mean, max, min or prod of each segment of `data` along `axis`.

    `lengths` holds the number of elements of each segment. `offsets`, the other choice, holds the place where each
    segment begins and the place where the last ends. Both have the dimensions of `data` in front of `axis`. An empty
    segment gives `initial`, or by default 0, nan, -inf, inf or 1. Raises RuntimeError if the lengths do not add up to
    the size of `data`, unless `unsafe` is set.

    >>> import retrograd as torch
    >>> torch.segment_reduce(torch.tensor([1., 2., 3., 4.]), "mean", lengths=torch.tensor([1, 3]))
    tensor([1., 3.])
    """
    if initial is not None:
        initial = number("segment_reduce", "initial", 0, initial)
    array = data._array
    dim = axis_of("segment_reduce", axis, array.ndim)
    kind = _SPELLED.get(reduce, reduce)
    if kind not in _OPS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if indices is not None:
        raise noted(
            RuntimeError("segment_reduce(): indices based reduction is not supported yet."),
            instead="use lengths or offsets instead")
    bounds = _bounds(array, lengths, offsets, dim, unsafe)
    require(letter(array.dtype) == "f", "_segment_reduce_cpu", array.dtype)
    index = beyond(lambda ends: segments_of(ends, array.shape[dim], dim, array.shape), bounds)
    counts = beyond(lambda ends: np.diff(ends, axis=-1).reshape(
        *ends.shape[:-1], -1, *(1,) * (array.ndim - dim - 1)), bounds)
    return _OPS[kind](data, plain(index), plain(counts), dim, kind, initial)  # type: ignore[no-any-return]


def _bounds(array: Array, lengths: Any, offsets: Any, dim: int, unsafe: bool) -> Any:
    """The places where the segments begin and the last segment ends. If both are given, lengths count."""
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): Either lengths or offsets must be defined.")
    name, given = ("lengths", lengths._array) if lengths is not None else ("offsets", offsets._array)
    if given.ndim > array.ndim:
        raise noted(
            RuntimeError(f"Expected data.dim() >= {name}_value.dim() to be true, but got false.  (Could this error "
                         "message be improved?  If so, please report an enhancement request to PyTorch.)"),
            given=f"{array.ndim} and {given.ndim} dimensions")
    if dim != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {name} but got {dim}.")
    if given.shape[:-1] != array.shape[:dim]:
        raise noted(
            RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                         "data.size(lengths.dim()-1) when !unsafe."),
            because=f"{name} of shape {[*given.shape]} has to begin as data of shape {[*array.shape]} does")
    return beyond(partial(_ends, name, array.shape[dim], unsafe), given)


def _ends(name: str, size: int, unsafe: bool, given: Array) -> Any:
    """`_bounds` of lengths or offsets of the right shape. Raises RuntimeError if their numbers do not fit."""
    lengths = name == "lengths"
    if lengths:
        if not given.size:
            raise noted(
                RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                             "reduction dim with the 'dim' argument."),
                because="lengths is empty")
        if not unsafe:
            if given.min() < 0:
                raise RuntimeError("lengths contains negative value!")
            if (given.sum(axis=-1) != size).any():
                raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to "
                                   "data.size(lengths.dim()-1) when !unsafe.")
    if given.dtype.name not in ("int32", "int64"):
        raise unimplemented(f"_segment_reduce_{name}_cpu_kernel1", given.dtype)
    if lengths:
        given = np.cumsum(np.concatenate((np.zeros((*given.shape[:-1], 1), np.int64), given), axis=-1), axis=-1)
    elif not given.shape[-1]:
        raise noted(
            RuntimeError("Trying to create tensor with negative dimension -1: [-1]"),
            because="offsets has one number more than there are segments")
    if (np.diff(given, axis=-1) < 0).any():
        raise noted(
            RuntimeError("Expected segment_length >= 0 to be true, but got false.  (Could this error message be "
                         "improved?  If so, please report an enhancement request to PyTorch.)"),
            because="offsets must not decrease")
    if given.size and (given.min() < 0 or given.max() > size):
        raise noted(
            RuntimeError("segment_reduce(): a segment ends outside of data"), given=f"data of size {size}")
    return given.astype(np.int64)
