"""torch.utils: tools around a computation."""

from typing import TYPE_CHECKING

from ..foundations.names import inside, late
from ..tensors.face.swapping import swap_tensors as swap_tensors

if TYPE_CHECKING:
    # imported when a program first names them
    from . import (
        _contextlib as _contextlib,
        _foreach_utils as _foreach_utils,
        _pytree as _pytree,
        benchmark as benchmark,
        checkpoint as checkpoint,
        data as data,
        dlpack as dlpack,
        flop_counter as flop_counter,
        hooks as hooks,
        module_tracker as module_tracker,
        tensorboard as tensorboard,
        weak as weak,
    )

__all__ = ["_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]

_LATE = ("_contextlib _foreach_utils _mode_utils _python_dispatch _pytree benchmark checkpoint collect_env data dlpack "
         "flop_counter hooks model_zoo module_tracker tensorboard weak")
if not TYPE_CHECKING:
    __getattr__, __dir__ = late(__name__, __all__, inside({"": _LATE}, __name__), unlisted=["tensorboard"])
