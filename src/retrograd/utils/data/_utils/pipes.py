"""What a `DataLoader` sets in a dataset that is a data pipe: the random seeds and the parts of the workers."""

from __future__ import annotations

from typing import Any

from ....tensors.arguments.generator import Generator
from ..datapipes.datapipe import IterDataPipe, MapDataPipe
from ..graph_settings import apply_random_seed, apply_sharding
from ..sampler import drawn_seed


def shared_seed(dataset: Any, generator: Generator | None) -> int | None:
    """Draw the seed that all workers share, and seed the pipes. None for other datasets, which draw nothing."""
    if not isinstance(dataset, IterDataPipe):
        return None
    seed = drawn_seed(generator)
    seed_pipes(dataset, seed)
    return seed


def seed_pipes(dataset: Any, seed: int | None) -> None:
    """Give the pipes seeds that follow from the shared seed."""
    if seed is not None:
        apply_random_seed(dataset, Generator().manual_seed(seed))


def divide_pipes(dataset: Any, num_workers: int, worker_id: int) -> None:
    """Give the pipes of a worker their part of the samples."""
    if isinstance(dataset, IterDataPipe | MapDataPipe):
        apply_sharding(dataset, num_workers, worker_id)
