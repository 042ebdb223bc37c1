"""torch.utils: tools around a computation."""

from typing import TYPE_CHECKING

from ..names import missing
from . import checkpoint, dlpack, hooks
from ..tensors.face.swapping import swap_tensors as swap_tensors

if TYPE_CHECKING:
    # imported when a program first names them
    from . import (
        _pytree as _pytree,
        benchmark as benchmark,
        data as data,
        flop_counter as flop_counter,
        module_tracker as module_tracker,
        tensorboard as tensorboard,
    )

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]

_LATE = [
    "_pytree",
    "benchmark",
    "data",
    "flop_counter",
    "module_tracker",
    "tensorboard",
]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=_LATE)
