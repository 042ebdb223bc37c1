"""Functions of sizes, conditions and calls, which compute with Python's values, end as in PyTorch."""

from __future__ import annotations

import warnings
from types import ModuleType

import pytest
import torch

import retrograd
from comparing.same_expression import said

CALLS = """
sym_max(1, 2.5)
sym_max(3, 2.)
sym_max(1, 2)
sym_min(1, 2.)
sym_int(2.7)
sym_int(-2.7)
sym_int(3)
sym_not(True)
sym_not(0)
sym_sum([1, 2, 3])
sym_sum(1, 2.5)
sym_ite(True, 1, 2)
sym_ite(1, 1, 2)
sym_ite(False, 1, 2.)
sym_sqrt(4)
sym_sqrt(-1)
sym_float(True)
_check(False)
_check(False, lambda: "told")
_check(True, "no function")
_check(False, "no function")
_check(False, lambda: 3)
_check(1)
_check(torch.ones(2))
_check_value(False)
_check_index(False, lambda: "i")
_check_type(False)
_check_not_implemented(False)
_check_tensor_all(torch.ones(2) > 2)
_check_tensor_all(torch.ones(2) > 0)
_check_tensor_all(True)
_check_tensor_all(torch.ones(2))
_check_tensor_all(torch.zeros(2, dtype=torch.int64))
_assert_async(3)
_check_is_size(3)
_check_is_size(-3)
_check_is_size(3, max=2)
_assert(False, "told")
_assert(True, "told")
_assert_async(torch.tensor(0.))
_assert_async(torch.tensor(1.))
_assert_async(torch.tensor(0.), "told")
cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
cond(False, lambda x: x + 1, lambda x: x - 1, [torch.ones(2)])
while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * 2), (torch.tensor(0), torch.ones(2)))
jit.isinstance([1, 2], list[int])
jit.isinstance([], list[int])
jit.isinstance(["a"], list[int])
jit.isinstance({"a": 1}, dict[str, int])
jit.isinstance({"a": "b"}, dict[str, int])
jit.isinstance((1, "a"), tuple[int, str])
jit.isinstance(1, (str, int))
jit.isinstance(None, int | None)
_C._jit_set_profiling_executor(True)
_C._jit_set_profiling_mode(True)
_C._get_tracing_state()
_C._log_api_usage_once("event")
_C._functorch.is_batchedtensor(torch.ones(1))
_C._functorch.maybe_get_level(torch.ones(1))
_C._functorch.maybe_get_bdim(torch.ones(1))
onnx.is_in_onnx_export()
fx._symbolic_trace.is_fx_tracing()
backends.cuda.flash_sdp_enabled()
backends.cuda.math_sdp_enabled()
backends.cuda.is_flash_attention_available()
backends.cudnn.is_acceptable(torch.ones(2))
backends.cudnn.set_flags()[:2]
backends.mha.get_fastpath_enabled()
backends.opt_einsum.strategy
backends.mkldnn.enabled
backends.mkldnn.deterministic
compiled_with_cxx11_abi()
is_vulkan_available()
get_device_module("cpu").__name__
get_device_module().__name__
get_device_module("cuda:1").__name__
get_device_module("foo")
types.Number
types.FileLike
"""


def _end(library: ModuleType, call: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(f"torch.{call}", {"torch": library}))
        except Exception as error:
            return f"{type(error).__name__}: {said(error)}"


@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_a_call_ends_as_in_pytorch(call: str) -> None:
    import torch.fx._symbolic_trace
    import torch.onnx

    assert _end(retrograd, call).replace("retrograd", "torch") == _end(torch, call)


def test_the_errors_of_devices_are_of_pytorchs_kinds() -> None:
    for name in ("OutOfMemoryError", "AcceleratorError"):
        for library in (torch, retrograd):
            assert [base.__name__ for base in getattr(library, name).__mro__[1:3]] == ["RuntimeError", "Exception"]
    assert retrograd.cuda.OutOfMemoryError is retrograd.OutOfMemoryError
