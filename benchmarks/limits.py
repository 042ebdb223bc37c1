"""What no program on NumPy can beat on this machine: the memory's speed, and the cost of a call of NumPy."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from statistics import median
from time import perf_counter

import numpy

ELEMENTS = 10**7    # more than the caches hold
ROUNDS = 15
CALLS = 20_000


def copy_seconds(threads: int | None = None) -> float:
    """The seconds that a copy takes for each float32: 4 bytes are read and 4 are written, by all processors at once."""
    count = threads or os.cpu_count() or 1
    source, target = numpy.ones(ELEMENTS, "float32"), numpy.zeros(ELEMENTS, "float32")
    parts = [slice(i * ELEMENTS // count, (i + 1) * ELEMENTS // count) for i in range(count)]
    times = []
    with ThreadPoolExecutor(count) as pool:
        for _ in range(ROUNDS):
            start = perf_counter()
            for done in [pool.submit(numpy.copyto, target[part], source[part]) for part in parts]:
                done.result()
            times.append(perf_counter() - start)
    return min(times) / ELEMENTS


def call_seconds() -> float:
    """The seconds of a call of NumPy that multiplies two numbers by two numbers and makes an array for the result."""
    one, other, times = numpy.ones(2, "float32"), numpy.ones(2, "float32"), []
    for _ in range(ROUNDS):
        start = perf_counter()
        for _ in repeat(None, CALLS):
            numpy.multiply(one, other)
        times.append((perf_counter() - start) / CALLS)
    return median(times)


def all_limits() -> dict[str, float]:
    """Both limits, for JSON."""
    return {"copy_seconds_each": copy_seconds(), "gigabytes_a_second": 8e-9 / copy_seconds(),
            "call_seconds": call_seconds()}
