"""Pipes that apply a function to samples, or make tensors of batches."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from ..._utils.collate import default_collate
from .._decorator import functional_datapipe
from .._length import no_length
from ..datapipe import IterDataPipe
from ..utils.common import _check_unpickable_fn, validate_input_col

__all__ = ["CollatorIterDataPipe", "MapperIterDataPipe"]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe[Any]):
    """Applies a function to each sample (as a method: ``map``).

    With ``input_col`` the function is applied to one column of a sample, or to several, which are its arguments. The
    result takes the place of the column, or goes to ``output_col``; -1 appends it. Of several columns the first is
    replaced, and the others are left out.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([(1, 2), (3, 4)]).map(abs, input_col=1, output_col=-1))
    [(1, 2, 2), (3, 4, 4)]
    """

    datapipe: Any
    fn: Callable[..., Any]

    def __init__(self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None) -> None:
        super().__init__()
        self.datapipe = datapipe
        _check_unpickable_fn(fn)
        self.fn = fn
        self.input_col = input_col
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, list | tuple):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.output_col = output_col
        validate_input_col(fn, input_col)

    def _apply_fn(self, data: Any) -> Any:
        if self.input_col is None:
            return self.fn(data)
        columns = list(self.input_col) if isinstance(self.input_col, list | tuple) else [self.input_col]
        result = self.fn(*[data[column] for column in columns])
        into = list(data) if isinstance(data, tuple) else data
        if self.output_col is None:
            into[columns[0]] = result
            for column in sorted(columns[1:], reverse=True):
                del into[column]
        elif self.output_col == -1:
            into.append(result)
        else:
            into[self.output_col] = result
        return tuple(into) if isinstance(data, tuple) else into

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            yield self._apply_fn(data)

    def __len__(self) -> int:
        try:
            return len(self.datapipe)
        except TypeError as error:
            raise no_length(self) from error


def _collate_helper(conversion: Any, item: Any) -> Any:
    """Collate each column of a batch of data frames by the function for the column."""
    if len(item) > 1:
        raise RuntimeError("Only supports one DataFrame per batch")
    frame = item[0]
    names = list(frame.columns)
    if not set(names) >= {name for name in conversion if name != "__default__"}:
        raise RuntimeError("Conversion keys mismatch")
    found = []
    for name in names:
        function = conversion.get(name, conversion.get("__default__", default_collate))
        if not callable(function):
            raise RuntimeError("Collate (DF)DataPipe requires callable as dict values")
        found.append(function(list(frame[name])))
    return tuple(found)


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Makes one item of each batch (as a method: ``collate``), by default with `default_collate`.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(3)).batch(2).collate())
    [tensor([0, 1]), tensor([2])]
    """

    def __init__(self, datapipe: Any, conversion: Any = default_collate,
                 collate_fn: Callable[..., Any] | None = None) -> None:
        if collate_fn is not None:
            conversion = collate_fn
        elif not callable(conversion):
            conversion = functools.partial(_collate_helper, conversion)
        super().__init__(datapipe, fn=conversion)
