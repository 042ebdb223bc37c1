"""torch._subclasses.fake_tensor: names for programs that ask whether a tensor has numbers. Every tensor has."""

from typing import TYPE_CHECKING

from ..foundations.names import missing, refused_class

__all__ = ["FakeTensor", "FakeTensorMode", "is_fake"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

FakeTensor = refused_class("torch._subclasses.fake_tensor.FakeTensor")
FakeTensorMode = refused_class("torch._subclasses.fake_tensor.FakeTensorMode")


def is_fake(x: object) -> bool:
    """Whether an object is a tensor without numbers: no."""
    return False
