"""Programs that run in several processes, and how a test starts them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent
SOURCE = Path(__file__).parents[3] / "src"


def environment() -> dict[str, str]:
    """The environment of a test without what a launcher says, and with one thread for each process."""
    said = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "PMI_", "MPI_", "OMPI_", "SLURM_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(said)}
    return kept | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def free_port() -> str:
    """A port that no process uses."""
    with socket.create_server(("localhost", 0)) as server:
        return str(server.getsockname()[1])


def launched(program: str, count: int, seconds: float, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The result of `retrograd launch` with a program of this folder. It may take so many seconds."""
    command = [sys.executable, "-m", "retrograd", "launch", "--nproc", str(count), str(PROGRAMS / f"{program}.py")]
    return subprocess.run([*command, *arguments], env=environment() | {"PYTHONPATH": str(SOURCE)},
                          capture_output=True, text=True, timeout=seconds)
