"""torch.utils: tools around a computation."""

from typing import TYPE_CHECKING

from ..names import missing
from . import checkpoint, dlpack, hooks
from ..tensors.face.swapping import swap_tensors as swap_tensors

if TYPE_CHECKING:
    # imported when a program first names them
    from . import (
        _contextlib as _contextlib,
        _foreach_utils as _foreach_utils,
        _python_dispatch as _python_dispatch,
        _pytree as _pytree,
        benchmark as benchmark,
        data as data,
        flop_counter as flop_counter,
        module_tracker as module_tracker,
        tensorboard as tensorboard,
        weak as weak,
    )

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]

_LATE = [
    "_contextlib",
    "_foreach_utils",
    "_python_dispatch",
    "_pytree",
    "benchmark",
    "collect_env",
    "data",
    "flop_counter",
    "model_zoo",
    "module_tracker",
    "tensorboard",
    "weak",
]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=_LATE)
