"""The tests in this folder compare with real PyTorch. Without it, or with another release, they fail; none skips.

Tests of pages need a browser, which a newcomer's machine need not have. Where there is none, they skip and say so.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import retrograd
from programs.explored import opened
from showing.browsers import Browser, browser, missing_program

EXPECTED = "2.13.0"

if torch.__version__.partition("+")[0] != EXPECTED:
    raise RuntimeError(f"parity is with PyTorch {EXPECTED}, and {torch.__version__} is installed: run `make parity`")

# Results must not depend on how many processors share the sums.
torch.set_num_threads(1)
# Nor on what else is installed: beside opt_einsum, PyTorch's einsum contracts three operands and more in the order that
# opt_einsum finds, rounds otherwise and has other nodes. Without it, both go from left to right.
torch.backends.opt_einsum.enabled = False
torch.backends.opt_einsum.strategy = None
# A warning that is given once a process would come in whichever test runs first.
torch.set_warn_always(True)
retrograd.set_warn_always(True)


@pytest.fixture(autouse=True, scope="module")
def _checked_parameters() -> None:
    """PyTorch's compiler switches the checks of all distributions off for the process."""
    torch.distributions.Distribution.set_default_validate_args(True)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pages, the browser's profile and its downloads are."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def shown(folder: Path) -> Iterator[Browser]:
    """A browser."""
    missing = missing_program()
    if missing:
        pytest.skip(missing)
    with browser(folder) as started:
        yield started


@pytest.fixture
def page(shown: Browser, folder: Path) -> Iterator[Any]:
    """Opens the explorer's page of a pass. At the end, the browser must not have complained of anything."""
    yield partial(opened, shown, folder)
    assert not shown.complaints


@pytest.fixture(scope="session")
def forward_mode() -> None:
    """The first uses of PyTorch's forward mode warn of PyTorch's own code: dual tensors, and compiled scripts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.forward_ad.dual_level():
            torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))
        torch.func.jvp(torch.sin, (torch.ones(()),), (torch.ones(()),))
