"""The class `Tensor` under PyTorch's name of its module, and how a pickle makes a tensor with attributes again."""

from typing import TYPE_CHECKING

from .foundations.names import missing
from .serialization.rebuilding import _rebuild_from_type_v2
from .tensors.tensor import Tensor

__all__ = ["Tensor", "_rebuild_from_type_v2"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
