"""Paths and names that programs and packages import from PyTorch, and that compute nothing of their own here."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import retrograd as torch
from retrograd.foundations.names import refused, refused_class


def test_the_paths_are_imported_when_they_are_first_named() -> None:
    program = ("import sys, retrograd; lazy = ['_dynamo', 'ao', 'func', 'functional', 'fx', 'onnx', 'package', "
               "'quantization', 'types', '_jit_internal', 'jit']\n"
               "print([name for name in lazy if f'retrograd.{name}' in sys.modules])\n"
               "print({getattr(retrograd, name).__name__ == f'retrograd.{name}' for name in lazy})")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "[]\n{True}\n"


def test_the_same_objects_stand_at_other_paths() -> None:
    assert torch._tensor.Tensor is torch.Tensor
    assert torch.storage.UntypedStorage is torch.UntypedStorage
    assert torch.functional.norm is torch.norm
    assert torch._VF.norm is torch._C._VariableFunctions.norm is torch.norm
    assert torch._C._nn.gelu is torch.nn.functional.gelu
    assert isinstance(torch.ones(1), torch._C.TensorBase)
    assert torch._C.Generator is torch.Generator
    assert torch.types.Device == torch.device | str | int | None
    assert torch._dynamo.OptimizedModule is torch.optimized.OptimizedModule
    assert torch._jit_internal._overload is torch.jit._overload
    assert torch.quantization.QuantStub is torch.ao.quantization.QuantStub


@pytest.mark.parametrize("path", ["onnx.export", "_dynamo.explain", "ao.quantization.convert",
                                  "package.PackageImporter", "SymInt"])
def test_what_is_not_there_says_so_when_it_is_called(path: str) -> None:
    found: Any = torch
    for name in path.split("."):
        found = getattr(found, name)
    with pytest.raises(NotImplementedError, match=rf"^PyTorch has `torch\.{path}`; retrograd has not: \w+"):
        found(torch.nn.Linear(2, 2))


def test_a_refused_name_gives_the_advice() -> None:
    with pytest.raises(NotImplementedError, match="^PyTorch has `torch.fx.f`; retrograd has not: call the module"):
        refused("torch.fx.f")(1, two=2)
    assert refused("torch.fx.f").__name__ == "f"
    kind = refused_class("torch.fx.Kind", torch.nn.Module)
    assert issubclass(kind, torch.nn.Module)
    assert (kind.__module__, kind.__qualname__) == ("torch.fx", "Kind")
    assert not isinstance(torch.nn.Linear(1, 1), kind)


def test_marks_leave_functions_as_they_are() -> None:
    def f(x: Any) -> Any:
        return x

    with pytest.raises(NotImplementedError, match="^wrap must be called at the top level of a module$"):
        torch.fx.wrap(f)
    assert torch._dynamo.optimize("eager")(f) is f
    assert torch._dynamo.allow_in_graph(f) is f
    assert torch._dynamo.run(f) is torch._dynamo.run()(f) is f
    assert torch.jit._overload(f) is f
    assert torch._dynamo.disable(f)(3) == 3
    assert not torch._dynamo.is_dynamo_supported()
    torch._dynamo.graph_break()
    torch._dynamo.mark_dynamic(torch.ones(2), 0, min=1)
    with pytest.raises(RuntimeError, match="^Unsupported type for global function! Must be either a callable"):
        torch.fx.wrap(3)


def test_the_switches_of_the_compiler_can_be_set_for_a_while() -> None:
    config = torch._dynamo.config
    with config.patch("suppress_errors", True), config.patch(cache_size_limit=99):
        assert (config.suppress_errors, config.cache_size_limit) == (True, 99)
    with config.patch({"verbose": True}):
        assert config.verbose
    assert (config.suppress_errors, config.cache_size_limit, config.verbose) == (False, 8, False)
    with pytest.raises(AttributeError), config.patch(no_such_switch=1):
        pass


def test_a_model_with_places_for_quantization_computes_with_floats() -> None:
    wrapped = torch.ao.quantization.QuantWrapper(torch.nn.Linear(2, 3).eval())
    x = torch.ones(4, 2)
    assert torch.equal(wrapped(x), wrapped.module(x))
    assert [name for name, _ in wrapped.named_children()] == ["quant", "dequant", "module"]
    assert not wrapped.training
    assert torch.ao.quantization.QuantStub(qconfig="some").qconfig == "some"


def test_boolean_dispatch_chooses_by_an_argument() -> None:
    fn = torch._jit_internal.boolean_dispatch("both", 1, False, lambda x, both=False: (x, both),
                                              lambda x, both=False: x, "somewhere", "pool")
    assert (fn(1), fn(1, True), fn(1, both=True), fn(1, both=False)) == (1, (1, True), (1, True), 1)
    assert (fn.__module__, fn.__name__) == ("somewhere", "pool")


def test_switches_of_libraries_are_remembered() -> None:
    cuda, mha, cudnn = torch.backends.cuda, torch.backends.mha, torch.backends.cudnn
    with pytest.warns(FutureWarning, match="deprecated"), cuda.sdp_kernel(enable_flash=False, enable_cudnn=False):
        assert (cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.cudnn_sdp_enabled()) == (False, True, False)
    assert cuda.flash_sdp_enabled()
    cuda.enable_mem_efficient_sdp(False)
    assert not cuda.mem_efficient_sdp_enabled()
    cuda.enable_mem_efficient_sdp(True)
    mha.set_fastpath_enabled(False)
    assert not mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(True)
    before = cudnn.set_flags(_enabled=False, _benchmark=True)
    assert (before[:2], cudnn.enabled, cudnn.benchmark) == ((True, False), False, True)
    assert cudnn.set_flags(*before[:2])[:2] == (False, True)
    with torch.backends.mkldnn.flags(enabled=False), torch.backends.nnpack.flags(enabled=False):
        assert torch.backends.nnpack.set_flags(True) == (False,)


def test_a_device_without_a_module_is_refused() -> None:
    assert torch.get_device_module("cuda:0") is torch.cuda
    assert torch.get_device_module(torch.device("cpu")) is torch.get_device_module() is torch.cpu
    with pytest.raises(RuntimeError, match="^Device 'meta' does not have a corresponding module registered as"):
        torch.get_device_module("meta")
