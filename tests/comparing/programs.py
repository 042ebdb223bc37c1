"""Programs that run unchanged with both packages, and must print the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = Path(__file__).parents[1] / "programs"
OURS = ("-m", "retrograd", "run")


def printed(program: str | Path, *command: str, arguments: Sequence[str] = (), timeout: float = 400) -> list[str]:
    """The lines that a program prints, which is a path or a name in `tests/programs`.

    `command` stands between Python and the program, and `arguments` stand after the program.
    """
    ran = subprocess.run([sys.executable, *command, str(PROGRAMS / program), *arguments], capture_output=True,
                         text=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, timeout=timeout)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def same(program: str, lines: int, *arguments: str) -> None:
    """Check that a program prints the same with both packages, and at least so many lines. Both run at once."""
    with ThreadPoolExecutor(2) as threads:
        ours, theirs = threads.map(lambda command: printed(program, *command, arguments=arguments), (OURS, ()))
    assert len(ours) >= lines
    assert ours == theirs
