"""torch.export: names that programs import from PyTorch's export of programs. retrograd exports nothing."""

from typing import TYPE_CHECKING

from ..foundations.names import missing, refused, refused_class

__all__ = ["Dim", "ExportGraphSignature", "ExportedProgram", "ShapesCollection", "UnflattenedModule", "draft_export",
           "export", "load", "save", "unflatten"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

draft_export, export, load, save, unflatten = (
    refused(f"torch.export.{name}") for name in ("draft_export", "export", "load", "save", "unflatten"))
Dim, ExportGraphSignature, ExportedProgram, ShapesCollection, UnflattenedModule = (
    refused_class(f"torch.export.{name}")
    for name in ("Dim", "ExportGraphSignature", "ExportedProgram", "ShapesCollection", "UnflattenedModule"))
