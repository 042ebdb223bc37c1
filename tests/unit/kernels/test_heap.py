"""Memory that was freed serves the next tensor, and no memory serves two tensors at once."""

from __future__ import annotations

import platform
import random
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.kernels.native import door, heap
from retrograd.kernels.native.heap import Blocks

_LOOP = """
import resource
import retrograd as torch

torch.set_num_threads(1)
x = torch.ones({size}, requires_grad=True)

def step():
    x.grad = None
    (x.exp() * x).sum().backward()

for _ in range(3):
    step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
_F32 = np.dtype(np.float32)
counted = pytest.mark.skipif(not heap.Blocks()._free, reason="this interpreter does not count references")


def fresh_pages(size: int) -> int:
    done = subprocess.run([sys.executable, "-c", _LOOP.format(size=size)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have ways of their own")
@pytest.mark.skipif(door.ctypes is None, reason=f"the heap stays as it is: {door.why_off}")
def test_steps_take_no_fresh_pages() -> None:
    assert fresh_pages(1_000_000) < 1000                    # a tensor of these is about a thousand pages


@counted
@pytest.mark.parametrize("hold", [
    lambda array: array, lambda array: array[1:], lambda array: array.T, lambda array: array.view(np.uint8),
    lambda array: array.reshape(-1)[::2], memoryview, lambda array: memoryview(array)[1:], np.asarray, iter,
    lambda array: np.broadcast_to(array, (2, *array.shape)), lambda array: np.frombuffer(array, np.uint8),
    lambda array: np.lib.stride_tricks.as_strided(array, (1,), (4,)), lambda array: torch.from_numpy(array)[1:],
    lambda array: torch.from_dlpack(torch.from_numpy(array)).numpy(), lambda array: array.flat, lambda array: [array],
])
def test_a_block_serves_again_once_nothing_uses_it(hold: Any) -> None:
    blocks = Blocks(least=64)
    array = blocks.new((4, 8), _F32)
    place, holder = array.ctypes.data, hold(array)
    del array
    assert blocks.new((4, 8), _F32).ctypes.data != place
    assert blocks.bytes() == 256
    del holder
    found = {blocks.new((4, 8), _F32).ctypes.data for _ in range(3)}
    assert place in found
    assert len(found) == 2


@counted
def test_arrays_are_as_new_arrays() -> None:
    blocks, arrays = Blocks(least=16), []
    for shape, dtype in (((4, 8), _F32), ((30,), np.dtype(np.int16)), ((1, 4, 1), np.dtype(np.complex128))):
        array, new = blocks.new(shape, dtype), np.empty(shape, dtype)
        assert (array.shape, array.strides, array.dtype) == (new.shape, new.strides, new.dtype)
        assert array.flags.carray
        assert torch.from_numpy(array).untyped_storage().nbytes() == new.nbytes
        arrays.append(array)
    assert len(blocks._blocks) == 3
    for shape in ((), (0,), (3,), (0, 100)):                # small arrays come from NumPy
        assert blocks.new(shape, _F32).base is None
    assert len(blocks._blocks) == 3


@counted
def test_blocks_never_need_more_than_arrays_do() -> None:
    """Each array begins when the former one is gone, so one array is all that there is at once."""
    blocks = Blocks(least=64)
    for size in (100, 200, 150, 1000, 16, 999, 500, 501, 30):
        array = blocks.new((size,), _F32)
        del array
        assert blocks.bytes() <= 4000
    kept = [blocks.new((size,), _F32) for size in (100, 200, 300)]
    assert blocks.bytes() == 2400
    del kept[1]
    assert blocks.new((50,), _F32).size == 50               # the free block of 200 makes room
    assert blocks.bytes() == 1800


@counted
def test_no_more_than_the_most_bytes_are_kept() -> None:
    blocks = Blocks(least=64, most=1000)
    arrays = [blocks.new((50,), _F32) for _ in range(20)]
    assert blocks.bytes() == 1000
    assert blocks.new((251,), _F32).base is None
    assert len({array.ctypes.data for array in arrays}) == 20
    arrays.clear()
    assert blocks.new((25,), _F32).size == 25
    assert blocks.bytes() == 900


def test_without_counts_no_block_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heap, "_getrefcount", len)
    blocks = Blocks(least=64)
    assert blocks.new((100,), _F32).base is None
    assert blocks.bytes() == 0


@counted
def test_threads_never_share_memory() -> None:
    """Each thread marks its arrays and views, in any order, and finds its own marks until it lets go of them."""
    blocks, wrong = Blocks(least=64, most=20_000), []

    def work(mark: int) -> None:
        choose, held = random.Random(mark), []
        for turn in range(600):
            array = blocks.new((choose.choice((40, 40, 50, 60)),), _F32)
            array.fill(mark * 1000 + turn)
            held.append((array[5:9] if choose.random() < 0.5 else array, mark * 1000 + turn))
            while len(held) > 12 or (held and choose.random() < 0.4):
                seen, value = held.pop(choose.randrange(len(held)))
                if (seen != value).any():
                    wrong.append((seen, value))
                del seen
            del array

    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert blocks.bytes() <= 20_000 + 4 * 240               # each thread may add one block before it counts again


@counted
def test_large_steps_take_no_fresh_pages() -> None:
    assert fresh_pages(heap.LARGE // 4 + 1000) < 1000       # a tensor of these is eight thousand pages
