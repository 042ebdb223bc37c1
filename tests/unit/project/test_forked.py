"""A program that is forked does what it does in an interpreter of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forked import ran
from needing import on_unix

PROGRAM = """
import atexit, sys, threading, multiprocessing.util
import retrograd as torch
atexit.register(lambda: print("at the end"))
multiprocessing.util.Finalize(None, lambda: print("of the process"), exitpriority=1)
threading.Timer(0.2, lambda: print("in a thread")).start()
print(__name__, __file__, sys.argv, sys.path[0], sys.orig_argv[1:], sys.warnoptions, sys.flags.optimize)
print(torch.ones(2), input(), {word}, file=sys.stderr)
"""
# What may end a program, and what takes the place of the word above.
ENDS = ["1", "sys.exit()", "sys.exit(3)", "sys.exit(-1)", "sys.exit('said')", "torch.ones(2) @ torch.ones(3)",
        "__import__('os').kill(__import__('os').getpid(), 9)", "__import__('os')._exit(4)"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("word", ENDS)
def test_a_forked_program_ends_as_its_own_interpreter_does(word: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("{word}", word))
    options, command = ("-W", "error", "-O"), ("program.py", "a", "-b")
    expected = subprocess.run([sys.executable, *options, *command], cwd=tmp_path, input="line\n", capture_output=True,
                              text=True, timeout=100)
    found = ran(*command, cwd=tmp_path, options=options, stdin="line\n")
    assert (found.returncode, found.stdout, found.stderr) == (expected.returncode, expected.stdout, expected.stderr)


@on_unix
def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    with pytest.raises(TimeoutError):
        ran("-c", "import time; time.sleep(100)", cwd=tmp_path, timeout=0.5)
    assert ran("-c", "import sys; print(sys.argv, __name__)", "x", cwd=tmp_path).stdout == "['-c', 'x'] __main__\n"
