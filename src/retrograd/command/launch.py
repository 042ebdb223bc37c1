"""Start a program as several processes that compute together, through mpiexec.

The processes write what they do into small files in a folder, the board. If a process is killed, the others are
killed, too, and the launcher says from the board which process it was and what all were doing.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from retrograd.command.run import add_program
from retrograd.extras import remedy
from retrograd.foundations.board import VARIABLE, Entry, entry, notes

_LEFT_WELL = "left by os._exit(0)"
_LOOK = 0.5                # seconds between two looks at what the processes have noted
_KILLED = re.compile(rb"PID (\d+) RUNNING AT")
_INTERRUPTED = 130
# How the lines begin by which mpiexec tells of processes that an interrupt has ended.
_OF_MPIEXEC = (b"[mpiexec@", b"=====", b"=   ", b"YOUR APPLICATION TERMINATED", b"This typically refers to a problem",
               b"Please see the FAQ page")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd launch``."""
    parser.description = ("Start a program as several processes on this machine, as mpiexec does. In each process "
                          "`import torch` means retrograd, and torch.distributed.init_process_group finds the others.")
    parser.epilog = ("examples:\n  retrograd launch -n 4 train.py --epochs 3\n"
                     "  retrograd launch --nproc 2 -m package.train")
    parser.add_argument("-n", "--nproc", "--nproc-per-node", dest="nproc", type=int, default=os.cpu_count(),
                        metavar="N", help="how many processes; by default as many as processors")
    add_program(parser)
    parser.set_defaults(elsewhere=True)


def run(options: argparse.Namespace) -> int:
    """Start the processes, and wait for them. Returns the exit status: 0 if all succeeded."""
    if options.nproc < 1:
        return _problem(f"--nproc must be at least 1, not {options.nproc}")
    if options.script == "-":
        return _problem("standard input cannot be given to several processes; name a file")
    starter = mpiexec()
    if starter is None:
        return _problem(f"there is no mpiexec. {remedy('distributed')}")
    program = ["-m", options.module] if options.module is not None else [options.script]
    command = [starter, "-n", str(options.nproc), sys.executable, *_interpreter(), "-m", "retrograd", "run", *program,
               *options.arguments]
    with tempfile.TemporaryDirectory(prefix="retrograd-") as board:
        status, killed, reason = _run(command, os.environ | _settings(board), board, options.nproc)
        if status == _INTERRUPTED:
            return status
        ends = [(notes(board, rank) or [""])[-1] for rank in range(options.nproc)]
        if all([end in ("ended", _LEFT_WELL) for end in ends]):
            return 0 if _LEFT_WELL in ends else status       # mpiexec may kill a process that only waits for its end
        reason = reason or _lost(ends)
        if reason or killed is not None:
            print(report(board, options.nproc, killed, reason), file=sys.stderr)
    return 1 if reason else status


def mpiexec() -> str | None:
    """The mpiexec beside this Python, which pip installed with MPICH; otherwise that of the machine."""
    beside = Path(sys.executable).with_name("mpiexec")
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("mpiexec")


def _problem(message: str) -> int:
    print(f"retrograd launch: {message}", file=sys.stderr)
    return 2


def _interpreter() -> list[str]:
    """The options of this interpreter that the processes share."""
    return [f"-W{option}" for option in sys.warnoptions]


def _settings(board: str) -> dict[str, str]:
    """The environment of the processes: where the board is, and one thread for each, unless the user says otherwise."""
    threads = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    return {VARIABLE: board, **threads}


def _lost(ends: list[str]) -> str:
    """Which process called `os._exit` while others did not end their programs; empty if none did."""
    return next((f"Rank {rank} {end}, and others had not ended their programs." for rank, end in enumerate(ends)
                 if end.startswith("left")), "")


def _unreachable(board: str, count: int) -> str:
    """Which process has ended while others wait for it in `init_process_group`; empty if there is none."""
    said = [notes(board, rank) for rank in range(count)]
    gone = [rank for rank, words in enumerate(said) if words and words[-1] != "meets" and "met" not in words]
    waits = any([words and words[-1] == "meets" for words in said])
    if not gone or not waits:
        return ""
    return f"Rank {gone[0]} {said[gone[0]][-1]}, and others wait for it in init_process_group."


def _watch(process: subprocess.Popen[bytes], board: str, count: int, found: list[str]) -> None:
    """End the job if processes wait for one that has ended. The reason is put into `found`."""
    while process.poll() is None:
        time.sleep(_LOOK)
        reason = _unreachable(board, count)
        if reason and process.poll() is None:
            found.append(reason)
            process.terminate()
            return


def _run(command: list[str], environment: dict[str, str], board: str, count: int) -> tuple[int, int | None, str]:
    """The exit status of mpiexec, the id of the process that was killed, if mpiexec names one, and why the job was
    ended from here.

    The output passes through. Signals go to mpiexec, which ends the processes. After an interrupt from the terminal the
    status says so, whatever mpiexec makes of it.
    """
    reasons: list[str] = []
    signals: list[int] = []
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, lambda number, _: _pass_on(number, process, signals))
        threading.Thread(target=_watch, args=(process, board, count, reasons), daemon=True).start()
        assert process.stdout is not None
        killed = _passed_on(process.stdout, signals)
        status = process.wait()
    if signal.SIGINT in signals:
        return _INTERRUPTED, None, ""
    return (status if status >= 0 else 128 - status), killed, "".join(reasons)


def _pass_on(number: int, process: subprocess.Popen[bytes], signals: list[int]) -> None:
    """Send a signal to mpiexec, and note it. Windows can only end a process."""
    signals.append(number)
    process.send_signal(signal.SIGTERM if os.name == "nt" else number)


def _passed_on(stream: IO[bytes], signals: list[int]) -> int | None:
    """Write the lines of a stream to the standard output. Returns the process id in mpiexec's report of a death.

    Of processes that an interrupt has ended, mpiexec's report is left out.
    """
    killed = None
    for line in iter(stream.readline, b""):
        found = _KILLED.search(line)
        killed = int(found[1]) if found else killed
        if sys.stdout is not None and not (signal.SIGINT in signals and line.startswith(_OF_MPIEXEC)):
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
    return killed


def report(board: str, count: int, killed: int | None, reason: str = "") -> str:
    """What all processes were doing when one was killed. mpiexec may name a process that died of the death of another.
    """
    entries: dict[int, Entry] = {rank: found for rank in range(count) if (found := entry(board, rank)) is not None}
    dead = next((f"rank {rank}" for rank, found in entries.items() if found.pid == killed), f"process {killed}")
    said = f"retrograd launch: {reason or f'A process was killed or ended the job. mpiexec names {dead}.'}"
    if not entries:
        return said
    return "\n".join([f"{said} The last entries of all ranks:",
                      *[f"  rank {rank} {found}" for rank, found in entries.items()]])
