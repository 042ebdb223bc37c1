"""The board: one small file for each process, which says what the process did last.

`retrograd launch` makes the folder. A process writes into memory that the operating system keeps in the file, so an
entry costs about a microsecond and stays if the process is killed. The launcher and the other processes read it.
A second file has notes: that the process meets the others, has met them, and has ended its program.
"""

from __future__ import annotations

import atexit
import mmap
import os
from pathlib import Path
from typing import NamedTuple, NoReturn

VARIABLE = "RETROGRAD_BOARD"
_SIZE = 1024


class Entry(NamedTuple):
    """What one process wrote: its id, whether it is inside of the call, how many calls it began, and the call."""

    pid: int
    inside: bool
    number: int
    call: str

    def __str__(self) -> str:
        if not self.call:
            return "has called no collective yet"
        where = "is in" if self.inside else "is outside of collectives; the last was"
        return f"{where} number {self.number}: {self.call}"


class Board:
    """The file of this process. Without the folder nothing is written."""

    def __init__(self, rank: int) -> None:
        folder = os.environ.get(VARIABLE)
        self.memory: mmap.mmap | None = None
        if folder and Path(folder).is_dir():
            path = Path(folder, str(rank))
            path.write_bytes(b"%d\n0\n0\n\n".ljust(_SIZE, b"\0") % os.getpid())
            with path.open("r+b") as file:
                self.memory = mmap.mmap(file.fileno(), _SIZE)
            self.start = self.memory.find(b"\n") + 1

    def enter(self, count: int, call: bytes) -> None:
        """Note that the process is in a call."""
        if self.memory is not None:
            text = b"1\n%d\n%b\n" % (count, call[:_SIZE - 64])
            self.memory[self.start:self.start + len(text)] = text

    def leave(self) -> None:
        """Note that the process has left the call."""
        if self.memory is not None:
            self.memory[self.start] = 48


def note(rank: int, word: str) -> None:
    """Add a word to the notes of a process: how far it is, outside of calls. Without the folder nothing is written."""
    folder = os.environ.get(VARIABLE)
    if folder and Path(folder).is_dir():
        with Path(folder, f"{rank}.notes").open("a") as file:
            file.write(f"{word}\n")


def notes(folder: str | os.PathLike[str], rank: int) -> list[str]:
    """The words that the process of this rank has noted."""
    try:
        return Path(folder, f"{rank}.notes").read_text().split("\n")[:-1]
    except OSError:
        return []


def note_end(rank: int) -> None:
    """Have this process note that its program ends: "ended", or "left" with the status if it calls `os._exit`."""
    process, leave = os.getpid(), os._exit

    def leaving(status: int) -> NoReturn:
        if os.getpid() == process:                       # not in a process that it has forked
            note(rank, f"left by os._exit({status})")
        leave(status)

    atexit.register(note, rank, "ended")
    os._exit = leaving


def entry(folder: str | os.PathLike[str], rank: int) -> Entry | None:
    """What the process of this rank wrote last; None if it has no file."""
    try:
        pid, inside, count, call, *_ = Path(folder, str(rank)).read_bytes().split(b"\n", 4)
        return Entry(int(pid), inside == b"1", int(count), call.decode(errors="replace"))
    except (OSError, ValueError):
        return None
