"""The base class of PyTorch's tests."""

from __future__ import annotations

import contextlib
import inspect
import random
import unittest
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from .comparing import Options, array_of, compare, is_tensor
from .contexts import set_warn_always_context

_SEED = 1234
_NUMPY = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128")
numpy_to_torch_dtype_dict = {**{getattr(np, name): getattr(torch, name) for name in _NUMPY}, np.bool_: torch.bool}
torch_to_numpy_dtype_dict = {**{theirs: ours for ours, theirs in numpy_to_torch_dtype_dict.items()},
                             torch.bfloat16: np.float32, torch.complex32: np.complex64}


def set_rng_seed(seed: int = _SEED) -> None:
    """Begin all streams of random numbers anew."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class TestCase(unittest.TestCase):
    """A test case with PyTorch's assertions. `precision` and `rel_tol` are floors of the tolerances."""

    precision: float = 0
    rel_tol: float = 0
    maxDiff = None

    def setUp(self) -> None:
        """Begin all streams of random numbers anew."""
        set_rng_seed()

    def assertEqual(self, x: Any, y: Any, msg: Any = None, *, atol: Any = None, rtol: Any = None,
                    equal_nan: bool = True, exact_dtype: bool = True, exact_device: bool = False,
                    exact_layout: bool = False, exact_stride: bool = False, **others: Any) -> None:
        """Fail unless the values are equal within the tolerances."""
        options = Options(rtol, atol, self.rel_tol, self.precision, equal_nan, exact_dtype, exact_device, exact_layout,
                          exact_stride)
        try:
            compare(x, y, options)
        except AssertionError as error:
            text = msg(str(error)) if callable(msg) else f"{error} : {msg}" if msg else str(error)
            raise self.failureException(text) from None

    assertEquals = assertEqual

    def assertEqualIgnoreType(self, *args: Any, **kwargs: Any) -> None:
        """`assertEqual` of any dtypes."""
        self.assertEqual(*args, exact_dtype=False, **kwargs)

    def assertEqualBroadcasting(self, x: Any, y: Any, *args: Any, **kwargs: Any) -> None:
        """`assertEqual` with a number in the place of the second tensor."""
        self.assertEqual(x, y if is_tensor(y) else torch.ones_like(x) * y, *args, exact_dtype=False, **kwargs)

    def assertNotEqual(self, x: Any, y: Any, msg: Any = None, **kwargs: Any) -> None:
        """Fail if the values are equal within the tolerances."""
        try:
            self.assertEqual(x, y, **kwargs)
        except AssertionError:
            return
        self.fail(f"unexpectedly equal: {x!r}" + (f" : {msg}" if msg else ""))

    def assertObjectIn(self, obj: Any, iterable: Any) -> None:
        """Fail unless the very object is among others."""
        self.assertTrue(any(obj is each for each in iterable), "object not found")

    def assertNotWarn(self, callable: Callable[[], Any], msg: str = "") -> None:
        """Fail if a call warns."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            callable()
        self.assertTrue(not caught, msg or f"unexpected warning: {[str(w.message) for w in caught]}")

    @contextlib.contextmanager
    def assertWarnsOnceRegex(self, category: Any, regex: str = "") -> Iterator[None]:
        """Fail unless a warning fits."""
        with set_warn_always_context(True), self.assertWarnsRegex(category, regex):
            yield

    @contextlib.contextmanager
    def maybeWarnsRegex(self, category: Any, regex: str = "") -> Iterator[None]:
        """Let a warning be, whether it comes or not."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def assertExpectedInline(self, actual: Any, expect: str, skip: int = 0) -> None:
        """Fail unless the text is the expected one."""
        self.assertMultiLineEqual(str(actual), expect)

    def assertExpected(self, s: Any, subname: str | None = None) -> None:
        """Fail unless the text is that of a file beside the test."""
        name = ".".join(self.id().split(".")[-2:]) + (f"-{subname}" if subname else "")
        file = Path(inspect.getsourcefile(type(self)) or "").parent / "expect" / f"{name}.expect"
        self.assertMultiLineEqual(file.read_text(encoding="utf-8").strip(), str(s).strip())

    def assertExpectedRaises(self, *args: Any, **kwargs: Any) -> None:
        """Skip the test, whose texts are PyTorch's internals."""
        raise unittest.SkipTest("compares a text with a file")

    def compare_with_numpy(self, torch_fn: Callable[..., Any], np_fn: Callable[..., Any], tensor_like: Any,
                           device: Any = None, dtype: Any = None, **kwargs: Any) -> None:
        """Fail unless NumPy's function gives the same."""
        if is_tensor(tensor_like):
            tensor, array = tensor_like, array_of(tensor_like)
        else:
            array = np.array(tensor_like, dtype=torch_to_numpy_dtype_dict[dtype])
            tensor = torch.tensor(tensor_like, device=device, dtype=dtype)
        actual = torch_fn(tensor)
        if is_tensor(actual) and actual.dtype == torch.bfloat16:
            actual = actual.float()
        self.assertEqual(np_fn(array), actual, **kwargs)
