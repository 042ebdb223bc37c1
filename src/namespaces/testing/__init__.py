"""torch.testing: comparing tensors up to rounding, and making tensors to compare with."""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from .closeness import assert_allclose, assert_close
from .making import make_tensor

if TYPE_CHECKING:
    from .file_check import FileCheck as FileCheck

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"file_check": "FileCheck"}, __name__))
