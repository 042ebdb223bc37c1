"""Embeddings: rows of a table by number, one by one and in bags."""

from __future__ import annotations

import numpy as np

from ...autograd.grad_mode import no_grad
from ...foundations.dtypes import letter
from ...foundations.errors import noted, warn
from ...foundations.modes import local
from ...kernels.networks.embedding import MAX, MEAN, SUM
from ...tensors.arguments.dims import array_of, as_int
from ...tensors.arguments.options import check_flag, check_optional, check_tensors
from ...tensors.functions.networks import embedding as functions
from ...tensors.recording.public import public
from ...tensors.state.base import plain
from ...tensors.tensor import Tensor

__all__ = ["embedding", "embedding_bag"]

_MODES = {"sum": SUM, "mean": MEAN, "max": MAX}


def _no_grad_embedding_renorm_(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    with no_grad():
        functions.embedding_renorm_(weight.detach() if local.thread.levels else weight, input, max_norm, norm_type)


@public()
def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """The rows of `weight` (rows, columns) that the ints in `input`, of any shape (…), name: (…, columns).

    The row `padding_idx` gets no gradient. With `max_norm`, rows with a greater `norm_type`-norm are first scaled down
    to it in `weight` itself. With `scale_grad_by_freq` the gradient of a row is divided by the number of times it is
    taken.

    >>> import retrograd as torch
    >>> table = torch.tensor([[1., 2.], [3., 4.]])
    >>> torch.nn.functional.embedding(torch.tensor([1, 1]), table)
    tensor([[3., 4.],
            [3., 4.]])

    Raises IndexError for a number out of bounds, AssertionError for a `padding_idx` out of bounds, RuntimeError if
    `weight` is not a matrix or `input` is neither int64 nor int32.
    """
    padding = -1
    if padding_idx is not None:
        rows = array_of("embedding", weight, "weight").shape[0]
        if padding_idx >= rows or padding_idx < -rows:
            raise noted(
                AssertionError("Padding_idx must be within num_embeddings"),
                given=f"it must be between {-rows} and {rows - 1}, and is {padding_idx}")
        padding = padding_idx if padding_idx >= 0 else padding_idx + rows
    if max_norm is not None:
        as_int("embedding", padding, "padding_idx")      # every check comes before the first write
        check_flag("embedding", "scale_grad_by_freq", 4, scale_grad_by_freq)
        check_flag("embedding", "sparse", 5, sparse)
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    return functions.embedding(weight, input, padding, scale_grad_by_freq, sparse)


@public()
def embedding_bag(input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None,
                  norm_type: float = 2, scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None) -> Tensor:
    """Sums, means or maxima of bags of rows of `weight` (rows, columns): (bags, columns).

    Each row of a matrix `input` is a bag. In a vector `input` the bags start at `offsets`; with `include_last_offset`
    the last offset is the end of the last bag. `mode` is "sum", "mean" or "max". With "sum" the rows are multiplied by
    `per_sample_weights`, in the shape of `input`. The row `padding_idx` does not count. The other options are those of
    `embedding`.

    >>> import retrograd as torch
    >>> table = torch.tensor([[1., 2.], [3., 4.]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [1, 1]]), table)
    tensor([[2., 3.],
            [3., 4.]])

    Raises ValueError for shapes and options that do not fit, RuntimeError for numbers and dtypes that do not fit.
    """
    check_tensors("embedding_bag", input=input, weight=weight)
    check_optional("embedding_bag", 3, offsets=offsets)
    check_optional("embedding_bag", 9, per_sample_weights=per_sample_weights)
    if weight._array.dtype == np.int64 and letter(input._array.dtype) == "f":
        warn("Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
             "deprecated, and should now be `embedding_bag(input, weight, ...)`.")
        weight, input = input, weight
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must "
                         f"have the same shape as the input ({input.shape})")
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError("if input is 2D, then offsets has to be None, as input is treated is a mini-batch of "
                             f"fixed length sequences. However, found offsets of type {type(offsets)}")
        count, width = input._array.shape
        if not width:
            raise noted(RuntimeError("step must be nonzero"), because="each bag is a row of `input`, which is empty")
        offsets, include_last_offset = plain(np.arange(count) * width), False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.ndim != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    elif offsets is None or offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor" + (" but got None" if offsets is None else ""))
    _check_mode(mode, scale_grad_by_freq, sparse)
    if max_norm is not None:
        _no_grad_embedding_renorm_(weight, input, max_norm, norm_type)
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError("embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                                  f"supported for mode='sum' (got mode='{mode}'). Please open a feature request on "
                                  "GitHub.")
    return functions.embedding_bag(weight, input, offsets, scale_grad_by_freq, _MODES[mode], sparse,
                                   per_sample_weights, include_last_offset, padding_idx)[0]


def _check_mode(mode: str, scale_grad_by_freq: bool, sparse: bool) -> None:
    if not isinstance(mode, str) or mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
