"""The table of names that only programs need has names of PyTorch, each of its kind."""

from __future__ import annotations

import enum
import importlib
import inspect
import warnings

import pytest

from retrograd.foundations import shells

ENTRIES = [(space, name, entry) for space, row in shells.rows().items() for name, entry in row.items() if name]


@pytest.mark.parametrize("space", shells.rows())
def test_each_module_is_one_of_pytorch(space: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(space)


@pytest.mark.parametrize(("space", "name", "entry"), ENTRIES)
def test_each_name_is_of_its_kind(space: str, name: str, entry: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = getattr(importlib.import_module(space), name)
    if entry.endswith("}"):
        assert issubclass(theirs, enum.Enum)
        assert entry == f"{name}{{{','.join(member.name for member in theirs)}}}"
    elif entry.endswith(")"):
        assert inspect.isclass(theirs)
        base = entry.partition("(")[2][:-1].rpartition(".")[2]
        assert not base or base in [each.__name__ for each in theirs.__mro__]
    else:
        assert callable(theirs)
        assert not inspect.isclass(theirs)


@pytest.mark.parametrize(("space", "alias"), [(space, row[""]) for space, row in shells.rows().items() if "" in row])
def test_an_alias_has_the_same_objects(space: str, alias: str) -> None:
    theirs, others = importlib.import_module(space), importlib.import_module(alias)
    shared = [name for name in shells.listed(space) if hasattr(theirs, name)]
    assert shared
    assert all(getattr(theirs, name) is getattr(others, name) for name in shared)
