"""Tests with parameters: which tests a function becomes, under the names that PyTorch gives them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import torch

from .comparing import name_of


class subtest:
    """One choice of values, with a name and decorators."""

    def __init__(self, arg_values: Any, name: str | None = None, decorators: Any = None) -> None:
        self.arg_values, self.name, self.decorators = arg_values, name, decorators or []


class parametrize:
    """A decorator that notes values on a test. The tests are made by the functions that instantiate a class."""

    def __init__(self, arg_str: str, arg_values: Any, name_fn: Callable[..., str] | None = None) -> None:
        self.names, self.values = [name.strip() for name in arg_str.split(",")], list(arg_values)
        self.name_fn = name_fn

    def __call__(self, function: Any) -> Any:
        function.parameters = [self, *getattr(function, "parameters", [])]
        return function

    def choices(self) -> Iterator[tuple[dict[str, Any], str, list[Any]]]:
        """The values by name, the end of the test's name, and the decorators, of each choice."""
        for entry in self.values:
            name, decorators, given = None, [], entry
            if isinstance(entry, subtest):
                name, decorators, given = entry.name, entry.decorators, entry.arg_values
            values = list(given) if len(self.names) > 1 else [given]
            if name is None and self.name_fn is not None:
                name = self.name_fn(*values)
            if name is None:
                name = "_".join(map(_label, self.names, values))
            yield dict(zip(self.names, values)), name, decorators


def _label(name: str, value: Any) -> str:
    if isinstance(value, torch.dtype):
        return name_of(value)
    if isinstance(value, type) or callable(value):
        value = getattr(value, "__name__", type(value).__name__)
    text = f"{name}_{value}".replace("retrograd.", "torch.")
    return text.replace(".", "_").replace(" ", "").replace("<", "").replace(">", "")


def each_choice(function: Any) -> Iterator[tuple[Any, str, dict[str, Any]]]:
    """The decorated function, the end of its name and its keyword arguments, for each choice of all parameters."""
    parameters = getattr(function, "parameters", [])
    for combination in itertools.product(*[list(parameter.choices()) for parameter in parameters]):
        kwargs, suffix, made = {}, "", function
        for values, label, decorators in combination:
            kwargs.update(values)
            suffix += f"_{label}"
            for decorator in decorators:
                made = decorator(_another(made))
        yield made, suffix, kwargs


def _another(function: Any) -> Any:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def own_tests(cls: type) -> list[tuple[str, Any]]:
    """The tests of a class and of its bases, in the order of their definition."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update({name: function for name, function in vars(base).items() if name.startswith("test")})
    return [(name, function) for name, function in found.items() if callable(function)]


def instantiate_parametrized_tests(cls: type) -> None:
    """Replace each test of a class that has parameters by one test for each choice."""
    for name, function in own_tests(cls):
        if not getattr(function, "parameters", None):
            continue
        setattr(cls, name, None)
        for made, suffix, kwargs in each_choice(function):
            test = _bound(made, kwargs)
            test.__name__ = name + suffix
            setattr(cls, test.__name__, test)


def _bound(function: Any, kwargs: dict[str, Any]) -> Any:
    @functools.wraps(function)
    def test(self: Any, **more: Any) -> Any:
        return function(self, **more, **kwargs)

    return test
