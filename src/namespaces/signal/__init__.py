"""torch.signal: windows for the processing of signals."""

from . import windows

__all__ = ["windows"]
