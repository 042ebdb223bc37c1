"""torch._subclasses: tensors without numbers, which find the sizes of results."""

from typing import TYPE_CHECKING

from ..foundations.names import missing
from .fake_tensor import FakeTensor, FakeTensorMode

__all__ = ["FakeTensor", "FakeTensorMode"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
