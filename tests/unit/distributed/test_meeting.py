"""Processes that nobody launched together meet at an address, and none waits for one that will not come."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import retrograd as torch
from needing import needs
from programs.launched import PROGRAMS, SOURCE, environment, free_port, launched
from retrograd.distributed.meeting import address_of

SECONDS = 100
SPAWNED = PROGRAMS.parent / "spawned.py"
starts = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with fork")


def spawned(count: int, fault: str, *launcher: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "retrograd", *(launcher or ("run",)), str(SPAWNED), str(count), fault, free_port()]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS,
                          env=environment() | {"PYTHONPATH": str(SOURCE)})


@starts
@needs("mpi4py")
@pytest.mark.parametrize("count", [2, 3])
def test_spawned_processes_train_together(count: int) -> None:
    result = spawned(count, "none")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == [*map(str, range(count))], result.stderr
    assert len({line[-1] for line in lines}) == 1
    assert spawned(count, "exits at the end").stdout == result.stdout


@starts
@needs("mpi4py", "mpiexec")
def test_a_launched_process_may_spawn_processes() -> None:
    result = spawned(2, "none", "launch", "--nproc", "1")
    assert len(result.stdout.splitlines()) == 2, result.stderr
    assert result.stdout == spawned(2, "none").stdout


@starts
@needs("mpi4py")
@pytest.mark.parametrize(("fault", "message"), [
    ("raises", "ProcessRaisedException ValueError: bad data"),
    ("is killed", "ProcessExitedException process 1 terminated with signal SIGKILL"),
    ("exits", "ProcessRaisedException torch.distributed.DistBackendError: Rank 1 failed: its process has ended, but "
              "not its program: by os._exit or by a signal.")])
def test_a_fault_of_one_process_ends_all(fault: str, message: str) -> None:
    result = spawned(2, fault)
    assert result.stdout.startswith(message), result


def by_hand(text: str, folder: Path, *places: tuple[int, int]) -> list[subprocess.CompletedProcess[str]]:
    """The results of a program that is started once for each (rank, size)."""
    folder.mkdir(exist_ok=True)
    (folder / "program.py").write_text(f"import datetime, torch, torch.distributed as dist\n{text}")
    shared = environment() | {"PYTHONPATH": str(SOURCE), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": free_port()}
    started = [subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "retrograd", "run", str(folder / "program.py")], text=True,
        env=shared | {"RANK": str(rank), "WORLD_SIZE": str(size)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for rank, size in places]
    outputs = [process.communicate(timeout=SECONDS) for process in started]
    return [subprocess.CompletedProcess([], process.returncode, *output)
            for process, output in zip(started, outputs)]


_BEGIN = "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds={}))\n"


@starts
@needs("mpi4py")
def test_processes_may_be_started_by_hand(tmp_path: Path) -> None:
    text = (_BEGIN.format(60) + "x = torch.ones(2) * dist.get_rank()\ndist.all_reduce(x)\n"
            "dist.destroy_process_group()\ndist.init_process_group('gloo')\ndist.all_reduce(x)\n"
            "print(x.tolist(), dist.get_world_size(), dist.get_node_local_rank())")
    results = by_hand(text, tmp_path, (0, 3), (1, 3), (2, 3))
    assert [result.stdout for result in results] == [f"[9.0, 9.0] 3 {rank}\n" for rank in range(3)], results


@starts
@needs("mpi4py")
def test_who_does_not_come_is_missed(tmp_path: Path) -> None:
    """The programs wait at the same time."""
    calls = [(1, [(0, 2)]), (1, [(1, 2)]), (5, [(0, 2), (1, 3)])]
    with ThreadPoolExecutor(len(calls)) as threads:
        (first,), (second,), (_, third) = threads.map(
            lambda call: by_hand(_BEGIN.format(call[0]), tmp_path / str(call), *call[1]), calls)
    assert "Timed out waiting 1000ms for init_process_group to complete. Rank 0 is here" in first.stderr
    assert "DistNetworkError: The client socket has failed to connect to 127.0.0.1:" in second.stderr
    assert "do not agree: rank 1 says that there are 3 processes, and rank 0 says 2" in third.stderr


@starts
@needs("mpi4py")
def test_a_port_that_is_taken_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*os.environ]:
        if name.startswith(("PMI_", "OMPI_", "SLURM_")):
            monkeypatch.delenv(name)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(torch.distributed.DistNetworkError, match=f"has failed to listen.*port: {port}"):
            torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=0, world_size=2)


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MASTER_ADDR", "here")
    monkeypatch.setenv("MASTER_PORT", "29500")
    assert address_of(None) == address_of("env://") == ("here", 29500)
    assert address_of("tcp://there:1234?timeout=3") == ("there", 1234)
    assert address_of("file:///tmp/x") is address_of("store") is None
    monkeypatch.delenv("MASTER_PORT")
    assert address_of(None) is None


@needs("mpi4py", "mpiexec")
@pytest.mark.parametrize(("fault", "message"), [
    ("leaves", r"Rank 1 left by os._exit\(0\), and others had not ended their programs\. The last entries"),
    ("leaves early", r"Rank 1 left by os._exit\(0\), and others wait for it in init_process_group\."),
    ("ends early", r"Rank 1 ended, and others wait for it in init_process_group\."),
    ("other dtype", "DistBackendError: Rank 1 sent int32, but float32 was expected in recv")])
def test_the_launcher_ends_the_job(fault: str, message: str) -> None:
    result = launched("faults", 2, SECONDS, fault, "60")
    assert result.returncode == 1, result
    assert re.search(message, result.stderr), result.stderr


@needs("mpi4py", "mpiexec")
def test_who_leaves_at_the_end_has_done_nothing_wrong() -> None:
    assert launched("faults", 2, SECONDS, "leaves at the end", "60").returncode == 0
