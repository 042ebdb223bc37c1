"""Random programs run compiled as they run without: results, gradients, memory, views, random streams.

Two of the executors put off all calls of the first run that can be, also those on small arrays.

`RETROGRAD_PROGRAMS=5000` in the environment runs so many seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

import retrograd as torch
import retrograd.utils.checkpoint
from needing import needs
from programs.compiled_programs import checked, shrunk
from programs.putting_off import put_off_everything
from retrograd.compilation import compiled

COUNT = int(os.environ.get("RETROGRAD_PROGRAMS", "100"))
GROUPS = 10
EXECUTORS = ["numpy", "put off, planned", "put off",
             pytest.param("llvm", marks=needs("llvmlite"))]


@pytest.fixture(params=EXECUTORS)
def executor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """What runs the plans. NumPy gives eager's numbers, bit for bit."""
    monkeypatch.setattr(compiled, "native", lambda backend: request.param == "llvm")
    if request.param.startswith("put off"):
        put_off_everything(monkeypatch.setattr, planned=request.param.endswith("planned"))
    state = torch.get_rng_state()
    yield request.param
    torch.set_rng_state(state)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs(executor: str, group: int) -> None:
    smooth, planned = executor == "llvm", 0
    seeds = range(group, COUNT // (1 if executor == "numpy" else 2), GROUPS)
    for seed in seeds:
        author, outcome = checked(torch, seed, smooth)
        if outcome.difference:
            lines: list[Any] = shrunk(torch, author, seed, smooth)
            pytest.fail("\n".join([f"seed {seed}, arguments {author.specs}", *lines, outcome.difference]))
        assert "its plan raises" not in str(outcome.reason)
        planned += outcome.reason is None
    assert planned > len(seeds) // 3                       # many programs are compiled
