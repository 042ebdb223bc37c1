"""The sampler for training in several processes: each process reads its own share of the indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ...distributed.distributed_c10d import get_rank, get_world_size
from ...tensors.arguments.generator import Generator
from ...tensors.functions.creation.random import randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Every `num_replicas`-th index of a dataset, from the index `rank` on, in an order that all processes share.

    If the length is no multiple of `num_replicas`, the first indices are repeated, or with `drop_last` the last indices
    are left out. `set_epoch` changes the order. If `num_replicas` or `rank` is None, `torch.distributed` is asked.
    Raises ValueError for a rank out of range, and if `torch.distributed` is asked before `init_process_group`.
    """

    def __init__(self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, shuffle: bool = True,
                 seed: int = 0, drop_last: bool = False) -> None:
        num_replicas = get_world_size() if num_replicas is None else num_replicas
        rank = get_rank() if rank is None else rank
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last = 0, drop_last
        self.num_samples = len(dataset) // num_replicas if drop_last else math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle, self.seed = shuffle, seed

    def __iter__(self) -> Iterator[int]:
        indices = list(range(len(self.dataset)))
        if self.shuffle:
            indices = randperm(len(indices), generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        whole = indices * math.ceil(self.total_size / max(len(indices), 1))
        return iter(whole[self.rank:self.total_size:self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which decides the order. Call `set_epoch` before each pass over the data."""
        self.epoch = epoch
