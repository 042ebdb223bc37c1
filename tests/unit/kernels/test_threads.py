"""Parts of large work on several threads: all of it is done, in the caller's context, and what goes wrong is told."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar

import pytest

from retrograd.kernels.native import threads

LONG = 1e9
mark: ContextVar[str] = ContextVar("mark")


@pytest.fixture(params=[1, 2, 4])
def workers(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads.available()
    threads.use(request.param)
    yield request.param
    threads.use(before)


def ranges(length: int, cost: float) -> list[tuple[int, int]]:
    done: list[tuple[int, int]] = []
    threads.in_parts(lambda start, stop: done.append((start, stop)), length, cost)
    return sorted(done)


@pytest.mark.parametrize("length", [0, 1, 2, 3, 1000, 1_000_003])
@pytest.mark.parametrize("cost", [0.0, 3e5, 6e5, LONG])
def test_the_ranges_make_up_the_whole(workers: int, length: int, cost: float) -> None:
    found = ranges(length, cost)
    assert [start for start, _ in found] == [0, *[stop for _, stop in found[:-1]]]
    assert found[-1][1] == length
    assert len(found) == max(1, min(workers, length, int(cost) // threads.ENOUGH))


@pytest.mark.parametrize("most", [1, 3, 8, 1000])
@pytest.mark.parametrize("length", [0, 1, 8, 9, 10, 1001, 1200, 9999])
def test_blocks_make_up_a_part_and_are_about_equal(length: int, most: int) -> None:
    found = threads.blocks(5, 5 + length, most)
    assert [block.start for block in found] == [5, *[block.stop for block in found[:-1]]]
    assert found[-1].stop == 5 + length
    lengths = [block.stop - block.start for block in found]
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) <= most + most // 8


def test_each_part_runs_in_a_thread_of_its_own_and_in_the_context_of_the_caller(workers: int) -> None:
    mark.set("the caller's")
    together, seen = threading.Barrier(workers), []

    def work(start: int, stop: int) -> None:
        together.wait(10)
        seen.append(mark.get())

    threads.in_parts(work, 8, LONG)
    assert seen == ["the caller's"] * workers


@pytest.mark.parametrize("broken", [0, 9])
def test_an_error_in_a_part_is_raised_when_all_have_ended(workers: int, broken: int) -> None:
    ended = []

    def work(start: int, stop: int) -> None:
        ended.append(start)
        if start <= broken < stop:
            raise ValueError("in a part")

    with pytest.raises(ValueError, match="in a part"):
        threads.in_parts(work, 10, LONG)
    assert len(ended) == workers
    assert len(ranges(10, LONG)) == workers, "the helpers are free again"


def test_a_part_that_has_parts_does_them_with_whoever_is_free(workers: int) -> None:
    done = []

    def work(start: int, stop: int) -> None:
        threads.in_parts(lambda a, b: done.extend(range(start + a, start + b)), stop - start, LONG)

    threads.in_parts(work, 100, LONG)
    assert sorted(done) == [*range(100)]


def test_several_threads_of_the_program_share_the_helpers(workers: int) -> None:
    done: dict[int, list[int]] = {i: [] for i in range(6)}

    def use(i: int) -> None:
        for _ in range(50):
            done[i].clear()
            threads.in_parts(lambda a, b: done[i].extend(range(a, b)), 100, LONG)

    users = [threading.Thread(target=use, args=(i,)) for i in done]
    for user in users:
        user.start()
    for user in users:
        user.join(30)
    assert all(sorted(numbers) == [*range(100)] for numbers in done.values())
    others = len(threads._Lent.helpers)                      # which native functions of other tests have called
    assert sum(t.name == "retrograd" for t in threading.enumerate()) - others < 4


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")              # Python's, of a fork while there are threads
def test_a_forked_process_makes_its_own(workers: int) -> None:
    assert len(ranges(10, LONG)) == workers
    child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(len(ranges(10, LONG))))
    child.start()
    child.join(30)
    assert child.exitcode == workers


def test_nothing_of_the_work_is_kept() -> None:
    import weakref

    class Large:
        def __call__(self, start: int, stop: int) -> None:
            pass

    work = Large()
    gone = weakref.ref(work)
    threads.in_parts(work, 10, LONG)
    threads.in_parts(lambda start, stop: None, 10, LONG)    # the helper has come back to where it waits
    del work
    assert gone() is None


def test_how_many_threads_there_are() -> None:
    program = "import retrograd; print(retrograd.get_num_threads())"
    for told, count in (({"OMP_NUM_THREADS": "5"}, "5"), ({"OPENBLAS_NUM_THREADS": "3"}, "3"), (
            {"OMP_NUM_THREADS": "none", "OPENBLAS_NUM_THREADS": "2"}, "2")):
        environment = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")} | told
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True,
                              check=True)
        assert done.stdout.strip() == count


AT_THE_END = """
import builtins
import retrograd as torch

class Late:
    def __init__(self):
        self.x, self.w = torch.ones(16, 16, 28, 28), torch.ones(32, 16, 3, 3)

    def __del__(self, F=torch.nn.functional):
        print(F.conv2d(self.x, self.w)[0, 0, 0, 0].item())

builtins._ = late = Late()              # what Python lets go first, when no other thread runs and all modules are whole
torch.nn.functional.conv2d(late.x, late.w)
del late
"""


def test_the_end_of_the_process_does_not_wait_for_helpers() -> None:
    """Daemon threads no longer run there."""
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    result = subprocess.run([sys.executable, "-c", AT_THE_END], env=environment, capture_output=True, text=True,
                            timeout=60)
    assert (result.stdout, result.returncode) == ("144.0\n", 0), result.stderr
