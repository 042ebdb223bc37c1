"""Sizes that a compiled function gets as plain numbers. Nobody can follow them, so no plan serves all sizes."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS, noted_traces


class Counting(torch.nn.Module):
    """A module whose own attribute comes from a size."""

    def forward(self, x: Any) -> Any:
        self.seen = len(x)
        return x.sum() * (self.seen // 3)


def by_default_argument(x: Any) -> Any:
    def scaled(n: int = len(x)) -> Any:
        return x.sum() * (n % 3)

    return scaled()


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "a branch": lambda x: x.sum() * (0.1 if len(x) > 6 else 1.0),
    "a whole quotient": lambda x: x.sum() * (len(x) // 2),
    "the larger": lambda x: x.sum() * max(len(x), 8),
    "a part": lambda x: x.sum() * (len(x[1:]) // 2),
    "bytes": lambda x: x.sum() * (x.nbytes // 7),
    "bytes of the storage": lambda x: x.sum() * min(x.untyped_storage().nbytes(), 30),
    "elements of the storage": lambda x: x.sum() * min(len(x.storage()), 7),
    "a Size": lambda x: x.sum() * min(torch.Size([x.shape[0]])[0], 7),
    "a Size of a Size": lambda x: x.sum() * min((torch.Size([2]) + torch.Size(x.shape))[1], 7),
    "a broadcast": lambda x: x.sum() * (torch.broadcast_shapes(x.shape, (1,))[0] % 4),
    "strides": lambda x: x.sum() * min(x.expand(3, -1).contiguous().stride(0), 7),
    "all strides": lambda x: x.sum() * min(x.expand(3, -1).contiguous().stride()[0], 7),
    "an offset": lambda x: x.sum() * min(x[x.shape[0] - 1:].storage_offset(), 7),
    "elements": lambda x: x.sum() * min(x.numel(), 7),
    "elements by torch": lambda x: x.sum() * (torch.numel(x) % 5),
    "fan": lambda x: x.sum() * min(torch.nn.init._calculate_fan_in_and_fan_out(x.expand(3, -1))[0], 7),
    "a text": lambda x: x.sum() * len(str(x.shape)),
    "a format": lambda x: x.sum() * len(f"{len(x)}"),
    "an equal shape": lambda x: x.sum() * (x.shape == (9,)),
    "a range": lambda x: x.sum() * sum(range(len(x))),
    "rows": lambda x: sum(row * i for i, row in enumerate(x)),
    "a sequence of lengths": lambda x: x.sum() * [1, 2, 3][len(x) % 3],
    "a sum of lengths": lambda x: x.sum() * (sum(map(len, x.split(2))) // 2),
    "a module": Counting(),
    "a default argument": by_default_argument,
}


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)|TypedStorage")
@pytest.mark.sampled(6)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_plain_sizes_are_those_of_the_call(name: str, dynamic: bool | None, backend: str) -> None:
    function = FUNCTIONS[name]
    compiled = torch.compile(function, backend=backend, dynamic=dynamic)
    for size in (2, 3, 4, 5, 6, 7, 8, 9, 10, 5, 3, 11):
        x = torch.arange(1.0, size + 1)
        assert compiled(x).item() == pytest.approx(function(x).item()), size


def test_a_plan_serves_all_sizes_that_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = noted_traces(monkeypatch)
    compiled = torch.compile(lambda x: (x / x.shape[0]).sum() * 2 + x.mean(), backend="numpy")
    for size in range(2, 12):
        x = torch.ones(size)
        assert compiled(x).item() == pytest.approx(3.0)
    assert len(traces) == 3


@pytest.mark.filterwarnings("ignore:torch.compile (runs|traces)")
def test_the_profiler_of_a_program_stays_on() -> None:
    events: list[str] = []

    def watch(frame: Any, event: str, value: Any) -> None:
        events.append(event)

    function = FUNCTIONS["a branch"]
    compiled = torch.compile(function, backend="numpy")
    sys.setprofile(watch)
    try:
        results = [compiled(torch.ones(size)).item() for size in range(2, 12)]
        assert sys.getprofile() is watch
    finally:
        sys.setprofile(None)
    assert events
    assert results == [function(torch.ones(size)).item() for size in range(2, 12)]
    compiled(torch.ones(12))
    assert sys.getprofile() is None
