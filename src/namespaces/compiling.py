"""retrograd.compiling: the module that `torch.compile` and what belongs to it name as their own."""

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
