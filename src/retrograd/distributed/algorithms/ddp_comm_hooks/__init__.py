"""torch.distributed.algorithms.ddp_comm_hooks: ways to send the gradients of a module with fewer bytes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, member
from functools import partial
from typing import TYPE_CHECKING, Any

from ....foundations.names import missing
from . import default_hooks as default_hooks, powerSGD_hook as powerSGD_hook

__all__ = ["DDPCommHookType", "default_hooks", "powerSGD_hook", "register_ddp_comm_hook"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _kept(register: Callable[[Any, Any], None]) -> Any:
    """The value of a member. From some version of Python on, a bare partial is a method of the enumeration instead."""
    return member(partial(register))


class DDPCommHookType(Enum):
    """The hooks by name. A member's value registers the hook with a module and a state."""

    ALLREDUCE = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.allreduce_hook))
    FP16_COMPRESS = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.fp16_compress_hook))
    BF16_COMPRESS = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.bf16_compress_hook))
    POWER_SGD = _kept(lambda model, state: model.register_comm_hook(state, powerSGD_hook.powerSGD_hook))


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook by its name."""
    comm_hook_type.value(model=model, state=state)
