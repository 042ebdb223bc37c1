"""The package in one folder, as the wheel has it. The files are links to those of the checkout.

    python -m trying.flat ../build/flat      # from the folder tests/; `make check` does this

In a checkout, PyTorch's names stand beside the package. Type checkers do not see that the package finds them there.
"""

from __future__ import annotations

import sys
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"


def laid_out(folder: Path) -> Path:
    """Make the package in a folder, or renew it. Returns the folder."""
    package = folder / "retrograd"
    package.mkdir(parents=True, exist_ok=True)
    for link in package.iterdir():
        link.unlink()
    for part in ("retrograd", "namespaces"):
        for path in (SOURCE / part).iterdir():
            if path.is_file() or any(path.rglob("*.py")):  # byte code may be left of a folder that is gone
                (package / path.name).symlink_to(path, path.is_dir())
    return folder


if __name__ == "__main__":
    laid_out(Path(sys.argv[1]))
