"""Facts about an installation: versions, threads, devices, optional extras. This module changes nothing."""

import argparse
import os
import platform
from typing import Any

import numpy as np

from retrograd import __version__, version
from retrograd.extras import PACKAGES, command
from retrograd.foundations.devices import cuda_count
from retrograd.kernels.native import door


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description of ``retrograd info``."""
    parser.description = "Show versions, threads, devices and optional extras."
    parser.epilog = "examples:\n  retrograd info"


def run(options: argparse.Namespace) -> None:
    """Print the facts."""
    print(describe())


def describe() -> str:
    """The text of ``retrograd info``."""
    rows = [
        ("retrograd", version.retrograd),
        ("follows", f"PyTorch {__version__.partition('+')[0]}"),
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})"),
        ("NumPy", np.__version__),
        ("BLAS", _blas()),
        ("native", f"off: {door.why_off}" if door.why_off else "on"),
        ("processors", str(os.cpu_count())),
        *(("device", place) for place in _devices()),
        *((extra, _extra(extra, package)) for extra, (package, *_) in PACKAGES.items()),
    ]
    return "\n".join(f"{name:<12} {value}" for name, value in rows)


def _blas() -> str:
    config: Any = np.show_config(mode="dicts")
    found = config.get("Build Dependencies", {}).get("blas", {})
    return f"{found['name']} {found.get('version', '')}".strip() if found.get("found") else "none: NumPy's own loops"


def _devices() -> list[str]:
    return ["cpu", *[f"cuda:{index} (CuPy reaches it; this version of retrograd does not compute on it)"
                     for index in range(cuda_count())]]


def _extra(extra: str, package: str) -> str:
    # Imported here because this import takes a fifth of the time of NumPy's, and `retrograd run` does not need it.
    from importlib import metadata

    try:
        return f"{package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"not installed ({command(extra)})"
