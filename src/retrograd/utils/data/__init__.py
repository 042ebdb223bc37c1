"""torch.utils.data: datasets, samplers, and the `DataLoader` that reads batches."""

from typing import TYPE_CHECKING

from ...foundations.names import missing, refused, refused_class
from . import _utils, dataloader, dataset, distributed, sampler
from ._utils.fetch import _DatasetKind
from .dataloader import DataLoader, default_collate, default_convert, get_worker_info
from .dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
           "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler", "Sampler", "SequentialSampler",
           "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "_DatasetKind",
           "_utils", "dataloader", "dataset", "default_collate", "default_convert", "distributed",
           "functional_datapipe", "get_worker_info", "random_split", "sampler"]

# There are no data pipes. Packages import these names to ask whether a dataset is one.
IterDataPipe = refused_class("torch.utils.data.IterDataPipe", IterableDataset)
MapDataPipe = refused_class("torch.utils.data.MapDataPipe", Dataset)
functional_datapipe = refused("torch.utils.data.functional_datapipe")

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
