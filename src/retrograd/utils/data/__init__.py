"""torch.utils.data: datasets, samplers, and the `DataLoader` that reads batches."""

from typing import TYPE_CHECKING

from ...names import missing
from . import _utils, dataloader, dataset, distributed, sampler
from ._utils.fetch import _DatasetKind
from .dataloader import DataLoader, default_collate, default_convert, get_worker_info
from .dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
           "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
           "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "_DatasetKind", "_utils", "dataloader",
           "dataset", "default_collate", "default_convert", "distributed", "get_worker_info", "random_split", "sampler"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
