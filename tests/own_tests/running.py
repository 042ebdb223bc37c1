"""Runs a suite in workers: after a crash, or a test that does not end, the next worker goes on with the next test."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .suites import applies

HERE = Path(__file__).parent
_SECONDS, _LOADING = 60, 600           # for one test, and for all files of a suite


class Outcome(NamedTuple):
    """What has become of a test: "pass", "fail" (an assertion), "error" (anything else) or "skip"; and why."""

    status: str
    why: str


def outcomes(package: str, suite: str, folder: Path, only: str = "") -> dict[str, Outcome]:
    """The outcome of each test of a suite that applies. `only` is a part of the names of the tests to run."""
    found: dict[str, Outcome] = {}
    tests = [test for test in _listed(package, suite, folder) if only in test and applies(test)]
    while todo := [test for test in tests if test not in found]:
        running = None
        for message in _messages(package, suite, folder, todo):
            if "start" in message:
                running = message["start"]
            elif "id" in message:
                running = None
                found[message["id"]] = Outcome(message["status"], message["why"])
        if running is not None:
            found[running] = Outcome("error", "the process ended, or the test did not")
        elif any(test not in found for test in todo):
            raise SystemExit(f"{suite}: a worker has ended without a word")
    return found


def _listed(package: str, suite: str, folder: Path) -> list[str]:
    """The tests of a suite. Says which files do not load."""
    for message in _messages(package, suite, folder, []):
        if "tests" in message:
            for path, why in message["broken"].items():
                print(f"  {path} does not load: {why}")
            tests: list[str] = message["tests"]
            return tests
    raise SystemExit(f"{suite}: the tests do not load")


def _messages(package: str, suite: str, folder: Path, todo: list[str]) -> Iterator[dict[str, Any]]:
    """What a worker says, until it ends or is silent for too long."""
    read, write = os.pipe()
    with tempfile.TemporaryDirectory() as temporary:
        listed = Path(temporary) / "todo"
        listed.write_text("\n".join(todo), encoding="utf-8")
        path = os.pathsep.join([str(HERE / "children"), str(HERE.parent), str(HERE.parents[1] / "src")])
        process = subprocess.Popen(
            [sys.executable, "-B", "-m", f"{__package__}.worker", package, suite, str(folder), str(write),
             str(_SECONDS), str(listed)],
            pass_fds=[write], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=temporary, env={**os.environ, "OWN_TESTS_PACKAGE": package, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"})
        os.close(write)
        try:
            yield from _lines(read)
        finally:
            process.kill()
            process.wait()
            os.close(read)


def _lines(read: int) -> Iterator[dict[str, Any]]:
    rest, patience = b"", _LOADING
    with selectors.DefaultSelector() as selector:
        selector.register(read, selectors.EVENT_READ)
        while selector.select(patience):
            chunk = os.read(read, 65536)
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield json.loads(line)
            patience = _SECONDS + 30
