"""The options of `LinearCrossEntropyLoss`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..borrowed import borrowing

__all__ = ["LinearCrossEntropyOptions"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)


@dataclass
class LinearCrossEntropyOptions:
    """How PyTorch computes the loss in parts, to save memory. Here the options change nothing."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None
