"""The tests in this folder compare with real PyTorch. Without it, or with another release, they fail; none skips,
except for what a build for CUDA answers otherwise (see comparing/builds.py).

Tests of pages need a browser, which a newcomer's machine need not have. Where there is none, they skip and say so.
"""

import warnings

import pytest
import torch

import retrograd
from comparing import builds

EXPECTED = "2.13.0"

if torch.__version__.partition("+")[0] != EXPECTED:
    raise RuntimeError(f"parity is with PyTorch {EXPECTED}, and {torch.__version__} is installed: run `make parity`")

# Results must not depend on how many processors share the sums.
torch.set_num_threads(1)
# Nor on what else is installed: beside opt_einsum, PyTorch's einsum contracts three operands and more in the order that
# opt_einsum finds, rounds otherwise and has other nodes. Without it, both go from left to right.
torch.backends.opt_einsum.enabled = False
torch.backends.opt_einsum.strategy = None
# `torch.manual_seed` keeps a seed for each kind of device that may come to be used, with the caller's stack as text.
# The texts took three quarters of the time of many tests, and no such device comes to be used here.
for _devices in (torch.cuda.random, torch.xpu.random, torch.mtia):
    _devices._lazy_call = lambda call, **options: None  # type: ignore[attr-defined]
# A warning that is given once a process would come in whichever test runs first.
torch.set_warn_always(True)
retrograd.set_warn_always(True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what asks PyTorch about devices if it is a build for CUDA."""
    for item in items:
        if isinstance(item, pytest.Function) and item.path.is_relative_to(builds.PARITY) and (
                builds.asks_about_devices(item)):
            item.add_marker(pytest.mark.skip(reason=builds.WHY))


@pytest.fixture(autouse=True, scope="module")
def _checked_parameters() -> None:
    """PyTorch's compiler switches the checks of all distributions off for the process."""
    torch.distributions.Distribution.set_default_validate_args(True)


@pytest.fixture(scope="session")
def forward_mode() -> None:
    """The first uses of PyTorch's forward mode warn of PyTorch's own code: dual tensors, and compiled scripts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.autograd.forward_ad.dual_level():
            torch.autograd.forward_ad.make_dual(torch.ones(1), torch.ones(1))
        torch.func.jvp(torch.sin, (torch.ones(()),), (torch.ones(()),))
