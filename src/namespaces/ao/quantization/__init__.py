"""torch.ao.quantization: the places of a model where PyTorch would quantize. retrograd has no quantized tensors.

A model with these places runs with floats, as it does in PyTorch before it is converted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...foundations.names import missing, refused
from ...nn.modules.module import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "convert", "fuse_modules", "get_default_qat_qconfig",
           "get_default_qconfig", "prepare", "prepare_qat", "quantize", "quantize_dynamic", "quantize_qat"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_SPACE = "torch.ao.quantization"
convert, fuse_modules, prepare, prepare_qat = (
    refused(f"{_SPACE}.{name}") for name in ("convert", "fuse_modules", "prepare", "prepare_qat"))
quantize, quantize_dynamic, quantize_qat, get_default_qconfig, get_default_qat_qconfig = (
    refused(f"{_SPACE}.{name}") for name in (
        "quantize", "quantize_dynamic", "quantize_qat", "get_default_qconfig", "get_default_qat_qconfig"))


class QuantStub(Module):
    """The place where a model would begin to compute with quantized tensors. It returns its input."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """The input."""
        return x


class DeQuantStub(QuantStub):
    """The place where a model would end to compute with quantized tensors. It returns its input."""


class QuantWrapper(Module):
    """A module between a `QuantStub` and a `DeQuantStub`. It computes what the module computes."""

    def __init__(self, module: Module) -> None:
        super().__init__()
        if getattr(module, "qconfig", None):
            self.qconfig = module.qconfig
        self.add_module("quant", QuantStub())
        self.add_module("dequant", DeQuantStub())
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Any) -> Any:
        """The output of the module."""
        return self.dequant(self.module(self.quant(X)))
