"""torch.utils.data: datasets, samplers, data pipes, and the `DataLoader` that reads batches."""

from typing import TYPE_CHECKING

from ...foundations.names import missing
from . import (
    _utils, backward_compatibility, dataloader, datapipes, dataset, distributed, graph, graph_settings, sampler)
from ._utils.fetch import _DatasetKind
from .dataloader import DataLoader, default_collate, default_convert, get_worker_info
from .datapipes._decorator import (
    argument_validation, functional_datapipe, guaranteed_datapipes_determinism, non_deterministic, runtime_validation,
    runtime_validation_disabled)
from .datapipes.datapipe import DataChunk, DFIterDataPipe, IterDataPipe, MapDataPipe
from .dataset import (
    ChainDataset, ConcatDataset, Dataset, IterableDataset, StackDataset, Subset, TensorDataset, random_split)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler)

__all__ = ["BatchSampler", "ChainDataset", "ConcatDataset", "DFIterDataPipe", "DataChunk", "DataLoader", "Dataset",
           "DistributedSampler", "IterDataPipe", "IterableDataset", "MapDataPipe", "RandomSampler",
           "Sampler", "SequentialSampler", "StackDataset", "Subset", "SubsetRandomSampler", "TensorDataset",
           "WeightedRandomSampler", "_DatasetKind", "_utils", "argument_validation",
           "backward_compatibility", "dataloader", "datapipes", "dataset", "default_collate",
           "default_convert", "distributed", "functional_datapipe", "get_worker_info", "graph",
           "graph_settings", "guaranteed_datapipes_determinism", "non_deterministic", "random_split",
           "runtime_validation", "runtime_validation_disabled", "sampler"]

if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__)
