"""Programs that run as in an interpreter of their own, which need not import the package first.

`ran` takes the place of `subprocess.run([sys.executable, ...])` for `python -m retrograd ...`, and for a program in a
file or behind `-c` that imports the package at once. One interpreter for each set of options imports the package and
then forks: the child becomes the program. A child costs a fifth of what an interpreter costs.

A test of what a program can see of the interpreter itself (how it was started, its streams, what it imports first, how
it takes its objects apart) starts its own.
"""

from __future__ import annotations

import atexit
import builtins
import gc
import importlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

# The beginnings of the names of what the interpreter or the package reads from the environment when it starts.
_READ = ("PYTHON", "RETROGRAD_", "OMP_", "OPENBLAS_", "MKL_")
# What most programs import, or what the commands do.
_COMMON = ("retrograd.command.cli", "multiprocessing.util", "numpy.random", "retrograd.command.children",
           "retrograd.nn.modules.linear", "retrograd.nn.modules.activation", "retrograd.nn.modules.container",
           "retrograd.optim.sgd", "retrograd.viz.exploring")


def ran(*command: str, cwd: Path, options: tuple[str, ...] = (), env: Mapping[str, str] | None = None,
        stdin: str = "", timeout: float = 120, imported: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """What `python *options *command` does, where the command begins with `-m retrograd`, `-c` or a script.

    Modules that several programs of a test import, and that take long, may be `imported` before.
    """
    environment = dict(os.environ if env is None else env)
    if not hasattr(os, "fork"):
        return subprocess.run([sys.executable, *options, *command], cwd=cwd, env=environment, input=stdin, text=True,
                              capture_output=True, timeout=timeout)
    read = tuple(sorted((name, value) for name, value in environment.items() if name.startswith(_READ)))
    request = json.dumps([command, os.fspath(cwd), environment]).encode()
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        streams = [each.fileno() for each in (given, out, err)]
        status = _Parent.of(options, read, imported).asked(request, streams, timeout)
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode())
    return subprocess.CompletedProcess([sys.executable, *options, *command], status, *said)


_START = 300                                                # seconds until the interpreter that forks gives up


class _Parent:
    """An interpreter that has imported the package, from the side of the tests."""

    def __init__(self, options: tuple[str, ...], read: tuple[tuple[str, str], ...], imported: tuple[str, ...]) -> None:
        self._door, other = socket.socketpair()
        with other:
            kept = {name: value for name, value in os.environ.items() if not name.startswith(_READ)}
            self._process = subprocess.Popen(
                [sys.executable, *options, __file__, str(other.fileno()), *imported], env=kept | dict(read),
                pass_fds=[other.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        atexit.register(self._end)

    @classmethod
    @cache
    def of(cls, options: tuple[str, ...], read: tuple[tuple[str, str], ...], imported: tuple[str, ...]) -> _Parent:
        """The one with these options, this part of the environment, and these modules."""
        return cls(options, read, imported)

    def asked(self, request: bytes, streams: list[int], timeout: float) -> int:
        """The exit status of a child that does what is asked for, as `subprocess` counts them."""
        self._door.settimeout(_START)
        socket.send_fds(self._door, [len(request).to_bytes(4, "big") + request], streams)
        child = self._answer()
        self._door.settimeout(timeout)
        try:
            return self._answer()
        except TimeoutError:
            os.kill(child, 9)
            self._door.settimeout(_START)
            self._answer()
            raise

    def _answer(self) -> int:
        said = self._door.recv(4, socket.MSG_WAITALL)
        if len(said) < 4:
            raise RuntimeError("the interpreter that forks has ended")
        return int.from_bytes(said, "big", signed=True)

    def _end(self) -> None:
        self._door.close()                                  # the interpreter ends when nobody can ask it any more
        self._process.wait()


def _serve(door: socket.socket) -> list[Any] | None:
    """Fork a child for each request. Returns the request in the child, and None at the end."""
    while True:
        begin, streams, _, _ = socket.recv_fds(door, 4, 3)
        if not begin:
            return None
        request = door.recv(int.from_bytes(begin, "big"), socket.MSG_WAITALL)
        with warnings.catch_warnings(action="ignore"):      # from 3.12 on there is one if NumPy has started threads
            child = os.fork()
        if not child:
            door.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
                os.close(stream)
            return list(json.loads(request))
        for stream in streams:
            os.close(stream)
        door.send(child.to_bytes(4, "big"))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        door.send(status.to_bytes(4, "big", signed=True))


def _become(command: list[str], folder: str, environment: dict[str, str]) -> None:
    """Run a command in this process, which then ends as the command's own would."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.orig_argv[-len(sys.argv):] = command
    if command[0] == "-m":
        from retrograd.command import cli

        sys.path[0] = folder
        sys.argv = [str(Path(cli.__file__).parents[1] / "__main__.py"), *command[2:]]
        cli.main()
    elif command[0] == "-c":
        sys.path[0] = ""
        sys.argv = ["-c", *command[2:]]
        _execute(command[1], "<string>", {})
    else:
        file = os.path.join(folder, command[0])
        sys.path[0] = os.path.dirname(os.path.realpath(file))
        sys.argv = command
        _execute(Path(file).read_bytes(), file, {"__file__": file})


def _execute(source: str | bytes, file: str, names: dict[str, Any]) -> None:
    """Run a program as `__main__`. If it fails, the interpreter reports a traceback that begins in the program."""
    main = sys.modules["__main__"] = ModuleType("__main__")
    vars(main).update(__builtins__=builtins, **names)
    try:
        exec(compile(source, file, "exec", dont_inherit=True), vars(main))
    except Exception as error:
        report, trace = sys.excepthook, error.__traceback__ and error.__traceback__.tb_next
        sys.excepthook = lambda kind, error, _: report(kind, error.with_traceback(trace), trace)
        raise


_STATUS = [0]                                               # with which this process ends


def _end() -> None:
    """End the process after all that a program has registered for its end, without taking hundreds of modules apart."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(_STATUS[0])


def _run(request: list[Any]) -> None:
    """Do what was asked for, note the exit status, and let the interpreter say what ended the program."""
    _STATUS[0] = 1
    try:
        _become(*request)
        _STATUS[0] = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            _STATUS[0] = (end.code or 0) & 255
        raise


if __name__ == "__main__":
    atexit.register(_end)                                   # before anything else, since the last one runs first
    for NAME in (*_COMMON, *sys.argv[2:]):
        importlib.import_module(NAME)
    gc.freeze()                                             # a child neither copies nor visits what there is
    with socket.socket(fileno=int(sys.argv[1])) as DOOR:
        DOOR.set_inheritable(False)
        REQUEST = _serve(DOOR)
    if REQUEST is not None:
        _run(REQUEST)
