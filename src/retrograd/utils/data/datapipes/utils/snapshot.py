"""Bring a pipe back to the place that it had reached."""

from __future__ import annotations

from typing import Any

from .....tensors.arguments.generator import Generator
from ...graph_settings import apply_random_seed
from .._hook_iterator import _SnapshotState


def _simple_graph_snapshot_restoration(datapipe: Any, n_iterations: int, rng: Generator | None = None) -> None:
    """Read ``n_iterations`` samples, so that the next iterator of the pipe goes on behind them."""
    if datapipe._snapshot_state == _SnapshotState.Restored:
        raise RuntimeError("Snapshot restoration cannot be applied. You can only restore simple snapshot to the graph "
                           "if your graph has not been restored.")
    datapipe.reset()
    if rng is not None:
        apply_random_seed(datapipe, rng)
    left = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(left)
        except StopIteration as error:
            raise RuntimeError(f"Fast-forward {datapipe} by {n_iterations} iterations exceeds the number of samples "
                               "available.") from error
    datapipe._fast_forward_iterator = left
    datapipe._snapshot_state = _SnapshotState.Restored
