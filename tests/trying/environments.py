"""Fresh virtual environments below build/, what is run in them, and the table of the results."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build"


class Result(NamedTuple):
    """What a command did: whether it succeeded, its seconds, all that it printed, and the file with this text."""

    succeeded: bool
    seconds: float
    text: str
    log: Path

    @property
    def last(self) -> str:
        """The last line that it printed."""
        return next((line.strip(" =") for line in reversed(self.text.splitlines()) if line.strip()), "")


class Environment:
    """A fresh virtual environment of an interpreter, and a folder for the texts of what runs in it."""

    def __init__(self, folder: Path, interpreter: str = sys.executable) -> None:
        self.folder, self.venv = folder, folder / "venv"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        subprocess.run([interpreter, "-m", "venv", str(self.venv)], check=True)
        self.python = str(self.venv / ("Scripts" if os.name == "nt" else "bin") / "python")

    def run(self, name: str, *command: str, cwd: Path = ROOT) -> Result:
        """Run a command. What it prints goes to a file named `name`. pip takes wheels, and compiles nothing."""
        log, start = self.folder / f"{name}.log", time.perf_counter()
        with log.open("w", encoding="utf-8") as file:
            status = subprocess.run(command, cwd=cwd, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    env={**os.environ, "PIP_ONLY_BINARY": ":all:"}, check=False).returncode
        text = log.read_text(encoding="utf-8", errors="replace")
        return Result(status == 0, time.perf_counter() - start, text, log)

    def pip_install(self, name: str, *arguments: str) -> Result:
        """Run `pip install` with these arguments."""
        return self.run(name, self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments)


def report(what: str, result: Result) -> None:
    """Say how a step ended, as soon as it has ended. After a failure, the end of its text follows."""
    print(f"{what}: {'done' if result.succeeded else 'FAILED'} in {result.seconds:.0f} s", flush=True)
    if not result.succeeded:
        print("\n".join(f"    {line}" for line in result.text.splitlines()[-15:]), f"\n    ({result.log})", flush=True)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows in columns, as Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)
