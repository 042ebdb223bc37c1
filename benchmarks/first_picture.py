"""``python -m benchmarks.first_picture``: a person's way from nothing to the first picture of a script, in seconds.

The commands are those of the landing page, in an empty folder, with a script of the person's own. `pip` may take NumPy
from its cache, so a first installation also takes the time of a download. What the person reads and types is not
measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from benchmarks.report import duration, machine
from benchmarks.timing import environment

ROOT = Path(__file__).parents[1]
SCRIPT = """import torch

model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.rand(256, 2)
y = (x[:, :1] * x[:, 1:]).sin()
for step in range(500):
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
print(loss.item())
"""


class Command(NamedTuple):
    """A command as the person types it, and what there is after it."""

    text: str
    result: str


COMMANDS = (
    Command("git clone ADDRESS retrograd", "the source"),
    Command("pip install ./retrograd", "the package, with NumPy"),
    Command("python -m retrograd run train.py", "what the script prints"),
    Command("python -m retrograd explore --stop train.py", "`step.html`, the first backward pass to walk through"),
)


def measured() -> list[float]:
    """The seconds of each command. Raises CalledProcessError if one fails, and AssertionError without a page."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", Path(folder, "venv")], check=True)
        bin_ = Path(folder, "venv", "Scripts" if os.name == "nt" else "bin")
        Path(folder, "train.py").write_text(SCRIPT, encoding="utf-8")
        names = environment() | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
        names.pop("PYTHONPATH", None)
        found = []
        for command in COMMANDS:
            words = command.text.replace("ADDRESS", str(ROOT)).split()
            start = perf_counter()
            subprocess.run(words, cwd=folder, env=names, check=True, capture_output=True)
            found.append(perf_counter() - start)
        assert Path(folder, "step.html").stat().st_size > 0
        return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.first_picture",
                                     description="Measure the way from nothing to the first picture of a script.")
    parser.add_argument("--json", metavar="FILE", help="write the figures to this file")
    options = parser.parse_args()
    seconds = measured()
    for command, each in zip(COMMANDS, seconds):
        print(f"{duration(each):>8}  {command.text}")
    if options.json:
        Path(options.json).write_text(json.dumps({"machine": machine(), "seconds": seconds}), encoding="utf-8")


if __name__ == "__main__":
    main()
