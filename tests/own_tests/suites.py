"""The suites: which test files each one loads, and which tests no package on a CPU can be asked to pass."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
# The version of the tests, which is not that of the PyTorch that retrograd follows.
VERSION = "1.13.1"


class TestFile(NamedTuple):
    """A test file: the name of its module, its path, and whether its tests count. Other files import the others."""

    module: str
    path: str
    counts: bool = True


SUITES = {
    "autograd": (TestFile("autograd.test_complex", "autograd/test_complex.py"),
                 TestFile("autograd.test_functional", "autograd/test_functional.py", counts=False),
                 TestFile("test_autograd", "test_autograd.py")),
    "functional": (TestFile("test_functional", "autograd/test_functional.py"),),
    "func": (TestFile("test_eager_transforms", "functorch/test_eager_transforms.py"),),
    "vmap": (TestFile("test_vmap", "functorch/test_vmap.py"),),
    "optim": (TestFile("test_optim", "test_optim.py"),),
    "indexing": (TestFile("test_indexing", "test_indexing.py"),
                 TestFile("test_scatter_gather_ops", "test_scatter_gather_ops.py")),
    "views": (TestFile("test_view_ops", "test_view_ops.py"),),
    "promotion": (TestFile("test_type_promotion", "test_type_promotion.py"),),
    "nn": (TestFile("test_nn", "test_nn.py"),),
}


@cache
def patterns(name: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a data file: a pattern of test ids, and a reason behind ` # `."""
    lines = [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    pairs = [line.partition(" # ") for line in lines]
    return tuple([(pattern.strip(), reason.strip()) for pattern, _, reason in pairs])


def reason(name: str, test_id: str) -> str | None:
    """The reason of the first pattern in a data file that fits a test; None if none fits."""
    return next((why for pattern, why in patterns(name) if fnmatchcase(test_id, pattern)), None)


def applies(test_id: str) -> bool:
    """Whether a package on a CPU can be asked to pass a test."""
    return reason("not_applicable.txt", test_id) is None
