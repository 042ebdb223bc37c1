"""Several real processes: what they compute together, and that every fault ends the job in time, with its reason."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from needing import needs
from programs.launched import SOURCE, environment, launched
from retrograd.command import launch
from retrograd.compilation.native.host import available
from retrograd.distributed import checkpoint

SECONDS = 300                                              # until a test gives up; none needs more than a few
starts = needs("mpi4py", "mpiexec")


@pytest.mark.sampled(2)
@starts
@pytest.mark.parametrize("count", [2, 4])
def test_facts_of_processes(count: int, tmp_path: Path) -> None:
    result = launched("checks", count, SECONDS, str(tmp_path / "saved"))
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"checked by \d", result.stdout)) == [f"checked by {rank}" for rank in range(count)]
    assert sorted([path.name for path in tmp_path.iterdir()]) == ["saved", "saved in parts"]
    assert {path.name for path in (tmp_path / "saved").iterdir()} == {
        ".metadata", *(f"__{rank}_0.distcp" for rank in range(count))}
    for rank in range(count):                              # one process reads what several have written
        state: dict[str, Any] = {"own": {f"rank {rank}": {"rank": torch.zeros(3)}}, "step": None}
        checkpoint.load(state, checkpoint_id=tmp_path / "saved")
        assert state["own"][f"rank {rank}"]["rank"].tolist() == [rank] * 3
        assert state["step"] == 1
    with pytest.raises(RuntimeError, match="^Missing key in checkpoint state_dict: other"):
        checkpoint.load({"other": 1}, checkpoint_id=tmp_path / "saved")
    with pytest.raises(ValueError, match="^Size mismatch between saved torch.Size.* and current"):
        checkpoint.load({"model": {"0.bias": torch.zeros(1)}}, checkpoint_id=tmp_path / "saved")


@pytest.mark.sampled(2)
@starts
@pytest.mark.parametrize("count", [2, 3])
def test_compiled_functions_of_processes(count: int) -> None:
    """`RETROGRAD_PROGRAMS=500` in the environment runs so many random programs."""
    first, programs = 10_000 * count, int(os.environ.get("RETROGRAD_PROGRAMS", "5"))
    backends = ["numpy", *(["llvm"] if available() else [])]
    result = launched("compiled", count, SECONDS + 2 * programs, str(first), str(first + programs), *backends)
    assert result.returncode == 0, result.stderr
    assert sorted(re.findall(r"compared by \d", result.stdout)) == [f"compared by {rank}" for rank in range(count)]


PLACE = r'File ".*faults.py", line \d+, in <module>'
FAULTS = {
    "shape": (60, r"DistBackendError: Detected mismatch between collectives on ranks\.\n.*ranks 0, 2: "
                  rf"all_reduce\(\(4,\), float32, SUM\), {PLACE}\n"
                  rf".*rank 1: all_reduce\(\(3,\), float32, SUM\), {PLACE}"),
    "dtype": (60, r"Detected mismatch(.|\n)*rank 1: all_reduce\(\(4,\), float64, SUM\)"),
    "kind": (60, r"Detected mismatch(.|\n)*ranks 0, 2: broadcast\(\(4,\), float32, from 0\).*\n"
                 r".*rank 1: barrier\(\)"),
    "new group": (60, r"Detected mismatch(.|\n)*ranks 0, 2: new_group\(\(0, 1\)\)"),
    "late": (1, rf"Timed out waiting 1000ms for all_reduce to complete\.\n.*rank [02] waits in all_reduce.*{PLACE}\n"
                r"(.|\n)*rank 1 is outside of collectives; the last was number 1: all_reduce\(\(4,\), float32, SUM\)"),
    "stopped": (1, r"Timed out waiting 1000ms for all_gather to complete"),
    "raises": (60, rf"Rank 1 failed: ValueError: bad data\. Rank [02] waited for it in all_reduce\(\(4,\).*{PLACE}"),
    "ends": (60, r"Rank 1 has ended its program and will not come\. Rank [02] waited for it in all_reduce"),
    "no message": (1, r"Timed out waiting 1000ms for recv to complete"),
    "long message": (60, r"MPI failed in recv\(\(2,\), float32, from 1\).*8 bytes received but buffer size is 16"),
    "gives up": (1, r"No operation of this group can follow: Rank [02] gave up in all_reduce\(\(4,\), float32, SUM\)"),
    "other sizes": (60, r"Detected mismatch between the sizes of all_to_all_single on ranks\.\n"
                        r".*rank 1 sends 2 elements to rank [02], which expects 1"),
    "killed": (60, r"A process was killed or ended the job\. mpiexec names rank [012](.|\n)*"
                   r"rank 0 is in number 2: all_reduce\(\(4,\), float32, SUM\)(.|\n)*rank 1 is outside of collectives"),
}


@pytest.mark.sampled(3)                                    # each starts three processes, and some wait for a timeout
@starts
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_end_the_job(fault: str) -> None:
    timeout, message = FAULTS[fault]
    result = launched("faults", 3, SECONDS, fault, str(timeout))
    assert result.returncode != 0
    assert re.search(message, result.stderr), result.stderr


@starts
def test_a_checkpoint_is_whole_or_not_there(tmp_path: Path) -> None:
    torch.distributed.checkpoint.save({"x": torch.zeros(4)}, checkpoint_id=tmp_path / "saved")
    result = launched("faults", 3, SECONDS, "saves half", "60", str(tmp_path / "saved"))
    assert result.returncode != 0
    state = {"x": torch.ones(4)}
    checkpoint.load(state, checkpoint_id=tmp_path / "saved")
    assert state["x"].tolist() == [0] * 4


# Without processes

def test_one_process_needs_no_mpi() -> None:
    program = ("import sys, retrograd; early = {*sys.modules}; d = retrograd.distributed; "
               "d.init_process_group(store=1, rank=0, world_size=1); d.all_reduce(retrograd.ones(2)); "
               "print('mpi4py' in sys.modules, 'retrograd.distributed' in early)")
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS,
                            env=environment() | {"PYTHONPATH": str(SOURCE)})
    assert result.stdout == "False False\n", result.stderr


@starts
def test_another_size_than_that_of_the_launcher_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import os, torch\nos.environ['WORLD_SIZE'] = '3'\ntorch.distributed.init_process_group()")
    result = subprocess.run([sys.executable, "-m", "retrograd", "launch", "--nproc", "2", program], timeout=SECONDS,
                            env=environment() | {"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True)
    assert result.returncode != 0
    assert "environment variable WORLD_SIZE=3, but MPI started 2 processes" in result.stderr


@needs("mpi4py")
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert torch.distributed.is_mpi_available()
    assert torch.distributed.is_backend_available("mpi")
    torch.distributed.init_process_group("mpi")            # nobody launched: the group of one process
    assert torch.distributed.get_world_size() == 1
    torch.distributed.destroy_process_group()
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "mpi4py" else find(name))
    assert not torch.distributed.is_mpi_available()
    with pytest.raises(RuntimeError, match=r"^Distributed package doesn't have MPI built in\n") as raised:
        torch.distributed.init_process_group("mpi")
    assert str(raised.value) == "Distributed package doesn't have MPI built in"
    assert "Install it: pip install mpi4py mpich" in raised.value.__notes__[0]


@pytest.mark.parametrize(("arguments", "message"), [
    (["--nproc", "0", "x.py"], "--nproc must be at least 1, not 0"),
    (["-n", "0", "x.py"], "--nproc must be at least 1, not 0"),
    (["-"], "standard input cannot be given to several processes")])
def test_the_launcher_says_what_is_wrong(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-m", "retrograd", "launch", *arguments], capture_output=True, text=True,
                            timeout=SECONDS, env=environment() | {"PYTHONPATH": str(SOURCE)}, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr


def test_the_report_of_a_death_names_the_rank(tmp_path: Path) -> None:
    for rank, (pid, inside, call) in enumerate([(11, 1, "barrier()"), (12, 0, "")]):
        (tmp_path / str(rank)).write_bytes(b"%d\n%d\n3\n%b\n\0\0" % (pid, inside, call.encode()))
    assert launch.report(str(tmp_path), 3, 12).splitlines() == [
        "retrograd launch: A process was killed or ended the job. mpiexec names rank 1. The last entries of all ranks:",
        "  rank 0 is in number 3: barrier()", "  rank 1 has called no collective yet"]


@starts
@pytest.mark.skipif(os.name == "nt", reason="an interrupt of Windows reaches all processes of a console")
def test_an_interrupt_is_told_by_the_program_alone(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("import time\nprint('runs', flush=True)\ntime.sleep(100)")
    command = [sys.executable, "-m", "retrograd", "launch", "-n", "2", "long.py"]
    with subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline(), process.stdout.readline()] == ["runs\n", "runs\n"]
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(SECONDS) == 130
        assert process.stdout.read().strip() in ("", "Ctrl-C caught... cleaning up processes")     # mpiexec says this
        assert "retrograd launch" not in process.stderr.read()


def test_a_report_without_entries_ends_with_its_sentence(tmp_path: Path) -> None:
    assert launch.report(str(tmp_path), 2, 12) == (
        "retrograd launch: A process was killed or ended the job. mpiexec names process 12.")
