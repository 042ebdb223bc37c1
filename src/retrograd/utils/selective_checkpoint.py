"""What programs name of selective checkpoints and of devices in checkpoints.

A selective checkpoint keeps the results of some operators. Here all values are computed again, so the numbers are the
same, and only the time differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from enum import Enum
from typing import Any, ClassVar, Self

__all__ = ["SAC_IGNORED_OPS", "CheckpointPolicy", "DefaultDeviceType", "GraphExecGroup", "SelectiveCheckpointContext",
           "create_selective_checkpoint_contexts", "get_device_states", "set_device_states"]

SAC_IGNORED_OPS: set[Any] = set()      # operators about which a policy is not asked: it is asked about none


class CheckpointPolicy(Enum):
    """What a policy says about the result of an operator."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


class SelectiveCheckpointContext:
    """What a policy is told: whether the function runs for the second time."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute, self.op_output = is_recompute, op_output


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Callable[..., Any] | list[Any], allow_cache_entry_mutation: bool = False,
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts for `context_fn` of `checkpoint`. The policy is not asked, and all values are computed again.

    Raises TypeError if the policy is neither a function nor a list.
    """
    if not isinstance(policy_fn_or_list, list) and not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    return nullcontext(), nullcontext()


class GraphExecGroup:
    """A context for checkpoints that are recorded together in one graph pass."""

    _current: ClassVar[GraphExecGroup | None] = None

    def __enter__(self) -> Self:
        if GraphExecGroup._current is not None:
            raise RuntimeError("GraphExecGroup contexts cannot be nested. "
                               f"Already inside group {GraphExecGroup._current}")
        GraphExecGroup._current = self
        return self

    def __exit__(self, *args: object) -> None:
        GraphExecGroup._current = None


class DefaultDeviceType:
    """The kind of device whose random numbers a checkpoint keeps, beside those of the CPU."""

    _device_type = "cpu"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the kind of device."""
        DefaultDeviceType._device_type = device

    @staticmethod
    def get_device_type() -> str:
        """The kind of device."""
        return DefaultDeviceType._device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The devices of tensors, other than the CPU, and the states of their generators: none."""
    return [], []


def set_device_states(devices: Iterable[int], states: Iterable[Any], *, device_type: str | None = None) -> None:
    """Set the states of the generators of devices. There are none."""
