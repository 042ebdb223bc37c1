"""The public namespaces are explicit: what a module offers is what its `__all__` lists, neither more nor less."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

from retrograd import _RARE
from retrograd.foundations.names import inside

PUBLIC = ["retrograd", "retrograd.autograd", "retrograd.autograd.functional", "retrograd.cuda",
          "retrograd.distributions", "retrograd.fft", "retrograd.linalg", "retrograd.nn", "retrograd.nn.functional",
          "retrograd.optim", "retrograd.special", "retrograd.utils", "retrograd.viz"]


def offered(module: ModuleType) -> set[str]:
    """The names that a module defines or imports for others to use; modules are offered only by listing them."""
    return {name for name, value in vars(module).items()
            if not name.startswith("_") and not isinstance(value, ModuleType)}


@pytest.mark.parametrize("name", PUBLIC)
def test_all_names_exist_once(name: str) -> None:
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert [n for n in module.__all__ if not hasattr(module, n)] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if not name.endswith("functional")])
def test_nothing_is_offered_that_is_not_listed(name: str) -> None:
    module = importlib.import_module(name)
    allowed = {"annotations", "TYPE_CHECKING", "hint_at_missing_names", "inside", "late", "missing", "offered"}
    if name == "retrograd":                                # what is rarely used is stored at its first use
        allowed |= inside(_RARE).keys()
    assert offered(module) - set(module.__all__) - allowed == set()
