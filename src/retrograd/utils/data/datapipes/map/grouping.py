"""The pipe that makes batches of samples."""

from __future__ import annotations

from typing import Any

from .._batching import Batching
from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(Batching, MapDataPipe[Any]):
    """Makes batches of samples (as a method: ``batch``). ``drop_last`` leaves a shorter last batch out."""

    def __getitem__(self, index: Any) -> Any:
        batch = []
        try:
            for i in range(index * self.batch_size, (index + 1) * self.batch_size):
                batch.append(self.datapipe[i])
        except IndexError as error:
            if self.drop_last or not batch:
                raise IndexError(f"Index {index} is out of bound.") from error
        return self.wrapper_class(batch)
