"""The public namespaces are explicit: what a module offers is what its `__all__` lists, neither more nor less."""

from __future__ import annotations

import importlib
import subprocess
import sys
from functools import cache

import pytest

PUBLIC = ["retrograd", "retrograd.autograd", "retrograd.autograd.functional", "retrograd.cuda",
          "retrograd.distributions", "retrograd.fft", "retrograd.linalg", "retrograd.nn", "retrograd.nn.functional",
          "retrograd.optim", "retrograd.special", "retrograd.utils", "retrograd.viz"]


# A new interpreter looks, since modules store names that other tests have asked for.
LOOK = """
import importlib, sys
from types import ModuleType
from retrograd.foundations.names import contents
for name in sys.argv[1:]:
    found = contents(importlib.import_module(name)).items()
    print(*[key for key, value in found if not key.startswith("_") and not isinstance(value, ModuleType)])
"""


@cache
def offered() -> dict[str, set[str]]:
    """The names that each module defines or imports for others to use; modules are offered only by listing them."""
    lines = subprocess.run([sys.executable, "-c", LOOK, *PUBLIC], capture_output=True, text=True, check=True).stdout
    return {name: {*line.split()} for name, line in zip(PUBLIC, lines.splitlines(), strict=True)}


@pytest.mark.parametrize("name", PUBLIC)
def test_all_names_exist_once(name: str) -> None:
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert [n for n in module.__all__ if not hasattr(module, n)] == []


@pytest.mark.parametrize("name", [name for name in PUBLIC if not name.endswith("functional")])
def test_nothing_is_offered_that_is_not_listed(name: str) -> None:
    module = importlib.import_module(name)
    allowed = {"annotations", "TYPE_CHECKING", "hint_at_missing_names", "inside", "late", "missing", "offered"}
    assert offered()[name] - set(module.__all__) - allowed == set()
