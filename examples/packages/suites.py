"""Runs the tests of other packages, unchanged, with PyTorch and with retrograd, and compares which of them pass.

    python examples/packages/suites.py [--page FILE] [PACKAGE ...]

The interpreter must have PyTorch, retrograd, the packages and pytest; `make field` sets it up. The tests come from the
source distributions of the packages, which pip downloads into a temporary folder. `--page` writes the table of
results into the page, in place of the table that stands there. The exit status is 1 if a suite does not end.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from compare import write_table

HEAD = (
    "| package | version | tests | pass with PyTorch | pass with retrograd | pass with PyTorch only |\n"
    "|---|---|---|---|---|---|\n"
)
LIMIT = 1800  # seconds for one run of one suite


class Suite(NamedTuple):
    """The tests of a package: the release whose source distribution holds them, the files, and what they ask for.

    `imports_torch` says that the setup of the package imports PyTorch, which an isolated build does not find.
    """

    version: str
    paths: str
    environment: Mapping[str, str] = MappingProxyType({})
    imports_torch: bool = False


SUITES = {
    "einops": Suite("0.8.2", "einops", MappingProxyType({"EINOPS_TEST_BACKENDS": "numpy,torch"})),
    "ema-pytorch": Suite("0.8.3", "tests"),
    "entmax": Suite("1.0", "entmax", imports_torch=True),
    "gpytorch": Suite("1.15.2", "test"),
    "linear_operator": Suite("0.6.1", "test"),
    "normflows": Suite("1.7.3", "normflows"),
    "opt_einsum": Suite("3.4.0", "opt_einsum"),
    "pytorch-minimize": Suite("0.1.0", "tests"),
    "pytorch-optimizer": Suite("4.1.0", "tests --ignore=tests/test_create_optimizer.py"),
    "pytorch-warmup": Suite("0.2.0", "test"),
    "skorch": Suite("1.4.0", " ".join(f"skorch/tests/test_{part}.py" for part in (
        "classifier", "dataset", "regressor", "setter", "utils"))),
    "tensorly": Suite("0.10.0", "tensorly", MappingProxyType({"TENSORLY_BACKEND": "pytorch"})),
    "torch_optimizer": Suite("0.3.0", "tests --import-mode=importlib"),
    "zuko": Suite("1.6.0", "tests"),
}


def unpacked(package: str, folder: Path) -> Path:
    """The folder with the sources of a package, downloaded into `folder`."""
    wanted = f"{package}=={SUITES[package].version}"
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", wanted]
    subprocess.run([*pip, "--no-build-isolation"] if SUITES[package].imports_torch else pip, cwd=folder, check=True)
    (archive,) = folder.glob("*.tar.gz")
    subprocess.run(["tar", "-xzf", archive.name], cwd=folder, check=True)
    return folder / archive.name.removesuffix(".tar.gz")


def passed(sources: Path, suite: Suite, *way: str) -> tuple[set[str], int]:
    """The tests that pass, by their names, and the number of tests that ran."""
    report = sources / "report.xml"
    report.unlink(missing_ok=True)
    command = [sys.executable, *way, "-m", "pytest", *suite.paths.split(), "-q", "-W", "ignore", "-o", "addopts="]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"} | suite.environment
    subprocess.run([*command, f"--junitxml={report}"], cwd=sources, env=environment, capture_output=True, timeout=LIMIT)
    names, ran = set(), 0
    for case in ElementTree.parse(report).iter("testcase"):
        outcomes = {child.tag for child in case} & {"failure", "error", "skipped"}
        ran += "skipped" not in outcomes
        if not outcomes:
            names.add(f"{case.get('classname')}.{case.get('name')}")
    return names, ran


def compare(package: str) -> str:
    """Runs a suite both ways. Returns its row of the table."""
    suite = SUITES[package]
    with tempfile.TemporaryDirectory() as folder:
        sources = unpacked(package, Path(folder))
        expected, ran = passed(sources, suite)
        found, _ = passed(sources, suite, "-m", "retrograd", "run")
    lost = sorted(expected - found)
    print(f"{package:24} {ran:6} tests, {len(expected)} and {len(found)} pass", *lost, sep="\n    ", flush=True)
    return f"| {package} | {suite.version} | {ran} | {len(expected)} | {len(found)} | {len(lost) or 'none'} |\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs tests of packages with PyTorch and with retrograd.")
    parser.add_argument("--page", type=Path, help="a page whose table of results is written anew")
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", choices=[*SUITES, []], help="all packages if none")
    options = parser.parse_args()
    if options.page and options.packages:
        parser.error("the page shows all packages")
    rows = [compare(package) for package in options.packages or SUITES]
    if options.page:
        write_table(options.page, HEAD, rows)


if __name__ == "__main__":
    main()
