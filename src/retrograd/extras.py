"""The optional extras: which packages an extra installs, and the error of a part whose package is absent.

pyproject.toml has the same extras under the same names. This module does not know what a part does with its package.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The packages of each extra, by the names that pip knows. The first one is also the name to import.
PACKAGES = {
    "compile": ("llvmlite",),
    "distributed": ("mpi4py",) if sys.platform == "win32" else ("mpi4py", "mpich"),   # Windows has MPIs of its own
    "dtypes": ("ml_dtypes",),
    "plot": ("matplotlib",),
    "quasirandom": ("scipy",),
    "tensorboard": ("tensorboard", "pillow"),
}


def command(extra: str) -> str:
    """The command that installs an extra. It names the packages, so it works wherever retrograd came from.

    >>> command("tensorboard")
    'pip install tensorboard pillow'
    """
    return f"pip install {' '.join(PACKAGES[extra])}"


def remedy(extra: str) -> str:
    """The sentence that ends a message about an absent package."""
    return f"Install it: {command(extra)}"


def installed(extra: str) -> bool:
    """Whether the package of an extra is there. It is not imported."""
    return importlib.util.find_spec(PACKAGES[extra][0]) is not None


def absent(extra: str, part: str) -> ModuleNotFoundError:
    """The error of a part that needs an absent package, such as "Sobol sequences need the package scipy. …".

    `part` is the beginning of the sentence, with its verb.
    """
    package = PACKAGES[extra][0]
    return ModuleNotFoundError(f"{part} the package {package}. {remedy(extra)}", name=package)


@contextmanager
def skip_without(package: str) -> Iterator[None]:
    """A block that may import a package. If the package is absent, the block ends there, and prints what to install.

    >>> with skip_without("no_such_package"):
    ...     import no_such_package
    Skipped, since the package no_such_package is absent. Install it: pip install no_such_package
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        print(f"Skipped, since the package {package} is absent. Install it: pip install {package}")


def imported(extra: str, part: str, module: str = "") -> Any:
    """The package of an extra, or one of its modules. Raises `absent(extra, part)` if the package is absent."""
    package = PACKAGES[extra][0]
    try:
        return importlib.import_module(module or package)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise                                          # the package is there, and lacks something itself
        raise absent(extra, part) from error
