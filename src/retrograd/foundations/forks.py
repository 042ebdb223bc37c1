"""What happens when a process is forked. The child has one thread, so a lock that another thread held is never free.

A module with a lock that threads share says here what is right for the lock:

- `held(lock)`: the fork waits for the lock, so the child gets a free lock, and what the lock guards is whole. This is
  for work that ends soon and waits for nobody.
- `held_each(living, lock_of)`: the same for the locks of many objects.
- `forgotten(forget)`: the child starts anew. This is for work that may take long, or that threads do which the child
  does not have.

What is said first is taken last. So a thread that holds a lock of `foundations` never waits for a lock of a higher
layer.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from typing import Any

_FORKS = hasattr(os, "register_at_fork")                   # Windows cannot fork
# Held by the thread that forks and has the locks of `held_each`.
_forking = threading.RLock()


def held(lock: Any, in_child: Callable[[], object] | None = None) -> None:
    """Hold a lock while the process is forked. `in_child` releases it in the child, if more is to be done there."""
    if _FORKS:
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=in_child or lock.release)


def held_each(living: Iterable[Any], lock_of: Callable[[Any], Any]) -> None:
    """Hold the lock of each of some objects while the process is forked. `living` has those that there are then."""
    taken: list[Any] = []

    def take() -> None:
        _forking.acquire()
        for each in [*living]:
            lock = lock_of(each)
            lock.acquire()
            taken.append(lock)

    def give_back() -> None:
        while taken:
            taken.pop().release()
        _forking.release()

    if _FORKS:
        os.register_at_fork(before=take, after_in_parent=give_back, after_in_child=give_back)


def forgotten(forget: Callable[[], object]) -> None:
    """Call a function in the child."""
    if _FORKS:
        os.register_at_fork(after_in_child=forget)
