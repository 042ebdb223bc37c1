"""Warnings about classes that take over calls, and about nodes of trees: PyTorch's."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd


class Method:
    """Takes over calls by a method of its objects."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "taken"


class Class:
    """Takes over calls by a method of the class."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "taken"


class Static:
    """Takes over calls by a function."""

    @staticmethod
    def __torch_function__(func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return "taken"


def register_twice(package: Any) -> None:
    tree = importlib.import_module(f"{package.__name__}.utils._pytree")
    kind = type("Kind", (), {})
    for _ in range(2):
        tree._register_pytree_node(kind, lambda x: ([], None), lambda parts, _: kind())


CALLS: dict[str, Callable[[Any], Any]] = {
    "method": lambda t: t.add(Method(), 1), "of a tensor": lambda t: t.ones(1).add(Method()),
    "operator": lambda t: t.ones(1) * Method(), "class": lambda t: t.add(Class(), 1),
    "static": lambda t: t.add(Static(), 1), "second": lambda t: t.add(Class(), Method()),
    "registered twice": register_twice}


@pytest.mark.parametrize("name", CALLS)
def test_warnings(name: str) -> None:
    def told(package: Any) -> list[Any]:
        always = package.is_warn_always_enabled()
        package.set_warn_always(True)
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            result = CALLS[name](package)
        package.set_warn_always(always)
        return [result, *[(each.category.__name__, str(each.message).partition(" (Triggered")[0]) for each in given]]

    assert told(retrograd) == told(torch)
