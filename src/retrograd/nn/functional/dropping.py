"""Dropout of elements, of channels of signals, images and volumes, and for selu."""

from __future__ import annotations

from typing import Any

from ...foundations.errors import warn
from ...tensors.functions.networks import dropout as functions
from ...tensors.recording.public import public
from ...tensors.tensor import Tensor

__all__ = ["alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"]


def check_probability(p: float) -> None:
    """Raises ValueError if `p` is outside of [0, 1]."""
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@public(event="aten::dropout")
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets each element to 0 with probability `p` and multiplies the others by 1 / (1 - p), if `training`.

    The random numbers are PyTorch's. Without `training` the input is returned.

    >>> import retrograd as torch
    >>> torch.nn.functional.dropout(torch.ones(3), 1.0)
    tensor([0., 0., 0.])

    Raises ValueError if `p` is outside of [0, 1].
    """
    check_probability(p)
    return (functions.dropout_ if inplace else functions.dropout)(input, p, training)


@public()
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Sets elements to the lower limit of selu with probability `p`, and keeps the mean and the variance, if
    `training`.

    Raises ValueError if `p` is outside of [0, 1].
    """
    check_probability(p)
    return (functions.alpha_dropout_ if inplace else functions.alpha_dropout)(input, p, training)


@public()
def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels. Raises ValueError if `p` is outside of [0, 1]."""
    check_probability(p)
    return (functions.feature_alpha_dropout_ if inplace else functions.feature_alpha_dropout)(input, p, training)


def _of_channels(input: Tensor, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    if batched:
        return (functions.feature_dropout_ if inplace else functions.feature_dropout)(input, p, training)
    if inplace:
        return functions.feature_dropout_(input.unsqueeze_(0), p, training).squeeze_(0)
    return functions.feature_dropout(input.unsqueeze(0), p, training).squeeze(0)


def _warn_of_rank(name: str, rank: int, spatial: int) -> None:
    warn(f"{name}: Received a {rank}-D input to {name}, which is deprecated and will result in an error in a future "
         "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
         f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
         f"dimension, and an optional batch dimension (i.e. {spatial + 1}D or {spatial + 2}D inputs).", UserWarning)


@public()
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of (N, C, L) or (C, L) to 0 with probability `p` and multiplies the others by 1 / (1 - p).

    Raises ValueError if `p` is outside of [0, 1], RuntimeError for another number of dimensions.
    """
    check_probability(p)
    rank = input.dim()
    if rank not in (2, 3):
        raise RuntimeError(f"dropout1d: Expected 2D or 3D input, but received a {rank}D input. Note that dropout1d "
                           "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel "
                           "dimension, and an optional batch dimension (i.e. 2D or 3D inputs).")
    return _of_channels(input, p, training, inplace, rank == 3)


@public()
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of (N, C, H, W) to 0 with probability `p` and multiplies the others by 1 / (1 - p).

    As in PyTorch, three dimensions count as (N, C, L), with a warning. Other numbers of dimensions give a warning too.
    Raises ValueError if `p` is outside of [0, 1].
    """
    check_probability(p)
    rank = input.dim()
    if rank not in (3, 4):
        _warn_of_rank("dropout2d", rank, 2)
    elif rank == 3:
        warn("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
             "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change "
             "in a future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To "
             "maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.", UserWarning)
    return _of_channels(input, p, training, inplace, True)


@public()
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Sets whole channels of (N, C, D, H, W) or (C, D, H, W) to 0 with probability `p`, and scales the others as
    `dropout`.

    Another number of dimensions counts as a single sample, with a warning. Raises ValueError if `p` is outside of [0,
    1].
    """
    check_probability(p)
    rank = input.dim()
    if rank not in (4, 5):
        _warn_of_rank("dropout3d", rank, 3)
    return _of_channels(input, p, training, inplace, rank == 5)
