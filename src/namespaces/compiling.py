"""torch.compile: checks its arguments as PyTorch does, and hands a function to the compiler at its first call."""

from .compilation.asking import (
    BACKENDS as BACKENDS,
    EXECUTORS as EXECUTORS,
    LIMIT as LIMIT,
    MODES as MODES,
    MOST_SHAPES as MOST_SHAPES,
    OTHER_BACKENDS as OTHER_BACKENDS,
    Compiling as Compiling,
    InvalidBackend as InvalidBackend,
    Stance as Stance,
    compile,
    explain as explain,
    marked as marked,
)

__all__ = ["compile"]
