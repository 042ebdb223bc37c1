"""Without the ways past NumPy: RETROGRAD_NATIVE=0, a Python without ctypes, a BLAS that cannot be reached."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import retrograd as torch
from retrograd.compilation.native import host
from retrograd.kernels import layout
from retrograd.kernels.native import blas, door, heap, openblas

ROOT = Path(__file__).parents[3]
# What calls the kernels that have two ways, and the compiler with NumPy.
FILES = ("blas", "lapack", "convolution", "heap", "as_eager")


def off(*words: str) -> str:
    """What a Python prints in which the ways are off."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=300, cwd=ROOT,
                          env={**os.environ, door.VARIABLE: "0", "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_tests_of_the_kernels_pass_with_numpy_alone() -> None:
    places = [next(Path("tests/unit").rglob(f"test_{name}.py")).as_posix() for name in FILES]
    assert " passed" in off("-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "--quick", *places)


def test_machine_code_says_why_it_is_off() -> None:
    program = """
import sys, retrograd as torch
print("ctypes" in vars(torch.kernels.native.door) and torch.kernels.native.door.ctypes)
f = torch.compile(lambda x: x.sin() * 2)
print(f(torch.zeros(2)), "llvmlite" in sys.modules, "retrograd.compilation.native" in sys.modules)
try:
    torch.compile(lambda x: x.sin() * 2, backend="llvm")(torch.zeros(2))
except ImportError as error:
    print(error)
"""
    assert off("-c", program).splitlines() == [
        "None", "tensor([0., 0.]) False False",
        "torch.compile with backend='llvm' makes machine code, which is off: RETROGRAD_NATIVE=0 is set"]


def test_info_says_whether_the_ways_are_on() -> None:
    assert "\nnative       off: RETROGRAD_NATIVE=0 is set\n" in off("-m", "retrograd", "info")


def test_the_variable_and_a_missing_ctypes_close_the_door(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(door.VARIABLE, "1")
    assert door.opened() == (importlib.import_module("ctypes"), "")
    monkeypatch.setitem(sys.modules, "ctypes", None)
    assert door.opened() == (None, "this Python has no ctypes")
    monkeypatch.setenv(door.VARIABLE, "0")
    assert door.opened() == (None, "RETROGRAD_NATIVE=0 is set")


@pytest.fixture
def looked_up_anew() -> Iterator[None]:
    """The test looks functions up anew, and so do the tests that follow."""
    caches: tuple[Any, ...] = openblas._library, openblas.function, openblas.size_dtype, host.available, host.binding
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.usefixtures("looked_up_anew")
def test_a_closed_door_is_asked_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door, "ctypes", None)
    monkeypatch.setattr(door, "why_off", "for a test")
    monkeypatch.setattr(heap, "_is_glibc", lambda: pytest.fail("the heap was asked for"))
    heap.keep_freed_memory()
    assert openblas.function("openblas_get_num_threads", "", "f") is None
    assert not blas.can_be_alone()
    assert layout._reader() is None
    with pytest.raises(ImportError, match=r"^Machine code is off: for a test$"):
        host.binding()


@pytest.mark.usefixtures("looked_up_anew")
@pytest.mark.parametrize("library", [None, openblas._Library(SimpleNamespace(), "", "")])
def test_a_blas_that_lacks_functions_is_done_without(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(openblas, "_library", lambda: asked.append(1) or library)
    a = torch.tensor([[4., 1.], [1., 3.]], dtype=torch.float64)
    factors, pivots = torch.linalg.lu_factor(a)
    np.testing.assert_allclose(torch.linalg.lu_solve(factors, pivots, a).numpy(), np.eye(2), atol=1e-15)
    x, w = torch.ones(2, 3, 9, 9), torch.ones(4, 3, 3, 3, requires_grad=True)
    torch.conv2d(x, w).sum().backward()
    assert w.grad is not None
    assert w.grad.unique().tolist() == [98.]
    assert asked


def test_an_array_that_lies_otherwise_is_asked_for_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    array = np.arange(3.)
    expected = array.__array_interface__["data"][0]
    assert layout.address(array) == expected
    monkeypatch.setattr(layout, "_HEAD", layout._HEAD + np.dtype(np.uintp).itemsize)      # as in another NumPy
    assert layout._reader() is None
    monkeypatch.setattr(layout, "_number_at", layout._reader())
    assert layout.address(array) == expected
