"""Sums of float16 and bfloat16 in the order in which PyTorch adds the losses of samples, rounded at each step.

A sum of sixteen terms moves up a level, where sixteen of such sums are added, and so on, for eight levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.dtypes import F32, Array
from ..rounding import in_steps

_LEVELS = 8


def cascade_sum(terms: Array, places: Array, count: int) -> Any:
    """The sum of terms in their dtype. `places` (ascending) are those of the terms among `count` samples."""
    half = terms.dtype
    power = max(4, (count - 1).bit_length() // _LEVELS) if count else 4
    sums, left = terms.astype(F32), np.zeros(_LEVELS, F32)
    for level in range(_LEVELS - 1):
        moves = places & (((1 << power) - 1) << (level * power)) == 0       # after these terms, the sum moves up
        found = _added_in_runs(sums, np.cumsum(moves) - moves, half)
        places = places[moves]
        sums, rest = found[:len(places)], found[len(places):]
        left[level] = rest.sum()                            # of one run at most
    left[-1] = _added(sums, half)
    return np.asarray(_added(left, half), half)


def _added(terms: Array, half: np.dtype[Any]) -> Any:
    found = _added_in_runs(terms, np.zeros(len(terms), np.int64), half)
    return found[0] if len(found) else F32.type(0)


def _added_in_runs(terms: Array, runs: Array, half: np.dtype[Any]) -> Array:
    """The sum of each run of terms, one term after the other. `runs` are the ascending numbers of the runs."""
    starts = np.flatnonzero(np.diff(runs, prepend=-1))
    lengths = np.diff(starts, append=len(terms))
    longest = lengths.max(initial=0)
    if longest > len(starts):
        found = [np.add.accumulate(run.astype(half))[-1] for run in np.split(terms, starts[1:])]
        return np.array(found, half).astype(F32)
    sums = np.zeros(len(starts), F32)
    for step in range(longest):
        longer = lengths > step
        sums[longer] = in_steps(sums[longer] + terms[starts[longer] + step], half)
    return sums
