"""Random lives of a trained model, compiled and as they are: what a program does between steps shows in the next step.

`RETROGRAD_PROGRAMS=5000` in the environment runs so many lives with each executor.
"""

from __future__ import annotations

import os

import pytest

import retrograd as torch
from compiled.sizes import EXECUTORS
from programs.lives import compared, life

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "60"))
GROUPS = 20


@pytest.mark.sampled(20)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_lives(group: int, backend: str) -> None:
    """Machine code rounds otherwise than NumPy, so its lives are steady."""
    stay = 0
    seeds = range(group, COUNT, GROUPS)
    for seed in seeds:
        chosen = life(seed, steady=backend == "llvm")
        found = compared(torch, chosen, backend)
        assert not found.difference, f"seed {seed}\n{chosen.text()}\n{found.difference}"
        stay += not found.reasons
    assert stay >= len(seeds) // 4
