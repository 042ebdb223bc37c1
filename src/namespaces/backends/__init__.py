"""torch.backends: PyTorch's numerical libraries, for programs that ask for them or set their switches.

retrograd computes with NumPy. So the answers are those of a PyTorch without these libraries. A switch that is set is
remembered and changes nothing. Only `native` is retrograd's own: its switches are for machine code.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, native, nnpack, openmp, opt_einsum, quantized
from ..foundations.modes import replaced
from ..foundations.names import hint_at_missing_names

__all__ = ["cpu", "cuda", "cudnn", "disable_global_flags", "flags_frozen", "mha", "mkl", "mkldnn", "mps", "native",
           "nnpack", "openmp", "opt_einsum", "quantized"]


class _Switches:
    """Whether programs may set switches outside of a block."""

    frozen = False


def disable_global_flags() -> None:
    """Let switches change in blocks alone. retrograd's switches change nothing, so none of them refuses."""
    _Switches.frozen = True


def flags_frozen() -> bool:
    """Whether `disable_global_flags` was called, outside of a block that allows changes."""
    return _Switches.frozen


@contextmanager
def __allow_nonbracketed_mutation() -> Iterator[None]:
    """A block in which switches may change."""
    with replaced(_Switches, "frozen", False):
        yield


hint_at_missing_names(__name__)
