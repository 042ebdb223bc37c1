"""torch.serialization: `save` and `load`, in PyTorch's format.

A file is a zip archive. `data.pkl` is a pickle that says how the objects are nested, and each storage is a member of
bytes. By default `load` treats the pickle as data (`weights`): only tensors, plain containers and what a program has
put on its list (`safe`) are made. With `weights_only=False` the pickle runs as a program.
"""

from .loading import MAP_LOCATION, load
from .places import (
    check_module_version_greater_or_equal, default_restore_location, location_tag, register_package,
    validate_cuda_device)
from .safe import add_safe_globals, clear_safe_globals, get_safe_globals, safe_globals
from .saving import DEFAULT_PROTOCOL, save
from .settings import (
    LoadEndianness, SourceChangeWarning, StorageType, get_crc32_options, get_default_load_endianness,
    get_default_mmap_options, mkdtemp, normalize_storage_type, set_crc32_options, set_default_load_endianness,
    set_default_mmap_options, skip_data, storage_to_tensor_type, validate_hpu_device)
from .sparse import _get_layout as _get_layout
from .weights import get_unsafe_globals_in_checkpoint
from typing import TYPE_CHECKING
from ..foundations.names import missing

__all__ = ["DEFAULT_PROTOCOL", "LoadEndianness", "MAP_LOCATION", "SourceChangeWarning", "StorageType",
           "add_safe_globals", "check_module_version_greater_or_equal", "clear_safe_globals",
           "default_restore_location",
           "get_crc32_options", "get_default_load_endianness", "get_default_mmap_options", "get_safe_globals",
           "get_unsafe_globals_in_checkpoint", "load", "location_tag", "mkdtemp", "normalize_storage_type",
           "register_package", "safe_globals", "save", "set_crc32_options", "set_default_load_endianness",
           "set_default_mmap_options", "skip_data", "storage_to_tensor_type", "validate_cuda_device",
           "validate_hpu_device"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)
