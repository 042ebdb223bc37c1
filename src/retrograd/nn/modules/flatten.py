"""Changes of shape as modules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from .layer import Layer

__all__ = ["Flatten", "Unflatten"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


class Flatten(Layer):
    """Joins the dimensions from `start_dim` to `end_dim` into one: all but the first, unless others are given.

    >>> import retrograd as torch
    >>> torch.nn.Flatten()(torch.zeros(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    _options_text = "start_dim={self.start_dim}, end_dim={self.end_dim}"

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input: Tensor) -> Tensor:
        """The input, flattened."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Layer):
    """Splits the dimension `dim` into several of the given sizes.

    >>> import retrograd as torch
    >>> torch.nn.Unflatten(1, (2, 3))(torch.zeros(5, 6)).shape
    torch.Size([5, 2, 3])

    Raises TypeError if the sizes are not a tuple of ints.
    """

    _options_text = "dim={self.dim}, unflattened_size={self.unflattened_size}"

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise TypeError("unflattened_size must be a tuple of ints, but found type "
                            f"{type(unflattened_size).__name__}")
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(f"unflattened_size must be tuple of ints, but found element of type "
                                f"{type(size).__name__} at pos {i}")
        self.dim, self.unflattened_size = dim, unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """The input with the new dimensions."""
        return input.unflatten(self.dim, self.unflattened_size)
