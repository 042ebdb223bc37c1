"""The same programs in several processes: PyTorch on gloo against retrograd on MPI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from programs.launched import PROGRAMS, environment, launched

SECONDS = 120


def lines(text: str) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in map(json.loads, text.splitlines())]


def on_gloo(program: str, count: int) -> str:
    """What process 0 of a program prints with PyTorch."""
    folder = environment() | {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "PYTHONPATH": "",
                              "MASTER_PORT": str(20000 + os.getpid() % 20000)}
    started = [subprocess.Popen([sys.executable, PROGRAMS / f"{program}.py"], env=folder | {"RANK": str(rank)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for rank in range(count)]
    try:
        first, *_ = [process.communicate(timeout=SECONDS) for process in started]
        return first[0]
    finally:
        for process in started:
            process.kill()
            process.communicate()


def flat(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from flat([[key, value[key]] for key in sorted(value)])
    elif isinstance(value, list):
        for part in value:
            yield from flat(part)
    else:
        yield value


@pytest.mark.parametrize(("program", "count", "least"), [
    ("collectives", 2, 180), ("training", 4, 65), ("sharded", 2, 346), ("sharded", 4, 346),
    ("states", 2, 227), ("states", 4, 227)])
def test_processes_say_the_same(program: str, count: int, least: int) -> None:
    theirs, result = lines(on_gloo(program, count)), launched(program, count, SECONDS)
    assert result.returncode == 0, result.stderr
    ours = dict(lines(result.stdout))
    assert len(theirs) >= least
    for name, expected in theirs:
        mine, other = [*flat(ours[name])], [*flat(expected)]
        assert len(mine) == len(other), name
        near = 1e-3 if "halves" in name else 2e-5        # sums of halves are rounded after each addition
        for one, two in zip(mine, other):
            close = isinstance(two, float) and isinstance(one, float)
            assert one == (pytest.approx(two, rel=10 * near, abs=near, nan_ok=True) if close else two), name
