"""Settings about compiled graphs and streams of devices. There are no such streams."""

from __future__ import annotations

from contextlib import AbstractContextManager

__all__ = ["region_activation_memory_budget", "set_override_stale_capture_stream",
           "set_warn_on_accumulate_grad_stream_mismatch"]


def region_activation_memory_budget(budget: float) -> AbstractContextManager[None]:
    """A setting for compiled code. Raises ValueError outside of [0, 1], and otherwise RuntimeError."""
    if not 0 <= budget <= 1:
        raise ValueError("torch.autograd.graph.region_activation_memory_budget: must be in [0, 1], "
                         f"got {budget}")
    raise RuntimeError("torch.autograd.graph.region_activation_memory_budget can only be used inside a torch.compile "
                       "region; it has no effect in eager mode.")


def set_override_stale_capture_stream(enabled: bool) -> None:
    """Say what a backward pass does about streams that are being recorded. There are none."""


def set_warn_on_accumulate_grad_stream_mismatch(enabled: bool) -> None:
    """Say whether to warn of gradients from another stream. There are none."""
