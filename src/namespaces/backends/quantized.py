"""torch.backends.quantized: the engines of quantized tensors. There are none."""

from __future__ import annotations

__all__ = ["engine", "supported_engines"]

engine = "none"
supported_engines: list[str] = []
