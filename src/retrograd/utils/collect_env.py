"""What a report of a fault should say of the computer: `python -m retrograd.utils.collect_env`."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import distributions

from ..version import __version__

_PACKAGES = ("numpy", "retrograd", "torch")


def get_pretty_env_info() -> str:
    """The versions of the package, of Python and of NumPy, and the system, as lines of text."""
    found = {each.metadata["Name"]: each.version for each in distributions()}
    lines = [f"PyTorch version: {__version__} (retrograd)", "Is debug build: False",
             "CUDA used to build PyTorch: None", "", f"OS: {platform.platform()}",
             f"Libc version: {'-'.join(platform.libc_ver()) or 'N/A'}", "",
             f"Python version: {sys.version.replace(os.linesep, ' ')} ({sys.maxsize.bit_length() + 1}-bit runtime)",
             f"Python platform: {platform.platform()}", "Is CUDA available: False", "",
             f"CPU: {platform.processor() or platform.machine()}, {os.cpu_count()} cores", "",
             "Versions of relevant libraries:"]
    return "\n".join([*lines, *(f"[pip3] {name}=={found[name]}" for name in _PACKAGES if name in found)])


def main() -> None:
    """Print the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
