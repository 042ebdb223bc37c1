"""torch.onnx.symbolic_helper: how programs describe operators for an export. retrograd exports nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..foundations.names import missing

__all__ = ["parse_args"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

Function = TypeVar("Function", bound=Callable[..., Any])


def parse_args(*arg_descriptors: str) -> Callable[[Function], Function]:
    """The decorator of a description of an operator. It returns the description, which nothing here calls."""
    return lambda fn: fn
