"""torch.testing._internal.common_utils: the test case, parameters, switches, and what a machine can do."""

from __future__ import annotations

import functools
import inspect
import platform
import sys
import unittest
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch

from ..serving import Placeholder
from .cases import (
    TestCase as TestCase,
    numpy_to_torch_dtype_dict as numpy_to_torch_dtype_dict,
    set_rng_seed as set_rng_seed,
    torch_to_numpy_dtype_dict as torch_to_numpy_dtype_dict,
)
from .contexts import (
    DeterministicGuard as DeterministicGuard,
    TemporaryDirectoryName as TemporaryDirectoryName,
    TemporaryFileName as TemporaryFileName,
    disable_gc as disable_gc,
    freeze_rng_state as freeze_rng_state,
    set_default_dtype as set_default_dtype,
    set_warn_always_context as set_warn_always_context,
)
from .parameters import (
    instantiate_parametrized_tests as instantiate_parametrized_tests,
    parametrize as parametrize,
    subtest as subtest,
)
from .values import make_tensor as make_tensor

IS_WINDOWS, IS_MACOS, IS_LINUX = [sys.platform == name for name in ("win32", "darwin", "linux")]
IS_PPC, IS_ARM64 = platform.processor() == "ppc64le", platform.machine() in ("arm64", "aarch64")
TEST_NUMPY = TEST_WITH_SLOW = True
TEST_SCIPY = find_spec("scipy") is not None
IS_FBCODE = IS_SANDCASTLE = IS_CI = IS_JETSON = IN_RE_WORKER = IS_REMOTE_GPU = BUILD_WITH_CAFFE2 = False
TEST_MKL = TEST_CUDA = TEST_NUMBA = TEST_FAIRSEQ = TEST_WITH_ROCM = TEST_WITH_ASAN = TEST_WITH_TSAN = False
TEST_WITH_UBSAN = TEST_WITH_TORCHDYNAMO = TEST_WITH_CROSSREF = TEST_WITH_SLOW_GRADCHECK = TEST_SKIP_FAST = False
TEST_WITH_DEV_DBG_ASAN = TEST_CUDA_MEM_LEAK_CHECK = NO_MULTIPROCESSING_SPAWN = False
GRADCHECK_NONDET_TOL = 0.0
dtype2prec_DONTUSE = {torch.float32: 1e-5, torch.float64: 1e-5, torch.float16: 1e-2, torch.bfloat16: 1e-1}


# Marks of tests

def unchanged(function: Any = None, *args: Any, **kwargs: Any) -> Any:
    """A decorator, or a maker of one, that changes nothing."""
    return function if callable(function) else lambda decorated: decorated


skipIfRocm = skipIfMps = skipIfTorchDynamo = skipIfNoLapack = skipIfRocmVersionLessThan = skipIfCrossRef = unchanged
skipIfNotMiopenSuggestNHWC = skipIfSlowGradcheckEnv = slowTest = slowTestIf = skipIfTBB = dontFreezeRNG = unchanged
skipIfUnsupportedMinOpsetVersion = skipCUDAMemoryLeakCheckIf = skipCUDANonDefaultStreamIf = unchanged


def skipIfNotRegistered(*args: Any, **kwargs: Any) -> Any:
    """The mark of tests of another project's operators."""
    return unittest.skip("another project's operator")


def suppress_warnings(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, without its warnings."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)

    return call


# Small helpers

def get_function_arglist(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters."""
    return list(inspect.signature(function).parameters)


def is_iterable(obj: Any) -> bool:
    """Whether there is an iterator of an object."""
    try:
        iter(obj)
    except TypeError:
        return False
    return True


def first_sample(self: Any, samples: Any) -> Any:
    """The first of several."""
    return next(iter(samples))


def download_file(*args: Any, **kwargs: Any) -> Any:
    """Skip the test."""
    raise unittest.SkipTest("needs a download")


def to_gpu(obj: Any, type_map: Any = None) -> Any:
    """Skip the test."""
    raise unittest.SkipTest("needs an accelerator")


def load_tests(loader: Any, tests: Any, pattern: Any) -> Any:
    """The tests."""
    return tests


# Gradients against differences: in fast mode, and of batches, as PyTorch checks its own

def gradcheck(function: Any, inputs: Any, **kwargs: Any) -> bool:
    """The package's `gradcheck`."""
    return torch.autograd.gradcheck(function, inputs, **_as_in_tests(kwargs))


def gradgradcheck(function: Any, inputs: Any, grad_outputs: Any = None, **kwargs: Any) -> bool:
    """The package's `gradgradcheck`."""
    return torch.autograd.gradgradcheck(function, inputs, grad_outputs, **_as_in_tests(kwargs))


def _as_in_tests(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {**kwargs, **{name: True for name in ("fast_mode", "check_batched_grad") if kwargs.get(name) is None}}


def _assertGradAndGradgradChecks(test_case: Any, apply_fn: Any, inputs: Any, **kwargs: Any) -> None:
    test_case.assertTrue(gradcheck(apply_fn, inputs, **kwargs))
    test_case.assertTrue(gradgradcheck(apply_fn, inputs, **kwargs))


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Placeholder(f"torch.testing._internal.common_utils.{name}")
