"""A model of the time of a training step over processes, and what it says up to 1,000 processes.

A message of n bytes takes `latency` + n * `byte` seconds, and the sum of n bytes takes n * `add`. MPI's all-reduce of a
large array over p processes (reduce-scatter, then all-gather; Rabenseifner) so takes

    2 * log2(p) * latency + 2 * (p - 1) / p * n * byte + (p - 1) / p * n * add.

Each bucket is announced by an all-reduce of 16 bytes. Of all this, `overlap` times the backward pass is hidden.
"""

from __future__ import annotations

import math
from typing import NamedTuple

BUCKET = 25 * 1024 * 1024


class Link(NamedTuple):
    """Seconds for a message, for each further byte, and for adding a byte."""

    latency: float
    byte: float
    add: float


def all_reduce(link: Link, count: int, size: float) -> float:
    """The seconds of an all-reduce of `size` bytes over `count` processes."""
    steps, share = math.ceil(math.log2(count)), (count - 1) / count
    if size <= 2048:                                       # recursive doubling: everything travels in each step
        return steps * (link.latency + size * (link.byte + link.add))
    return 2 * steps * link.latency + share * size * (2 * link.byte + link.add)


def fitted(link: Link, seconds: float, size: float) -> Link:
    """The link with the time for a byte that explains an all-reduce of two processes, which also share memory."""
    return link._replace(byte=(seconds - 2 * link.latency) / size - link.add / 2)


def step(link: Link, count: int, size: float, forward: float, backward: float, overlap: float) -> float:
    """The seconds of a training step with `size` bytes of gradients. A part of the backward pass hides some of them."""
    if count == 1:
        return forward + backward
    buckets = max(1, math.ceil(size / BUCKET))
    travel = buckets * (all_reduce(link, count, 16) + all_reduce(link, count, size / buckets))
    last = travel / buckets                                # the last bucket is full only when the pass ends
    return forward + backward + max(last, travel - overlap * backward)


def efficiency(link: Link, count: int, size: float, forward: float, backward: float, overlap: float) -> float:
    """The part of `count` times the speed of one process that `count` processes reach."""
    return (forward + backward) / step(link, count, size, forward, backward, overlap)
