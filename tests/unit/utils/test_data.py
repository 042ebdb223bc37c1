"""Loading of data: facts recorded from PyTorch, workers that fail or are killed, and what stays behind: nothing."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from comparing.programs import OURS, printed
from needing import on_unix
from retrograd.utils import data
from retrograd.utils.data import DataLoader, Dataset, IterableDataset
from retrograd.utils.data._utils.collate import default_collate_fn_map

PROGRAMS = Path(__file__).parents[2] / "programs"


class Numbers(Dataset[int]):
    def __init__(self, count: int = 10) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> int:
        return i


class Draws(Numbers):
    """Three random numbers, one of each generator, and the process that drew them."""

    def __getitem__(self, i: int) -> Any:
        return torch.rand(()).item(), random.random(), np.random.rand(), os.getpid()


class Eager(data.Sampler[int]):
    """Draws its order when a pass begins."""

    def __iter__(self) -> Any:
        return iter(torch.randperm(6).tolist())


class Killed(Numbers):
    def __getitem__(self, i: int) -> int:
        if i == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return i


class Endless(IterableDataset[int]):
    def __iter__(self) -> Any:
        while True:
            yield 1


def read(loader: Any) -> list[Any]:
    return [batch.tolist() for batch in loader]


def test_the_package_is_imported_only_when_a_program_names_it() -> None:
    program = ("import sys, retrograd\nprint('retrograd.utils.data' in sys.modules)\n"
               "print(retrograd.utils.data.DataLoader.__name__, 'retrograd.utils.data' in sys.modules)")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "False\nDataLoader True\n"


def test_the_order_for_a_seed_is_pytorchs_also_in_the_next_epoch() -> None:
    torch.manual_seed(0)
    loader = DataLoader(Numbers(), batch_size=4, shuffle=True)
    assert read(loader) == [[6, 7, 1, 4], [2, 0, 9, 8], [3, 5]]
    assert read(loader) == [[2, 4, 7, 0], [8, 9, 5, 3], [6, 1]]


@pytest.mark.parametrize(("workers", "orders"), [
    (0, [[2, 5, 3, 0, 1, 4], [1, 3, 5, 2, 4, 0]]), (2, [[1, 3, 5, 2, 4, 0], [3, 2, 5, 1, 4, 0]])])
def test_a_sampler_draws_before_the_loader_does_and_again_before_the_workers_read(
        workers: int, orders: list[list[int]]) -> None:
    torch.manual_seed(0)
    loader = DataLoader(Numbers(6), None, sampler=Eager(), num_workers=workers)
    assert [list(loader) for _ in range(2)] == orders


@pytest.mark.filterwarnings("ignore::DeprecationWarning")              # Python's, of a fork while there are threads
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_seed_each_generator_as_pytorch_does(method: str) -> None:
    torch.manual_seed(0)
    loader = DataLoader(Draws(4), batch_size=None, num_workers=2, multiprocessing_context=method)
    drawn = list(loader)
    assert len({pid for *_, pid in drawn} - {os.getpid()}) == 2
    assert [tuple(round(x, 6) for x in numbers) for *numbers, _ in drawn[:2]] == [
        (0.78214, 0.213153, 0.837164), (0.693818, 0.773386, 0.67027)]


def test_rows_of_tensors_are_read_as_single_samples_are() -> None:
    class Single(data.TensorDataset):
        """A subclass is read sample by sample."""

    tensors = torch.arange(20.0).view(10, 2).t().contiguous().t(), torch.arange(10), torch.arange(10) > 4
    for indices in ([[3, 1], [-1], [7, 7, 0]], [[2, 10]]):
        ends = []
        for kind in (data.TensorDataset, Single):
            try:
                ends.append([[(part.tolist(), part.stride(), part.dtype) for part in batch]
                             for batch in DataLoader(kind(*tensors), batch_sampler=indices)])
            except IndexError as error:
                ends.append(str(error))
        assert ends[0] == ends[1]
    for batch in ((0, 1), {0, 1}, range(2), (i for i in range(2)), torch.tensor([0, 1])):
        loaded = DataLoader(data.TensorDataset(*tensors), batch_sampler=[batch])
        assert [part.tolist() for part in next(iter(loaded))] == [[[0., 1.], [2., 3.]], [0, 1], [False, False]]
    rows = data.TensorDataset(tensors[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(default_collate_fn_map, torch.Tensor, lambda batch, **options: torch.stack(batch) * 100)
        assert next(iter(DataLoader(rows, batch_size=3)))[0].tolist() == [0, 100, 200]
        patch.undo()
        patch.setattr(rows, "__getitems__", lambda indices: [rows[index] for index in indices[::-1]], raising=False)
        assert next(iter(DataLoader(rows, batch_size=3)))[0].tolist() == [2, 1, 0]
    weights = torch.ones(4, requires_grad=True)
    (batch,), *_ = DataLoader(data.TensorDataset(weights), batch_size=2)
    assert type(batch.grad_fn).__name__ == "StackBackward0"


def test_the_processes_stay_only_if_they_are_to() -> None:
    for persistent in (False, True):
        loader = DataLoader(Draws(4), batch_size=None, num_workers=2, persistent_workers=persistent)
        first, second = ({sample[3] for sample in loader} for _ in range(2))
        assert (first == second) is persistent
    del loader
    wait_until(lambda: not multiprocessing.active_children())


@on_unix
def test_a_killed_worker_is_reported_within_seconds() -> None:
    began = time.monotonic()
    with pytest.raises(RuntimeError, match=r"^DataLoader worker \(pid\(s\) \d+\) exited unexpectedly\n.*signal 9"):
        list(DataLoader(Killed(), num_workers=2))
    assert time.monotonic() - began < 60
    wait_until(lambda: not multiprocessing.active_children())


def test_an_iterator_that_is_left_early_leaves_no_process() -> None:
    batches = iter(DataLoader(Endless(), batch_size=2, num_workers=2))
    assert next(batches).tolist() == [1, 1]
    assert multiprocessing.active_children()
    del batches
    wait_until(lambda: not multiprocessing.active_children())


@on_unix
def test_ctrl_c_ends_the_program_and_its_workers(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import signal, time, torch\nfrom torch.utils.data import DataLoader, IterableDataset\n"
                       "class Slow(IterableDataset):\n    def __iter__(self):\n        while True:\n"
                       "            time.sleep(.1)\n            yield 1\n"
                       "if __name__ == '__main__':\n"
                       "    signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                       "    for batch in DataLoader(Slow(), num_workers=2):\n        print('batch', flush=True)\n")
    with subprocess.Popen([sys.executable, "-m", "retrograd", "run", str(program)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "batch\n"
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait(timeout=60) != 0
    wait_until(lambda: not alive(running.pid))


def alive(group: int) -> bool:
    """Whether a process of the group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(true: Any) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(.05)


def test_an_iterator_is_not_pickled() -> None:
    with pytest.raises(NotImplementedError):
        pickle.dumps(iter(DataLoader(Numbers())))


def test_pinning_keeps_the_structure() -> None:
    class Batch:
        def pin_memory(self) -> str:
            return "pinned"

    pinned = data._utils.pin_memory.pin_memory({"a": Batch(), "b": (1, [Batch()]), "c": "text"})
    assert pinned == {"a": "pinned", "b": (1, ["pinned"]), "c": "text"}


def test_more_workers_than_cores_are_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"^This DataLoader will create 999 worker processes in total"):
        DataLoader(Numbers(), num_workers=999)


def test_the_program_of_wrong_calls_ends() -> None:
    assert printed("data_faults.py", *OURS)[0] == (
        "KeyError Caught KeyError in DataLoader worker process 0. KeyError: 'five'")


def test_a_sampler_with_very_many_samples_begins_at_once() -> None:
    sampler = data.RandomSampler(range(100), replacement=True, num_samples=10**15,
                                 generator=torch.Generator().manual_seed(0))
    first = data.RandomSampler(range(100), replacement=True, num_samples=64, generator=torch.Generator().manual_seed(0))
    assert [*itertools.islice(sampler, 64)] == [*first]


def test_data_pipes_are_names_that_say_what_to_use() -> None:
    """Packages import the classes to ask whether a dataset is a pipe."""
    assert not isinstance(Numbers(), (data.IterDataPipe, data.MapDataPipe))
    assert issubclass(data.IterDataPipe, IterableDataset)
    for call in (data.IterDataPipe, data.MapDataPipe, lambda: data.functional_datapipe("batch")):
        with pytest.raises(NotImplementedError, match="write a Dataset or an IterableDataset"):
            call()
    with pytest.raises(AttributeError, match="write a Dataset or an IterableDataset"):
        _ = data.datapipes


@pytest.mark.parametrize("workers", [0, 1])
def test_a_batch_of_different_sizes_names_the_samples_and_their_places(workers: int) -> None:
    samples = [torch.ones(3), torch.ones(5), torch.ones(3)] * 4
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size") as caught:
        next(iter(data.DataLoader(samples, sampler=[9, 10, 0, 1], batch_size=4, num_workers=workers)))
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert "\n  given      [3] at 0, 2; [5] at 1, 3\n" in said
    assert "\n  batch      of the dataset at 9, 10, 0, 1" in said


def test_sparse_samples_and_workers_that_prefetch_nothing_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"^Batches of sparse tensors are not currently supported by the default "):
        data.default_collate([torch.eye(2).to_sparse()] * 2)
    with pytest.raises(AssertionError, match=r"^prefetch_factor must be greater than 0 for MultiProcessingDataLoader"):
        iter(DataLoader(Numbers(), num_workers=1, prefetch_factor=0))
