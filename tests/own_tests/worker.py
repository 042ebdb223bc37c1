"""One process that loads a suite and runs the tests that it is told to run. `running` starts it.

It writes JSON lines to the file descriptor that it is given: the tests that it has found, then each test before and
after it has run. Whoever reads them starts another worker after a crash, so nothing here has to survive one.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import signal
import sys
import time
import traceback
import types
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .serving import load, serve
from .suites import SUITES

Found = dict[str, tuple[type, str]]


class TooLong(BaseException):
    """A test has run for too long."""


def found_in(suite: str, folder: Path) -> tuple[Found, dict[str, str]]:
    """The class and the method of each test of a suite, and the errors of files that do not load."""
    sys.path.insert(0, str(folder))
    for name in {file.module.partition(".")[0] for file in SUITES[suite] if "." in file.module}:
        parent = sys.modules[name] = types.ModuleType(name)
        parent.__path__ = [str(folder / name)]
    found: Found = {}
    broken = {}
    for file in SUITES[suite]:
        try:
            module = load(folder / file.path, file.module)
        except BaseException as error:
            broken[file.path] = _said(error, file.path)
            continue
        for cls in list(vars(module).values()) if file.counts else ():
            if isinstance(cls, type) and issubclass(cls, unittest.TestCase) and cls.__module__ == file.module:
                found.update({f"{file.path}::{cls.__name__}::{name}": (cls, name) for name in _methods(cls)})
    return found, broken


def _methods(cls: type) -> list[str]:
    names = dict.fromkeys([name for base in reversed(cls.__mro__) for name in vars(base) if name.startswith("test")])
    return [name for name in names if callable(getattr(cls, name))]


def _said(error: BaseException, path: str) -> str:
    """The first line of an error, and the line of the test file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(path)]
    text = next(iter(str(error).strip().splitlines()), "")
    return f"{type(error).__name__}: {text}"[:240] + (f" [line {lines[-1]}]" if lines else "")


class Verdict(unittest.TestResult):
    """What has become of the one test that it is given: the first failure counts."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self.path, self.status, self.why = path, "pass", ""

    def note(self, error: BaseException) -> None:
        """Note an error."""
        if self.status in ("pass", "skip"):
            self.status, self.why = "fail" if isinstance(error, AssertionError) else "error", _said(error, self.path)

    def addError(self, test: Any, err: Any) -> None:
        """See `note`."""
        self.note(err[1])

    addFailure = addError

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        """See `note`."""
        if err is not None:
            self.note(err[1])

    def addSkip(self, test: Any, reason: str) -> None:
        """Note that the test did not run."""
        if self.status == "pass":
            self.status, self.why = "skip", reason

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        """Note that PyTorch expects a failure."""
        self.addSkip(test, "is expected to fail")

    def addUnexpectedSuccess(self, test: Any) -> None:
        """See `addExpectedFailure`."""
        self.addSkip(test, "is expected to fail")


def run(torch: Any, test_id: str, test: tuple[type, str], seconds: int) -> Verdict:
    """Run one test, and set back what it may have left behind."""
    verdict = Verdict(test_id.partition("::")[0])
    cls, name = test
    folder, environment, dtype = Path.cwd(), dict(os.environ), torch.get_default_dtype()

    def ring(*_: Any) -> None:
        signal.alarm(5)                                    # again, if the test has caught the error
        raise TooLong(f"more than {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    try:
        with _alarm(seconds), warnings.catch_warnings():
            warnings.simplefilter("default")
            cls(name).run(verdict)
    except BaseException as error:
        verdict.note(error)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    gc.enable()
    torch.set_default_dtype(dtype)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    return verdict


@contextlib.contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def main(package: str, suite: str, folder: str, fd: str, seconds: str, todo: str = "") -> None:
    """Say which tests there are, and run those that the file `todo` lists."""
    out = os.fdopen(int(fd), "w", buffering=1)

    def say(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")

    random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch = serve(package)
        found, broken = found_in(suite, Path(folder))
    say(tests=list(found), broken=broken)
    chosen = Path(todo).read_text(encoding="utf-8").split("\n") if todo else []
    _run_each([name for name in chosen if name in found], found, torch, int(seconds), say)
    say(done=True)
    os._exit(0)                                            # threads that a test has left behind must not wait


def _run_each(chosen: list[str], found: Found, torch: Any, seconds: int, say: Callable[..., None]) -> None:
    ready: set[type] = set()
    for test_id in chosen:
        cls = found[test_id][0]
        say(start=test_id)
        if cls not in ready:
            ready.add(cls)
            gc.collect()
            with contextlib.suppress(BaseException):       # the tests of the class will say what is wrong
                cls.setUpClass()  # type: ignore[attr-defined]
        begin = time.monotonic()
        verdict = run(torch, test_id, found[test_id], seconds)
        say(id=test_id, status=verdict.status, why=verdict.why, seconds=round(time.monotonic() - begin, 2))


if __name__ == "__main__":
    main(*sys.argv[1:])
