"""torch._functorch.utils: tools of PyTorch's modules of transforms that packages use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ..foundations.names import missing

argnums_t = int | tuple[int, ...]
_F = TypeVar("_F", bound=Callable[..., object])
__all__ = ["argnums_t", "exposed_in"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def exposed_in(module: str) -> Callable[[_F], _F]:
    """A decorator that gives a function the name of the module in which users find the function."""

    def decorated(function: _F) -> _F:
        function.__module__ = module
        return function

    return decorated
