"""What the processes of a job tell each other about faults, so that none waits for a process that will not come.

A process that fails or ends tells all others, and a process that waits reads what others told. If a wait takes too
long, the process asks all others where they are, and its error says what they answered.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
import traceback
from contextlib import suppress
from types import TracebackType
from typing import Any, ClassVar

from ..foundations import board, tracebacks
from ..foundations.errors import user_site
from ..foundations.launching import Everyone, mpi

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "Notices"]

GRACE = 2.0                # seconds in which other processes may answer, or end by themselves
_MANY = 100                # so many messages are kept before it is asked which have been sent


class DistError(RuntimeError):
    """An error of processes that work together."""


class DistBackendError(DistError):
    """The processes do not agree, or one of them is missing."""


class DistNetworkError(DistError):
    """Processes cannot reach each other. Programs catch it; MPI ends the job in that case."""


class DistStoreError(DistError):
    """A store cannot be reached. Programs catch it; there are no stores."""


for _kind in (DistError, DistBackendError, DistNetworkError, DistStoreError):
    _kind.__module__ = "torch.distributed"


class Notices:
    """The messages between the processes of this job. There is one for the process, from the first group on."""

    current: ClassVar[Notices | None] = None

    def __init__(self, comm: Any, meeting: Any = None) -> None:
        self.meeting = meeting                           # with processes that nobody launched
        self.comm, self.rank, self.size = comm, comm.Get_rank(), comm.Get_size()
        self.process = os.getpid()
        self.board = board.Board(self.rank)
        self.counts: dict[str, int] = {}                 # the calls that this process began, by the name of the group
        self.ended: dict[int, dict[str, int]] = {}       # what processes that ended had counted
        self.failed: dict[int, str] = {}
        self.given_up: dict[str, str] = {}               # who gave up an operation of which group
        self.waiting: dict[int, str] = {}                # answers to the last question
        self.here = ""                                   # the call that this process waits in
        self.calls: dict[str, dict[int, str]] = {}       # after a mismatch: the calls of the others
        self.sent: list[Any] = []
        self.finished = False
        self._listen()

    def _listen(self) -> None:
        previous = sys.excepthook

        def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
            if previous in (sys.__excepthook__, tracebacks.show) and os.getpid() == self.process:
                with tracebacks.showing_less(error):
                    lines = "".join(traceback.format_exception(error)).splitlines()
                print("\n".join(f"[rank{self.rank}]: {line}" for line in lines), file=sys.stderr, flush=True)
            else:
                previous(kind, error, trace)
            self.fail(f"{kind.__name__}: {error}".partition("\n")[0])

        sys.excepthook = hook
        Everyone.left_by = self.leave
        atexit.register(self.end)

    def tell(self, kind: str, text: str = "", to: int | None = None) -> None:
        """Send a message to one process or to all others. It is small, so that MPI keeps it until it is read."""
        message = json.dumps({"kind": kind, "text": text[:1500], "counts": self.counts}).encode()
        for rank in range(self.size) if to is None else (to,):
            if rank != self.rank:
                self.keep(self.comm.Isend([message, mpi().BYTE], rank), message)

    def keep(self, request: Any, message: Any) -> None:
        """Keep the memory of a small message until it has been sent."""
        if len(self.sent) >= _MANY:
            self.sent = [each for each in self.sent if not each[0].Test()]
        self.sent.append((request, message))

    def read(self) -> None:
        """Take in the messages that have come. Answers the processes that ask."""
        for rank in () if self.meeting is None else self.meeting.left():
            self.failed.setdefault(rank, "its process has ended, but not its program: by os._exit or by a signal")
        status = mpi().Status()
        while self.comm.Iprobe(status=status):
            buffer = bytearray(status.Get_count(mpi().BYTE))
            source = status.Get_source()
            self.comm.Recv([buffer, mpi().BYTE], source)
            message = json.loads(buffer)
            match message["kind"]:
                case "failed":
                    self.failed[source] = message["text"]
                case "ended":
                    self.ended[source] = message["counts"]
                case "gave up":
                    group, _, problem = message["text"].partition("\n")
                    self.given_up.setdefault(group, problem)
                case "asks":
                    self.tell("waits", self.here, source)
                case "waits":
                    self.waiting[source] = message["text"]
                case called:
                    self.calls.setdefault(called, {})[source] = message["text"]
        self.sent = [each for each in self.sent if not each[0].Test()]

    def ask(self) -> None:
        """Ask all others where they wait, and give them time to answer."""
        self.waiting.clear()
        self.tell("asks")
        end = time.monotonic() + GRACE
        while time.monotonic() < end and len(self.waiting) + len(self.failed) + len(self.ended) < self.size - 1:
            self.read()
            time.sleep(0.005)

    def exchange(self, name: str, ranks: list[int], text: str) -> dict[int, str]:
        """The texts that these processes, this one among them, have under a name. All of them call this function."""
        for rank in ranks:
            self.tell(name, text, rank)
        found = self.calls.setdefault(name, {})
        found[self.rank] = text
        end = time.monotonic() + 2 * GRACE
        while time.monotonic() < end and len(found) < len(ranks):
            self.read()
            time.sleep(0.001)
        return found

    def where(self, rank: int) -> str:
        """What is known about another process."""
        if rank in self.failed:
            return f"failed: {self.failed[rank]}"
        if rank in self.ended:
            return "has ended its program"
        if self.waiting.get(rank):
            return f"waits in {self.waiting[rank]}"
        entry = board.entry(os.environ.get(board.VARIABLE, ""), rank)
        return str(entry) if entry else "waits in no collective: it computes, or it has stopped"

    def failure(self) -> str:
        """Which process failed, and why; empty if none did."""
        self.read()
        return next((f"Rank {rank} failed: {text}" for rank, text in self.failed.items()), "")

    def abandoned(self, group: str) -> str:
        """Which process gave up an operation of the group; empty if none did."""
        return self.given_up.get(group, "")

    def absence(self, ranks: list[int], group: str, number: int) -> str:
        """Which of these processes ended before the group's collective of this number; empty if none did."""
        gone = [rank for rank in ranks if rank in self.ended and self.ended[rank].get(group, 0) < number]
        return f"Rank {gone[0]} has ended its program and will not come" if gone else ""

    def silence(self, ranks: list[int]) -> str:
        """Which process will send no message, if all of these have ended; empty if one is there."""
        gone = all([rank in self.ended for rank in ranks])
        return f"Rank {ranks[0]} has ended its program and will not come" if gone else ""

    def fail(self, text: str) -> None:
        """Tell all others that this process fails, let them say so as well, and end the job."""
        if self.finished or os.getpid() != self.process:
            return
        self.finished = True
        with suppress(Exception):
            site = user_site()
            self.tell("failed", text + (f" ({site})" if site else ""))
            end = time.monotonic() + GRACE
            while time.monotonic() < end and len(self.failed.keys() | self.ended.keys()) < self.size - 1:
                self.read()
                time.sleep(0.005)
        _flush()
        mpi().COMM_WORLD.Abort(1)

    def leave(self, error: Exception) -> None:
        """Tell all others about an error that nobody handles, and end this process.

        If the error is that of another process, this process waits: whoever started both looks at the first that ends.
        """
        if self.finished or os.getpid() != self.process:
            return
        self.finished = True
        time.sleep(GRACE / 4 if isinstance(error, DistBackendError) else 0)
        with suppress(Exception):
            self.tell("failed", f"{type(error).__name__}: {error}".partition("\n")[0])
        _flush()
        os._exit(1)

    def end(self) -> None:
        """Tell all others that the program of this process has ended."""
        if not self.finished and os.getpid() == self.process:
            self.finished = True
            self.tell("ended")
            if self.meeting is not None:
                self.meeting.end()


def _flush() -> None:
    """Write what is printed. A process may have no output."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
