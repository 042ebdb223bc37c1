"""The pipe that leaves samples out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["FilterIterDataPipe"]


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe[Any]):
    """Gives the samples for which ``filter_fn`` returns True (as a method: ``filter``).

    With ``input_col`` the function gets one column of the sample, or several. Raises ValueError if the function returns
    something other than a bool.
    """

    datapipe: Any
    filter_fn: Callable[..., Any]

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(filter_fn)
        self.filter_fn, self.input_col = filter_fn, input_col
        validate_input_col(filter_fn, input_col)

    def _apply_filter_fn(self, data: Any) -> Any:
        if self.input_col is None:
            return self.filter_fn(data)
        columns = self.input_col if isinstance(self.input_col, list | tuple) else [self.input_col]
        return self.filter_fn(*[data[column] for column in columns])

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            condition = self._apply_filter_fn(data)
            if not isinstance(condition, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got",
                                 type(condition))
            if condition:
                yield data
