"""Random programs that hold, change and hand on what compiled functions give, compiled and as they are.

`RETROGRAD_PROGRAMS=5000` in the environment runs so many programs with each executor.
"""

from __future__ import annotations

import os

import pytest

import retrograd as torch
import retrograd.amp
import retrograd.utils.checkpoint
from compiled.sizes import EXECUTORS
from programs.held_programs import compared, program, shrunk

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "200"))
GROUPS = 20


@pytest.mark.sampled(20)
@pytest.mark.parametrize("backend", EXECUTORS)
@pytest.mark.parametrize("group", range(GROUPS))
def test_held_results(group: int, backend: str) -> None:
    """Machine code rounds otherwise than NumPy, so its programs are steady."""
    stay = 0
    seeds = range(group, COUNT, GROUPS)
    for seed in seeds:
        held = program(seed, steady=backend == "llvm")
        found = compared(torch, held, backend)
        if found.difference:
            fewer = shrunk(torch, held, backend)
            told = compared(torch, fewer, backend).difference
            pytest.fail(f"seed {seed}\n{fewer.text()}\n{told or found.difference}")
        stay += not found.reasons
    assert stay > len(seeds) // 2
