"""The examples in docstrings do what they show, with `torch` standing for retrograd where they do not import it.

The modules are walked by hand: pytest's own collection would import each under its file's name, and rebind names of
the package such as `retrograd.tensor`, which is a function as well as a package.
"""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from types import ModuleType

import pytest

import retrograd

# Importing it runs the command line.
NOT_IMPORTED = {"retrograd.__main__"}
NAMES = ["retrograd", *(m.name for m in pkgutil.walk_packages(retrograd.__path__, "retrograd.")
                        if m.name not in NOT_IMPORTED)]


def examples(module: ModuleType) -> list[doctest.DocTest]:
    """The docstrings of a module that hold examples, those of its classes and functions among them."""
    names = {"torch": retrograd, "retrograd": retrograd}
    found = doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__, module, extraglobs=names)
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_a_module_do_what_they_show(name: str) -> None:
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in examples(importlib.import_module(name)):
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)


def test_examples_are_found() -> None:
    """The search above sees docstrings at all: of a function, and of a method."""
    found = {test.name for name in NAMES for test in examples(importlib.import_module(name))}
    assert {"retrograd.tensors.recording.overwriting.copy_", "retrograd.optim.sgd.SGD"} <= found
    assert len(found) > 50
