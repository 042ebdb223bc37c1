"""Data pipes: what the built-in pipes give, recorded from PyTorch 2.13, and which iterators are valid."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import retrograd as torch
from retrograd.utils.data import (
    DataLoader,
    IterDataPipe,
    MapDataPipe,
    argument_validation,
    graph,
    graph_settings,
    runtime_validation,
    runtime_validation_disabled,
)
from retrograd.utils.data.datapipes.iter import IterableWrapper
from retrograd.utils.data.datapipes.map import SequenceWrapper


def numbers(n: int = 5) -> Any:
    return IterableWrapper(range(n))


def test_orders_are_pytorchs_for_the_same_seed() -> None:
    torch.manual_seed(3)
    assert list(numbers().shuffle()) == [1, 2, 4, 3, 0]
    assert list(numbers().shuffle(buffer_size=2)) == [1, 0, 3, 2, 4]
    assert list(numbers().shuffle().set_seed(4)) == [1, 3, 0, 4, 2]


@pytest.mark.parametrize(
    ("workers", "expected", "after"),
    [(0, [[1, 4, 8], [5, 9, 7], [3, 6, 2], [0]], 88), (2, [[1, 8, 9], [4, 5, 7], [3, 2], [6, 0]], 8)])
def test_loaders_seed_and_divide_pipes(workers: int, expected: list[list[int]], after: int) -> None:
    torch.manual_seed(7)
    loader: Any = DataLoader(numbers(10).shuffle().sharding_filter(), batch_size=3, num_workers=workers)
    assert [batch.tolist() for batch in loader] == expected
    assert len([*loader]) == 4
    assert torch.randint(100, (1,)).item() == after


def test_only_the_latest_iterator_is_valid() -> None:
    pipe = numbers()
    old = iter(pipe)
    assert next(old) == 0
    assert next(iter(pipe)) == 0
    with pytest.raises(RuntimeError, match="another iterator has been created from the same IterDataPipe"):
        next(old)


class Endless(MapDataPipe[int]):
    def __getitem__(self, index: int) -> int:
        return index


def test_batches_of_a_pipe_without_length_have_no_length() -> None:
    for pipe in (numbers().filter(bool), Endless()):
        batches: Any = pipe.batch(2)
        with pytest.raises(TypeError, match=r"^Batcher(Iter|Map)DataPipe instance doesn't have valid length$"):
            len(batches)
    with pytest.raises(AssertionError, match="^Batch size is required to be larger than 0!$"):
        Endless().batch(0)


def test_children_read_in_one_pass() -> None:
    left, right = numbers().fork(2, buffer_size=2)
    assert [next(iter(left)), next(iter(right))] == [0, 0]
    with pytest.warns(UserWarning, match="Some child DataPipes are not exhausted"):
        again = iter(left)
    assert [next(again), next(again)] == [0, 1]
    with pytest.raises(BufferError, match="buffer size 2 is insufficient"):
        next(again)


def test_a_restart_keeps_nothing_of_an_abandoned_pass() -> None:
    pipe = numbers().groupby(bool)
    next(iter(pipe))
    assert list(pipe) == [[0], [1, 2, 3, 4]]
    even, odd = numbers().demux(2, (2).__rmod__)
    next(iter(odd))
    with pytest.warns(UserWarning, match="not exhausted"):
        assert list(odd) == [1, 3]
    assert list(even) == [0, 2, 4]


def test_graphs_go_through_collections_and_leave_out_what_cannot_be_pickled() -> None:
    with pytest.warns(UserWarning, match="Lambda|Local"):
        pipe = numbers().concat(numbers(2).map(lambda x: x))
    shown = [str(one) for one in graph_settings.get_all_graph_pipes(graph.traverse_dps(pipe))]
    assert shown == ["ConcaterIterDataPipe", "IterableWrapperIterDataPipe", "MapperIterDataPipe",
                     "IterableWrapperIterDataPipe"]
    with pytest.raises((AttributeError, pickle.PicklingError)):
        pickle.dumps(pipe)


def test_samples_and_arguments_are_checked_where_a_program_asks_for_it() -> None:
    class Texts(IterDataPipe[Any]):
        @argument_validation
        def __init__(self, source: IterDataPipe) -> None:  # type: ignore[type-arg]
            self.source = source

        @runtime_validation
        def __iter__(self) -> Any:
            yield from self.source

    class Counts(Texts):
        __iter__ = runtime_validation(_numbers)

    with pytest.raises(TypeError, match="Expected argument 'source' as a IterDataPipe"):
        Texts(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="Expected an instance as subtype of <class 'int'>, but found a"):
        list(Counts(SequenceWrapper([1, "a"]).shuffle().set_shuffle(False)))
    with runtime_validation_disabled():
        assert list(Counts(IterableWrapper([1, "a"]))) == [1, "a"]


def _numbers(self: Any) -> Any:
    yield from self.source


_numbers.__name__ = "__iter__"
_numbers.__annotations__["return"] = "list[int]"
