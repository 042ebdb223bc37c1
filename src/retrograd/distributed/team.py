"""A group's way to its other processes: every operation is announced, compared, carried out, and waited for in time.

Before an operation each process puts a number for it (its name, shapes, dtype, root) into a small all-reduce. Only if
all processes have the same number do the buffers go to MPI. All waiting is asking, with a deadline: a process that
never comes, fails or ends is found, and the error names the processes, the operations and the lines.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from ..foundations.errors import Site, noted, user_site
from ..foundations.launching import crowded, mpi
from ..foundations.modes import before_message
from .faults import DistBackendError, Notices
from .pending import Pending

__all__ = ["Team", "Work"]

_QUICK = 300               # questions before a waiting process sleeps longer and looks for faults
_LOOK = 0.02               # seconds between two looks at the messages about faults



def _way() -> Callable[[], object]:
    """How a process that waits gives way: to others that are ready, or, if there are too many, for some time."""
    return (lambda: time.sleep(2e-5)) if crowded() else getattr(os, "sched_yield", lambda: time.sleep(0))


_give_way = _way()


@lru_cache(4096)
def _described(name: str, facts: tuple[Any, ...]) -> tuple[int, str]:
    """The number that stands for a call, and its text."""
    text = f"{name}({', '.join([str(fact) for fact in facts])})"
    return int.from_bytes(blake2b(text.encode(), digest_size=7).digest(), "little"), text


@lru_cache(4096)
def _placed(text: str, site: Site | None) -> str:
    return f"{text}, {site}" if site else text


def _asked() -> None:
    """Tell the compiler that the program asks how far an operation is."""
    before_message("the program waits for an operation of torch.distributed, or asks about it")


class Team:
    """The processes of a group, as MPI knows them. `ranks` are their ranks among all processes."""

    def __init__(self, comm: Any, control: Any, name: str, ranks: list[int], timeout: float) -> None:
        self.comm, self.control = comm, control
        self.name, self.ranks, self.timeout = name, ranks, timeout
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.number = 0
        self.broken = ""                                 # why no operation can follow
        self.open: set[Work] = set()                     # MPI uses their memory, even if the program forgets them
        assert Notices.current is not None
        self.notices = Notices.current

    def run(self, name: str, facts: tuple[Any, ...], start: Callable[[], Any] | None = None,
            finish: Callable[[], Any] | None = None, async_op: bool = False, results: Any = None,
            timeout: float | None = None) -> Work | None:
        """Carry out an operation of all members: `start()` gives MPI's request, and `finish()` what is to do after.

        If `finish` returns a further `start` and `finish`, the operation goes on with these.
        """
        self.check()
        self.number += 1
        number, text = _described(name, facts)
        work = Work(self, _placed(text, user_site()), start, finish, results, timeout)
        work.announce(number)
        if async_op:
            work.begin()
            return work
        work.wait()
        return None

    def message(self, name: str, facts: tuple[Any, ...], peers: list[int], start: Callable[[], Any],
                finish: Callable[[], Any] | None = None, results: Any = None) -> Work:
        """Begin a message from process to process, which is not announced."""
        self.check()
        work = Work(self, _placed(_described(name, facts)[1], user_site()), start, finish, results, None)
        work.peers = peers
        work.begin()
        return work

    def check(self) -> None:
        """Raise DistBackendError if the members are no longer at the same operation."""
        problem = self.broken or self.notices.abandoned(self.name)
        if problem:
            raise DistBackendError(f"No operation of this group can follow: {problem}.")

    def give_up(self, text: str) -> None:
        """Have all members refuse further operations, which would meet what is left of the one with this text."""
        self.broken = f"Rank {self.notices.rank} gave up in {text}"
        self.notices.tell("gave up", f"{self.name}\n{self.broken}")


class Work:
    """An operation that has begun. `wait` waits for its end, and `is_completed` asks.

    An operation that the program asked for with `async_op=True` goes on whenever the process asks or waits.
    """

    def __init__(self, team: Team | None = None, text: str = "", start: Callable[[], Any] | None = None,
                 finish: Callable[[], Any] | None = None, results: Any = None, timeout: float | None = None) -> None:
        self.team, self.text, self.start, self.finish, self.results = team, text, start, finish, results
        self.timeout = timeout
        self.header: Any = None
        self.payload: Any = None
        self.peers: list[int] | None = None
        self.source = -1
        self.error: BaseException | None = None
        self.done = team is None
        self.futures: list[Pending[Any]] = []
        if team is not None:
            self.number = team.number
            team.open.add(self)
            team.notices.counts[team.name] = team.number
            team.notices.board.enter(team.number, text.encode())

    def announce(self, number: int) -> None:
        """Send the number of the call to all members."""
        assert self.team is not None
        self.numbers = np.array((number, ~number), np.int64)
        self.header = self.team.control.Iallreduce(mpi().IN_PLACE, self.numbers, mpi().MAX)

    def begin(self) -> None:
        """Hand the buffers to MPI."""
        if self.payload is None and self.start is not None:
            self.payload = self.start()

    def advance(self) -> bool:
        """Go on as far as possible without waiting. Returns whether the operation is complete.

        Raises DistBackendError if the operation has failed, now or before.
        """
        if self.error is not None:
            raise self.error
        try:
            return self.done or self._advanced()
        except mpi().Exception as error:
            self.error = DistBackendError(f"MPI failed in {self.text}: {str(error).splitlines()[-1]}")
            raise self.error from None
        except DistBackendError as error:
            self.error = error
            raise

    def _advanced(self) -> bool:
        if self.header is not None:
            if not self.header.Test():
                return False
            self.header = None
            if self.numbers[0] != ~self.numbers[1]:
                self._explain_mismatch()
            self.begin()
        if self.payload is not None:
            if isinstance(self.payload, list):
                if not mpi().Request.Testall(self.payload):
                    return False
            elif not self._tested():
                return False
        following = self.finish() if self.finish is not None else None
        if following is not None:
            start, self.finish = following
            self.payload = start()
            return self._advanced()
        self._complete()
        return True

    def _tested(self) -> bool:
        if self.peers is None:
            return bool(self.payload.Test())
        status = mpi().Status()
        if not self.payload.Test(status):
            return False
        self.source, self.received = status.Get_source(), status.Get_count(mpi().BYTE)
        return True

    def _complete(self) -> None:
        self.done = True
        self.start = self.finish = self.payload = None
        assert self.team is not None
        self.team.open.discard(self)
        self.team.notices.board.leave()
        for future in self.futures:
            future.set_result(self.result())

    def wait(self, timeout: Any = None) -> bool:
        """Wait for the operation. Returns True. Raises DistBackendError if it cannot end, or not in time.

        If it does not end within `timeout`, RuntimeError is raised, and the operation goes on.
        """
        _asked()
        if not self.done:
            seconds = getattr(timeout, "total_seconds", lambda: timeout)()
            try:
                self._wait(seconds or None)
            except DistBackendError as error:
                self.error = error
                raise
        return True

    def _wait(self, patience: float | None) -> None:
        assert self.team is not None
        notices = self.team.notices
        for _ in range(_QUICK):
            if self.advance():
                return
            _give_way()
        allowed = self.team.timeout if self.timeout is None else self.timeout
        notices.here = self.text
        start = now = time.monotonic()
        look, nap = start, 2e-5
        while not self.advance():
            if self.header is not None or self.peers is not None:
                time.sleep(nap)
                nap = min(nap * 1.1, 1e-3)
            else:                                        # all are there: MPI moves the data while it is asked
                _give_way()
            now = time.monotonic()
            if now - look > _LOOK:
                look = now
                problem = notices.failure() or notices.abandoned(self.team.name)
                if not problem and now - start > 1:      # what a process sent before it ended has come by now
                    problem = (notices.absence(self.team.ranks, self.team.name, self.number) if self.peers is None
                               else notices.silence(self.peers))
                if problem:
                    raise DistBackendError(f"{problem}. Rank {notices.rank} waited for it in {self.text}.")
                if patience is not None and now - start > patience:
                    raise noted(RuntimeError("Operation timed out!"), given=self.text)
                if now - start > allowed:
                    self._explain_timeout(allowed)
        notices.here = ""

    def _explain_timeout(self, allowed: float) -> None:
        assert self.team is not None
        notices = self.team.notices
        notices.ask()
        lines = [f"Timed out waiting {allowed * 1000:.0f}ms for {self.text.partition('(')[0]} to complete.",
                 f"  rank {notices.rank} waits in {self.text}"]
        lines += [f"  rank {rank} {notices.where(rank)}" for rank in self.team.ranks if rank != notices.rank]
        self.team.give_up(self.text)
        raise DistBackendError("\n".join(lines))

    def _explain_mismatch(self) -> None:
        """Exchange the texts of the calls, and raise DistBackendError with all of them."""
        assert self.team is not None
        team = self.team
        texts = team.notices.exchange(f"{team.name} {self.number}", team.ranks, self.text)
        team.check()                                     # a member may have left what this process met
        if any([work.payload is not None for work in team.open]):          # other operations would meet these buffers
            team.give_up(self.text)
        calls: dict[str, list[int]] = {}
        for rank, text in sorted(texts.items()):
            calls.setdefault(text, []).append(rank)
        lines = [f"  rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}: {text}"
                 for text, ranks in calls.items()]
        raise DistBackendError("\n".join(["Detected mismatch between collectives on ranks.", *lines,
                                          "All ranks of a group must call the same collectives in the same order."]))

    def is_completed(self) -> bool:
        """Whether the operation is complete. One that has failed is complete, too, and `wait` raises its error."""
        _asked()
        try:
            return self.advance()
        except DistBackendError:
            return True

    def is_success(self) -> bool:
        """Whether the operation ended without an error."""
        _asked()
        return self.error is None

    def exception(self) -> BaseException | None:
        """The error of the operation, if there was one."""
        _asked()
        return self.error

    def synchronize(self) -> None:
        """Wait for the operation."""
        self.wait()

    def source_rank(self) -> int:
        """The rank of the process that a message came from."""
        _asked()
        return self.team.ranks[self.source] if self.team is not None else 0

    def get_future(self) -> Pending[Any]:
        """A future of the tensors that the operation writes. Its `wait` waits for the operation."""
        _asked()
        future: Pending[Any] = Pending(self.wait)
        if self.done:
            future.set_result(self.result())
        else:
            self.futures.append(future)
        return future

    def result(self) -> list[Any]:
        """The tensors that the operation wrote."""
        _asked()
        return list(self.results or ())
