"""retrograd.optimized: the module that the class of compiled modules names as its own."""

from .compilation.optimized import OptimizedModule

__all__ = ["OptimizedModule"]
