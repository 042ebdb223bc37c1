"""Fetchers: how the samples of a batch are read, by their indices or one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....foundations.errors import noted
from ....tensors.tensor import Tensor
from ..dataset import TensorDataset
from .collate import collate_tensor_fn, default_collate, default_collate_fn_map


class _BaseDatasetFetcher:
    """Reads batches of a dataset. Without `auto_collation` a batch is one sample."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.auto_collation = dataset, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The collated batch at these indices."""
        raise NotImplementedError


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples by their indices."""

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The collated batch at these indices."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[possibly_batched_index])
        batch = possibly_batched_index
        if type(batch) is list and self._has_rows() and {*map(type, batch)} == {int}:
            return [tensor[batch] for tensor in self.dataset.tensors]
        at_once = getattr(self.dataset, "__getitems__", None)
        samples = (at_once(possibly_batched_index) if at_once
                   else [self.dataset[index] for index in possibly_batched_index])
        try:
            return self.collate_fn(samples)
        except Exception as error:
            noted(error, batch=f"of the dataset at {repr(possibly_batched_index)[1:-1]}")
            raise

    def _has_rows(self) -> bool:
        """Whether a batch is the rows of tensors, which one indexing of each tensor gives without single samples."""
        dataset = self.dataset
        usual = self.collate_fn is default_collate and default_collate_fn_map.get(Tensor) is collate_tensor_fn
        return usual and type(dataset) is TensorDataset and "__getitems__" not in vars(dataset) and not any(
            [type(tensor) is not Tensor or tensor.requires_grad for tensor in dataset.tensors])


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """Reads samples one after the other. The indices only say how many samples a batch has."""

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        super().__init__(dataset, auto_collation, collate_fn, drop_last)
        self.dataset_iter = iter(dataset)
        self.ended = False

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The next collated batch. Raises StopIteration at the end of the dataset."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.dataset_iter))
        samples = []
        for _ in possibly_batched_index:
            try:
                samples.append(next(self.dataset_iter))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(possibly_batched_index)):
            raise StopIteration
        return self.collate_fn(samples)


class _DatasetKind:
    """The two kinds of datasets: maps from indices to samples, and iterables of samples."""

    Map = 0
    Iterable = 1

    @staticmethod
    def create_fetcher(kind: int, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any],
                       drop_last: bool) -> _BaseDatasetFetcher:
        """A new fetcher for a dataset of this kind."""
        fetcher = _MapDatasetFetcher if kind == _DatasetKind.Map else _IterableDatasetFetcher
        return fetcher(dataset, auto_collation, collate_fn, drop_last)
