"""A copy of the project with a fault in it, and the tests that are run there until one fails."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from multiprocessing import Pipe
from pathlib import Path

from mutants.covering import Map
from mutants.faults import Fault
from mutants.serving import Planted, Ready, Reply, Request

ROOT = Path(__file__).parents[2]
# Most faults fail one of a few tests from the files that call the faulty function most. Then the rest is run, which
# is some cases of each function among the tests if nearly all of them call the faulty function.
_FILES, _FIRST, _AT_MOST, _SECONDS = 5, 100, 2000, 600
_ENDED_BY_SOMEBODY = (-signal.SIGTERM, -signal.SIGKILL)         # and not by the fault


class Copy:
    """The files that git knows, in a folder of their own, with at most one fault planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._servers: dict[str, _Server] = {}
        self._sources: dict[str, bytes] = {}
        self._sound: set[str] = set()
        self._unsound: set[str] = set()
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True,
                                text=True, check=True)
        for name in listed.stdout.split():
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)

    def first_failure(self, fault: Fault, parts: Sequence[list[str]]) -> str:
        """Which of the tests fails first because of the fault, or how they end otherwise; empty if all pass.

        The tests run in a fork of a process that has loaded the package, or in a new process if the fault may be in
        what runs at import.
        """
        return next((failure for part in parts if (failure := self._first(fault, part))), "")

    def _first(self, fault: Fault, tests: list[str]) -> str:
        part = [test for test in tests if test not in self._unsound]
        while failure := self._failure(part, fault):
            if failure not in part or self._is_due_to(fault, failure):
                return failure
            part = part[part.index(failure) + 1:]
        return ""

    def _is_due_to(self, fault: Fault, test: str) -> bool:
        """Whether the test passes without the fault, and fails with the fault again: tests of time may do neither."""
        if test not in self._sound:
            (self._unsound if self._failure([test], None) else self._sound).add(test)
        return test in self._sound and bool(self._failure([test], fault))

    def _failure(self, tests: list[str], fault: Fault | None) -> str:
        if not tests:
            return ""
        server = self._server("/".join(tests[0].split("/")[:2]))
        if fault is not None and (not fault.function or server.ran_at_import(self._file(fault), fault.function)):
            return self._failure_in_a_process(tests, fault)
        with self._planted(fault) as planted:
            reply = server.reply(Request(tests, planted))
        if reply is None:
            return self._failure_in_a_process(tests, fault)
        if reply.status in _ENDED_BY_SOMEBODY:
            return self._failure(tests, fault)
        return reply.failure or (f"the tests ended with {reply.status}" if reply.status else "")

    def _server(self, folder: str) -> _Server:
        if folder not in self._servers:
            self._servers[folder] = _Server(self, folder)
        return self._servers[folder]

    def _failure_in_a_process(self, tests: list[str], fault: Fault | None) -> str:
        chosen = self.folder / "chosen.txt"
        chosen.write_text("\n".join(tests))
        files = sorted({test.partition("::")[0] for test in tests})
        try:
            with self._planted(fault):
                done = self.pytest("-x", "-p", "mutants.choosing", f"--chosen={chosen}", *files, seconds=_SECONDS)
        except subprocess.TimeoutExpired:
            return "out of time"
        if done.returncode in _ENDED_BY_SOMEBODY:
            return self._failure_in_a_process(tests, fault)
        if not done.returncode:
            return ""
        said = re.search(r"^(?:FAILED|ERROR) (.*)", done.stdout, re.MULTILINE)
        text = said[1] if said else f"pytest ended with {done.returncode}"
        return max((test for test in tests if text.startswith(test)), key=len, default=text)

    @contextmanager
    def _planted(self, fault: Fault | None) -> Iterator[Planted | None]:
        """Keep a fault in its file for a while."""
        if fault is None:
            yield None
            return
        file = self._file(fault)
        sound = self._sources.setdefault(fault.path, file.read_bytes())
        planted = Planted(str(file), sound, fault.planted(sound))
        try:
            _rewrite(file, planted.faulty)
            yield planted
        finally:
            _rewrite(file, sound)

    def _file(self, fault: Fault) -> Path:
        return self.folder / "src" / "retrograd" / fault.path

    def pytest(self, *arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
        """Run pytest in the copy. Raises TimeoutExpired if it takes longer."""
        return subprocess.run(self._command(*arguments), cwd=self.folder, env=self._environment(), timeout=seconds,
                              capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def start_server(self, folder: str, descriptor: int) -> subprocess.Popen[bytes]:
        """Start a process that collects the tests below a folder and answers requests."""
        command = self._command("-p", "mutants.serving", f"--serving={descriptor}", "--tb=native",
                                f"--basetemp={self.folder}/tmp", folder)
        return subprocess.Popen(command, cwd=self.folder, env=self._environment(), pass_fds=[descriptor],
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]

    def _environment(self) -> dict[str, str]:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return environment | {"PYTHONPATH": f"{self.folder / 'src'}:{self.folder / 'tests'}", "OMP_NUM_THREADS": "2",
                              "OPENBLAS_NUM_THREADS": "1"}


class _Server:
    """The other end of a process that has collected the tests of a folder."""

    def __init__(self, copy: Copy, folder: str) -> None:
        self._connection, theirs = Pipe()
        self._process = copy.start_server(folder, theirs.fileno())
        theirs.close()
        ready: Ready = self._connection.recv()                  # a fault that is planted earlier would be loaded
        self._ran_at_import = ready.ran

    def ran_at_import(self, file: Path, line: int) -> bool:
        """Whether the function of a file that begins in a line ran before the first test."""
        return (str(file), line) in self._ran_at_import

    def reply(self, request: Request) -> Reply | None:
        """How the tests ended; None if the fault cannot be planted in what is loaded."""
        self._connection.send(request)
        reply: Reply | None = self._connection.recv()
        return reply


def _rewrite(file: Path, source: bytes) -> None:
    file.write_bytes(source)
    # Python tells an outdated module by size and second, and this one may have the same.
    for compiled in file.parent.glob(f"__pycache__/{file.stem}.*"):
        compiled.unlink()


def in_order(map: Map, fault: Fault) -> tuple[list[str], list[str]]:
    """The tests that may notice a fault: the likely ones, and the others."""
    unchanged = map.sources.get(fault.path) == (ROOT / "src" / "retrograd" / fault.path).read_bytes()
    covering = map.of_function(fault.path, fault.function) if fault.function and unchanged else set()
    named: list[str] = []
    if not covering:                                            # what runs at import is noticed anywhere
        covering = map.below(fault.path) or map.below(fault.path.rpartition("/")[0])
        by_word = [[test for test, _ in map.tests if word in re.split(r"\W+", test)] for word in _words(fault)]
        named = [test for found in sorted(by_word, key=len) for test in found][:_FIRST]
    tests = [map.tests[test][0] for test in _mixed(map, covering)]
    files = _nearest_files(map, tests)
    likely = [*dict.fromkeys(named + [test for test in tests if test.partition("::")[0] in files][:_FIRST])]
    others = {*tests} - {*likely}
    return likely, [test for test in tests if test in others][:_AT_MOST]


def _words(fault: Fault) -> set[str]:
    """What a fault in a table has to do with: the texts in quotes beside it, and the name that is given a value."""
    return {*re.findall(r"[\"'](\w{3,})[\"']", f"{fault.old} {fault.around}"), *re.findall(r"^(\w+) =", fault.around)}


def _nearest_files(map: Map, tests: list[str]) -> set[str]:
    """The files that have few tests besides these; of several such files the smallest."""
    of_all = Counter(name.partition("::")[0] for name, _ in map.tests)
    of_these = Counter(test.partition("::")[0] for test in tests)
    return {*sorted(of_these, key=lambda file: (-round(of_these[file] / of_all[file], 1), of_all[file]))[:_FILES]}


def _mixed(map: Map, tests: Iterable[int]) -> Iterator[int]:
    """The tests in turn from each function that has cases among them, those of quick functions first."""
    cases = defaultdict(list)
    for test in sorted(tests):
        cases[map.tests[test][0].partition("[")[0]].append(test)
    # The cases of a function stand in the order of the table; a stride shows different operators early.
    spread = [_strided(found) for _, found in sorted(cases.items(), key=lambda pair: map.tests[pair[1][0]][1])]
    return (test for turn in zip_longest(*spread) for test in turn if test is not None)


def _strided(cases: list[int]) -> list[int]:
    stride = max(1, len(cases) // 20)
    return [case for start in range(stride) for case in cases[start::stride]]
