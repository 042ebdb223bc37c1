"""Runs each program of this folder with PyTorch and with retrograd, and compares what the two print.

    python examples/packages/compare.py [--page FILE] [PROGRAM ...]

The interpreter must have PyTorch, retrograd and the packages; `make field` sets it up. The exit status is 1 if a
program fails or prints something else with retrograd. Numbers may differ by rounding. `--page` writes the table of
results into the page, in place of the table that stands there.
"""

import argparse
import ast
import importlib.metadata
import os
import re
import subprocess
import sys
import time
from pathlib import Path

# Packages that are installed under another name.
DISTRIBUTIONS = {"curvlinops": "curvlinops-for-pytorch", "torchmin": "pytorch-minimize", "pyro": "pyro-ppl",
                 "ignite": "pytorch-ignite", "laplace": "laplace-torch", "torchcrf": "pytorch-crf", "ot": "pot"}
FOLDER = Path(__file__).parent
sys.path.append(str(Path(sys.prefix, "vision")))            # where `make field` installs torchvision
RUNNERS = {"compare.py", "suites.py", "vision.py"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf)\b")
RELATIVE, ABSOLUTE = 1e-4, 1e-6
HEAD = (
    "| package | version | what the program does | last line with PyTorch | last line with retrograd | difference |\n"
    "|---|---|---|---|---|---|\n"
)


def programs() -> list[Path]:
    """All programs of this folder, in the order of the alphabet."""
    return sorted(path for path in FOLDER.glob("*.py") if path.name not in RUNNERS)


def subject(program: Path) -> tuple[str, str]:
    """The name of the package that a program uses, and what the program does: its docstring is `package: what`."""
    docstring = ast.get_docstring(ast.parse(program.read_text(encoding="utf-8"))) or ""
    package, _, what = docstring.partition("\n")[0].partition(": ")
    return package, what.rstrip(".")


def output(program: Path, *way: str) -> tuple[str, str, float]:
    """What a program prints, the last line of its traceback if it failed, and the seconds that it took."""
    start = time.perf_counter()
    command = [sys.executable, "-W", "ignore", *way, str(program)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    error = (result.stderr.strip().splitlines() or [f"exit status {result.returncode}"])[-1]
    return result.stdout, error if result.returncode else "", time.perf_counter() - start


def difference(expected: str, found: str) -> float:
    """The largest relative difference between the numbers of two texts; infinite if their words differ."""
    if NUMBER.sub("#", expected).split() != NUMBER.sub("#", found).split():
        return float("inf")
    largest = 0.0
    for left, right in zip(NUMBER.findall(expected), NUMBER.findall(found), strict=True):
        if left == right:
            continue
        gap, size = abs(float(left) - float(right)), abs(float(left))
        if not gap <= RELATIVE * size + ABSOLUTE:
            return float("inf")
        largest = max(largest, gap / max(size, ABSOLUTE))
    return largest


def verdict(expected: str, found: str) -> str:
    """In words: how much two texts differ."""
    if expected == found:
        return "none"
    gap = difference(expected, found)
    return "not the same" if gap == float("inf") else f"rounding, {gap:.0e}"


def compare(program: Path) -> tuple[str, bool]:
    """Runs a program both ways. Returns its row of the table, and whether the two runs agree."""
    package, what = subject(program)
    (expected, error, seconds) = output(program)
    (found, failure, seconds_here) = output(program, "-m", "retrograd", "run")
    result = "not run: " + error if error else "fails: " + failure if failure else verdict(expected, found)
    print(f"{program.stem:32} {seconds:5.1f} s {seconds_here:5.1f} s   {result}", flush=True)
    lines = [(text.strip().splitlines() or ["nothing"])[-1].replace("|", "\\|") for text in (expected, found)]
    version = importlib.metadata.version(DISTRIBUTIONS.get(package, package))
    row = f"| [{package}]({link(program)}) | {version} | {what} "
    row += f"| `{lines[0]}` | `{lines[1]}` | {result} |\n"
    return row, result == "none" or result.startswith("rounding")


def link(program: Path) -> str:
    """The address of a program, seen from the folder of the documentation."""
    return f"../examples/packages/{program.name}"


def write_table(page: Path, head: str, rows: list[str]) -> None:
    """Replaces the table of a page that begins with `head`."""
    before, found, after = page.read_text(encoding="utf-8").partition(head)
    if not found:
        raise SystemExit(f"{page} has no such table")
    rest = after.partition("\n\n")[2] if "\n\n" in after else ""
    page.write_text(f"{before}{head}{''.join(rows)}\n{rest}".rstrip("\n") + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares what the programs print with PyTorch and with retrograd.")
    parser.add_argument("--page", type=Path, help="a page whose table of results is written anew")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="names of programs; all programs if none")
    options = parser.parse_args()
    chosen = [program for program in programs() if not options.programs or program.stem in options.programs]
    if not chosen or (options.page and options.programs):
        parser.error("there is no such program" if not chosen else "the page shows all programs")
    results = [compare(program) for program in chosen]
    if options.page:
        write_table(options.page, HEAD, [row for row, _ in results])
    sys.exit(not all(same for _, same in results))


if __name__ == "__main__":
    main()
