"""torch.testing: comparing tensors up to rounding, and making tensors to compare with."""

from .closeness import assert_allclose, assert_close
from .making import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
