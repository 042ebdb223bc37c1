"""What a forked process gets of the locks that other threads of its parent held."""

from __future__ import annotations

import ast
import os
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations import forks, modes
from showing.pages import ROOT

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork"),
              pytest.mark.filterwarnings("ignore:.*multi-threaded")]              # which a fork is here on purpose
_SOURCE = ROOT / "src"
# Locks of one object each. An object that a thread works on while the process is forked stays with that thread.
OF_OBJECTS = {
    "retrograd/autograd/graph/edges.py": "one hook on several tensors",
    "retrograd/autograd/mutation.py": "a context of the thread that forks, or of one that the child lacks",
    "retrograd/compilation/execution/again.py": "forgotten, each",
    "retrograd/compilation/repeat/recipe.py": "forgotten with the recipe",
    "retrograd/compilation/sized/recipes.py": "forgotten with the recipe",
    "retrograd/compilation/trace/deferred.py": "a trace, which the child forgets",
    "retrograd/foundations/futures.py": "a future, for whose result the child would wait in vain",
    "retrograd/kernels/native/threads.py": "the work of a helper, which the child lacks",
}


def _ends(child: Callable[[], object], seconds: float = 20) -> bool:
    """Whether a forked process that calls a function ends in good order within some seconds."""
    pid = os.fork()
    if not pid:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if os.waitpid(pid, os.WNOHANG) != (0, 0):
            return True
        time.sleep(0.01)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    return False


def _while_held(lock: Any, child: Callable[[], object], seconds: float = 0.2) -> bool:
    """Whether a process that is forked while another thread holds a lock for some time ends in good order."""
    entered = threading.Event()

    def hold() -> None:
        with lock:
            entered.set()
            time.sleep(seconds)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        return _ends(child)
    finally:
        thread.join()


def test_a_fork_waits_for_a_lock_that_is_held() -> None:
    lock = threading.RLock()
    forks.held(lock)
    assert _while_held(lock, lambda: lock.acquire())


def test_a_fork_waits_for_draws_of_each_generator() -> None:
    generator = torch.Generator().manual_seed(3)
    expected = torch.rand(2, generator=torch.Generator().manual_seed(3))

    def child() -> None:
        assert torch.equal(torch.rand(2, generator=generator), expected)

    assert _while_held(generator.twister.lock, child)


def test_two_threads_fork_at_once_while_others_draw() -> None:
    generators = [torch.Generator() for _ in range(20)]
    over, found = threading.Event(), []

    def draw() -> None:
        while not over.is_set():
            for generator in generators:
                torch.rand(1000, generator=generator)

    def fork() -> None:
        for _ in range(3):
            found.append(_ends(lambda: [torch.rand(2, generator=generator) for generator in generators]))

    threads = [threading.Thread(target=target) for target in (draw, draw, fork, fork)]
    for thread in threads:
        thread.start()
    for thread in threads[2:]:
        thread.join()
    over.set()
    for thread in threads[:2]:
        thread.join()
    assert found == [True] * 6


def test_a_child_may_start_threads_though_another_thread_just_began() -> None:
    def child() -> None:
        thread = threading.Thread(target=lambda: torch.ones(2).sum())
        thread.start()
        thread.join()

    assert _while_held(modes._arriving, child)


def test_each_lock_says_what_a_fork_means_for_it() -> None:
    for path in _SOURCE.rglob("*.py"):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(_SOURCE).as_posix()
        if name == "retrograd/foundations/forks.py":
            continue
        assert "register_at_fork" not in text, name
        if name not in OF_OBJECTS and re.search(r"Lock\(|Condition\(", text) and _makes_locks(tree := ast.parse(text)):
            assert {"held", "held_each", "forgotten"} & set(_called(tree)), name


def _called(tree: ast.AST) -> list[str]:
    return [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]


def _makes_locks(tree: ast.AST) -> bool:
    """Whether a module makes a lock, other than to ask for its type."""
    asked = {id(node.args[0]) for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args
             and isinstance(node.func, ast.Name) and node.func.id == "type"}
    return any(isinstance(node, ast.Call) and id(node) not in asked
               and getattr(node.func, "attr", getattr(node.func, "id", "")) in ("Lock", "RLock", "Condition")
               for node in ast.walk(tree))
