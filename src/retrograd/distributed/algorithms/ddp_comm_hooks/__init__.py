"""torch.distributed.algorithms.ddp_comm_hooks: ways to send the gradients of a module with fewer bytes."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, member
from functools import partial
from typing import TYPE_CHECKING, Any

from ....foundations.names import missing
from . import debugging_hooks as debugging_hooks, default_hooks as default_hooks, powerSGD_hook as powerSGD_hook

__all__ = ["DDPCommHookType", "debugging_hooks", "default_hooks", "powerSGD_hook", "register_ddp_comm_hook"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def _kept(register: Callable[[Any, Any], None]) -> Any:
    """The value of a member. From some version of Python on, a bare partial is a method of the enumeration instead."""
    return member(partial(register))


def _power(hook: Callable[..., Any], rank: int) -> Any:
    """The value of a member that registers PowerSGD. Its state is made here, for a group of processes."""
    return _kept(lambda model, state: model.register_comm_hook(
        powerSGD_hook.PowerSGDState(process_group=state, matrix_approximation_rank=rank), hook))


class DDPCommHookType(Enum):
    """The hooks by name. A member's value registers the hook with a module and a state."""

    ALLREDUCE = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.allreduce_hook))
    FP16_COMPRESS = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.fp16_compress_hook))
    BF16_COMPRESS = _kept(lambda model, state: model.register_comm_hook(state, default_hooks.bf16_compress_hook))
    POWER_SGD = _power(powerSGD_hook.powerSGD_hook, 1)
    POWER_SGD_RANK2 = _power(powerSGD_hook.powerSGD_hook, 2)
    BATCHED_POWER_SGD = _power(powerSGD_hook.batched_powerSGD_hook, 1)
    BATCHED_POWER_SGD_RANK2 = _power(powerSGD_hook.batched_powerSGD_hook, 2)
    NOOP = _kept(lambda model, state: model.register_comm_hook(state, debugging_hooks.noop_hook))


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook by its name."""
    comm_hook_type.value(model=model, state=state)
