"""torch.onnx: names that programs import from PyTorch's export of programs. retrograd exports nothing."""

from typing import TYPE_CHECKING

from ..foundations.names import missing, refused, refused_class

__all__ = ["ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

export = refused("torch.onnx.export")
ONNXProgram = refused_class("torch.onnx.ONNXProgram")


class OnnxExporterError(RuntimeError):
    """An error of an export. retrograd exports nothing, and does not raise it."""


def is_in_onnx_export() -> bool:
    """Whether the program is being exported: no."""
    return False
