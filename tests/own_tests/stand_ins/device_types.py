"""torch.testing._internal.common_device_type, for one kind of device: the CPU."""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable
from typing import Any, NamedTuple

from ..serving import Placeholder
from .comparing import name_of
from .parameters import each_choice, own_tests
from .utils import TestCase, unchanged


class tol(NamedTuple):
    """Tolerances."""

    atol: float
    rtol: float


class dtypes:
    """A decorator that notes the dtypes of a test, or pairs of them, for a kind of device."""

    device = "all"

    def __init__(self, *args: Any, device_type: str = "all") -> None:
        self.args = [tuple(a) for a in args] if args and isinstance(args[0], list | tuple) else list(args)
        if device_type != "all":
            self.device = device_type

    def __call__(self, function: Any) -> Any:
        function.dtypes = {**getattr(function, "dtypes", {}), self.device: self.args}
        return function


class dtypesIfCPU(dtypes):
    """The same for the CPU."""

    device = "cpu"


class dtypesIfCUDA(dtypes):
    """The same for GPUs."""

    device = "cuda"


class dtypesIfMPS(dtypes):
    """The same for another kind of GPU."""

    device = "mps"


class precisionOverride:
    """A decorator that notes absolute tolerances by dtype."""

    def __init__(self, by_dtype: dict[Any, float]) -> None:
        self.by_dtype = {dtype: tol(limit, 0) for dtype, limit in by_dtype.items()}

    def __call__(self, function: Any) -> Any:
        function.tolerances = self.by_dtype
        return function


class toleranceOverride(precisionOverride):
    """A decorator that notes tolerances by dtype."""

    def __init__(self, by_dtype: dict[Any, tol]) -> None:
        self.by_dtype = by_dtype


def _unless(reason: str) -> Callable[[Any], Any]:
    """The mark of tests that are skipped."""

    def mark(decorated: Any) -> Any:
        if isinstance(decorated, type):
            return unittest.skip(reason)(decorated)
        decorated.skip_reason = reason
        return decorated

    return mark


def ops(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """The mark of tests that the database of operators drives."""
    return _unless("driven by the database of operators")


def deviceCountAtLeast(count: int) -> Callable[[Any], Any]:
    """The mark of tests that take a list of devices."""

    def mark(function: Any) -> Any:
        function.device_list = True
        return function if count <= 1 else _unless(f"needs {count} devices")(function)

    return mark


def largeTensorTest(size: Any, device: Any = None) -> Callable[[Any], Any]:
    """The mark of tests that need much memory."""
    return _unless("needs much memory")


def skipIf(condition: Any, reason: str, device_type: str | None = None) -> Callable[[Any], Any]:
    """The mark of tests that are skipped under a condition."""
    return _unless(reason) if condition is True and device_type in (None, "cpu") else unchanged


def skipCPUIf(condition: Any, reason: str) -> Callable[[Any], Any]:
    """The same on the CPU."""
    return skipIf(condition, reason)


onlyCUDA = onlyMPS = onlyAccelerator = _unless("runs on an accelerator only")
skipCPUIfNoMkldnn, skipCPUIfNoMkl = _unless("needs MKL-DNN"), _unless("needs MKL")


def get_all_device_types() -> list[str]:
    """The kinds of devices."""
    return ["cpu"]


class _OnCPU(TestCase):
    device_type = "cpu"

    @classmethod
    def get_primary_device(cls) -> str:
        """The device."""
        return "cpu"

    @classmethod
    def get_all_devices(cls) -> list[str]:
        """The devices."""
        return ["cpu"]


def instantiate_device_type_tests(generic: type, scope: dict[str, Any], except_for: Any = None, only_for: Any = None,
                                  **others: Any) -> None:
    """Replace a class of tests by the class of these tests on the CPU."""
    scope.pop(generic.__name__, None)
    only = (only_for,) if isinstance(only_for, str) else only_for
    if (only is not None and "cpu" not in only) or (except_for and "cpu" in except_for):
        return
    name = f"{generic.__name__}CPU"
    members: dict[str, Any] = {"__module__": generic.__module__, "__qualname__": name}
    for test_name, function in own_tests(generic):
        members[test_name] = None
        for made, suffix, kwargs in each_choice(function):
            by_device = getattr(made, "dtypes", {"all": [None]})
            for dtype in by_device.get("cpu", by_device.get("all", [None])):
                label = "" if dtype is None else "_" + "_".join(map(name_of, _listed(dtype)))
                test = _made(made, kwargs, dtype)
                test.__name__ = f"{test_name}{suffix}_cpu{label}"
                members[test.__name__] = test
    scope[name] = type(name, (generic, _OnCPU), members)


def _listed(dtype: Any) -> tuple[Any, ...]:
    return dtype if isinstance(dtype, tuple) else (dtype,)


def _made(function: Any, kwargs: dict[str, Any], dtype: Any) -> Any:
    """The test for one dtype, or for several."""
    reason, limits = getattr(function, "skip_reason", None), getattr(function, "tolerances", {})
    names = list(inspect.signature(function).parameters)[1:]
    first = bool(names) and names[0] not in {"dtype", "dtypes", *kwargs}

    @functools.wraps(function)
    def test(self: Any) -> Any:
        if reason:
            raise unittest.SkipTest(reason)
        given = dict(kwargs)
        if dtype is not None:
            given["dtypes" if isinstance(dtype, tuple) else "dtype"] = dtype
        if not isinstance(dtype, tuple) and dtype in limits:
            self.precision, self.rel_tol = limits[dtype]
        if "device" in names[1:] and not first:
            given["device"] = "cpu"
        where = [["cpu"] if getattr(function, "device_list", False) else "cpu"] if first else []
        return function(self, *where, **given)

    return test


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name.startswith(("skip", "only", "expectedFailure", "disable")):
        return unchanged
    return Placeholder(f"torch.testing._internal.common_device_type.{name}")
