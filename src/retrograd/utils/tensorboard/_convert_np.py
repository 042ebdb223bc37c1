"""Values of a program as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...tensors.state.base import TensorBase


def make_np(x: Any) -> Any:
    """A tensor, an array or a number as an array. Raises NotImplementedError for other values.

    >>> from retrograd.utils.tensorboard._convert_np import make_np
    >>> make_np(2.5)
    array([2.5])
    """
    if isinstance(x, np.ndarray):
        return x
    if np.isscalar(x):
        return np.array([x])
    if isinstance(x, TensorBase):
        x = x.detach()
        return (x.half() if str(x.dtype) == "torch.bfloat16" else x).numpy()
    raise NotImplementedError(f"Got {type(x)}, but numpy array or torch tensor are expected.")
