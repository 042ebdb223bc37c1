"""torch.package: names that programs import from PyTorch's archives of code. retrograd has no such archives."""

from typing import TYPE_CHECKING, Any

from .foundations.names import missing, refused_class

__all__ = ["PackageExporter", "PackageImporter", "is_from_package"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

PackageExporter = refused_class("torch.package.PackageExporter")
PackageImporter = refused_class("torch.package.PackageImporter")


def is_from_package(obj: Any) -> bool:
    """Whether an object came from an archive: no."""
    return False
