"""torch._subclasses.fake_tensor: names for programs that ask whether a tensor has numbers. Every tensor has."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..foundations.names import missing, refused_class

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake", "unset_fake_temporarily"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

FakeTensor = refused_class("torch._subclasses.fake_tensor.FakeTensor")
FakeTensorMode = refused_class("torch._subclasses.fake_tensor.FakeTensorMode")


@contextmanager
def unset_fake_temporarily() -> Iterator[None]:
    """A block in which no mode makes tensors without numbers. There is no such mode, so it changes nothing."""
    yield


def is_fake(x: object) -> bool:
    """Whether an object is a tensor without numbers: no."""
    return False
