"""torch._subclasses.fake_tensor: tensors without numbers, which find the sizes of results."""

from typing import TYPE_CHECKING

from ..dispatch.fake import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorConverter,
    FakeTensorMode,
    UnsupportedFakeTensorException,
    is_fake,
    maybe_get_fake_mode,
    unset_fake_temporarily,
)
from ..foundations.names import missing

__all__ = ["DataDependentOutputException", "DynamicOutputShapeException", "FakeTensor", "FakeTensorConverter",
           "FakeTensorMode", "UnsupportedFakeTensorException", "is_fake", "maybe_get_fake_mode",
           "unset_fake_temporarily"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

for _each in (DataDependentOutputException, DynamicOutputShapeException, FakeTensor, FakeTensorConverter,
              FakeTensorMode, UnsupportedFakeTensorException):
    _each.__module__ = __name__
