"""torch.onnx: names that programs import from PyTorch's export of programs. retrograd exports nothing."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing, refused, refused_class

__all__ = ["ONNXProgram", "OnnxExporterError", "export", "is_in_onnx_export", "register_custom_op_symbolic",
           "unregister_custom_op_symbolic"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

export = refused("torch.onnx.export")
ONNXProgram = refused_class("torch.onnx.ONNXProgram")


class OnnxExporterError(RuntimeError):
    """An error of an export. retrograd exports nothing, and does not raise it."""


def is_in_onnx_export() -> bool:
    """Whether the program is being exported: no."""
    return False


def register_custom_op_symbolic(symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int,
                                custom_opsets: Any = None) -> None:
    """Say how an operator is exported. Packages say so when they are imported, and nothing here asks for it."""


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Take back what `register_custom_op_symbolic` said."""
