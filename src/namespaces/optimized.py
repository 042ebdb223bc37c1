"""The module that torch.compile makes of a module."""

from .compilation.optimized import OptimizedModule

__all__ = ["OptimizedModule"]
