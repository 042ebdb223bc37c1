"""Loading of data: the same batches in the same order as PyTorch for the same seed, with and without workers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"


def printed(program: str, *command: str) -> list[str]:
    ran = subprocess.run([sys.executable, *command, str(PROGRAMS / program)], capture_output=True, text=True,
                         env=os.environ | {"OMP_NUM_THREADS": "1"}, timeout=400)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


@pytest.mark.parametrize("program", ["data_loading.py", "data_faults.py"])
def test_prints_the_same_as_on_pytorch(program: str) -> None:
    ours = printed(program, "-m", "retrograd", "run")
    assert len(ours) > 40
    assert ours == printed(program)
