"""The options of `LinearCrossEntropyLoss`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...foundations.dtypes import bfloat16, float16, float32, float64
from ..borrowed import borrowing

__all__ = ["LinearCrossEntropyOptions"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


@dataclass
class LinearCrossEntropyOptions:
    """How PyTorch computes the loss in parts, to save memory. Here the options change nothing.

    Raises ValueError for options that PyTorch does not have.
    """

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        if self.acc_policy not in ("auto", "accurate", "balanced", "compact"):
            raise ValueError(f"invalid acc_policy: {self.acc_policy!r}")
        if self.chunking_method not in (None, "auto"):
            name, mark, factor = self.chunking_method.partition(":")
            if name != "aspect_ratio" or (mark and not (factor.isdigit() and int(factor) > 0)):
                raise ValueError(f"invalid chunking_method: {self.chunking_method!r}")
        size = self.batch_chunk_size
        if size is not None and not (isinstance(size, int) and size > 0):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {size!r}")
        if self.acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError("acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                             f"torch.float64}}, got {self.acc_dtype!r}. Pass acc_dtype=None to let the op pick "
                             "automatically.")
