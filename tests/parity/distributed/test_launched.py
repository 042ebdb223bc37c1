"""The same programs in several processes: PyTorch on gloo against retrograd on MPI."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from programs.launched import PROGRAMS, environment, launched

SECONDS = 120


def lines(text: str) -> dict[str, dict[str, Any]]:
    """What each program has printed: a value under each name."""
    found: dict[str, dict[str, Any]] = {}
    for name, value in map(json.loads, text.splitlines()):
        if name == "program":
            printed = found.setdefault(value, {})
        else:
            assert name not in printed, f"{name} is told twice"
            printed[name] = value
    return found


def on_gloo(programs: Sequence[str], count: int, meeting: Path) -> str:
    """What process 0 prints with PyTorch. The processes meet in a folder before they close their connections."""
    said = environment() | {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "PYTHONPATH": "",
                            "MASTER_PORT": str(20000 + os.getpid() % 12000), "MEETING": str(meeting)}
    command = [sys.executable, str(PROGRAMS / "together.py"), *programs]
    started = [subprocess.Popen(command, env=said | {"RANK": str(rank)}, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True) for rank in range(count)]
    try:
        (printed, errors), *_ = [process.communicate(timeout=SECONDS) for process in started]
        assert started[0].returncode == 0, errors
        return printed
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


@pytest.mark.parametrize(("count", "least"), [
    (2, {"collectives": 183, "sharded": 373, "states": 227}), (4, {"training": 75, "sharded": 373, "states": 227})])
def test_processes_say_the_same(count: int, least: dict[str, int], tmp_path: Path) -> None:
    theirs, result = lines(on_gloo([*least], count, tmp_path)), launched("together", count, SECONDS, *least)
    assert result.returncode == 0, result.stderr
    ours = lines(result.stdout)
    for program, number in least.items():
        assert len(theirs[program]) >= number
        for name, expected in theirs[program].items():
            same(f"{program}: {name}", ours[program][name], expected)


def same(name: str, ours: Any, theirs: Any) -> None:
    mine, other = [*flat(ours)], [*flat(theirs)]
    assert len(mine) == len(other), name
    near = 1e-3 if "halves" in name else 2e-5            # sums of halves are rounded after each addition
    for one, two in zip(mine, other):
        close = isinstance(two, float) and isinstance(one, float)
        assert one == (pytest.approx(two, rel=10 * near, abs=near, nan_ok=True) if close else two), name
