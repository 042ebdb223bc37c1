"""torch.nn.attention: which ways `functional.scaled_dot_product_attention` may take, and masks that need no memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING

from ...foundations.names import inside, late
from ..functional.switches import Allowed
from . import bias

if TYPE_CHECKING:
    from . import flex_attention as flex_attention           # imported when a program first names the module

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "bias", "flex_attention", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(Enum):
    """PyTorch's ways to compute attention. On the CPU there are FLASH_ATTENTION, one operator, and MATH, several."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return int(self.value)


# In PyTorch's order of preference
_SWITCHES = {
    SDPBackend.CUDNN_ATTENTION: "cudnn", SDPBackend.FLASH_ATTENTION: "flash",
    SDPBackend.EFFICIENT_ATTENTION: "mem_efficient", SDPBackend.MATH: "math", SDPBackend.OVERRIDEABLE: "overrideable"}


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """The ways that are allowed."""
    return [way for way, switch in _SWITCHES.items() if getattr(Allowed, switch)]


@contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict[str, object]]:
    """A context in which `scaled_dot_product_attention` may only take these ways. Their order makes no difference.

    >>> import retrograd as torch
    >>> attention = torch.nn.attention
    >>> x = torch.ones(1, 1, 2, 2, requires_grad=True)
    >>> with attention.sdpa_kernel(attention.SDPBackend.MATH):
    ...     print(torch.nn.functional.scaled_dot_product_attention(x, x, x).grad_fn.name())
    UnsafeViewBackward0

    Raises AssertionError for anything else, and calls raise RuntimeError if no way is left.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                             f"{type(backends).__name__}")
    before = _cur_sdpa_kernel_backends()
    _allow(backends if isinstance(backends, list) else [backends])
    try:
        yield {}
    finally:
        _allow(before)


def _allow(ways: Iterable[SDPBackend]) -> None:
    chosen = set(ways)
    for way, switch in _SWITCHES.items():
        setattr(Allowed, switch, way in chosen)


if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": "flex_attention"}, __name__))
