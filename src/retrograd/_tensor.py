"""torch._tensor: the class Tensor, under the path at which PyTorch defines it."""

from .tensors.tensor import Tensor

__all__ = ["Tensor"]
