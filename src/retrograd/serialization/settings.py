"""Settings of `save` and `load`, and the names of kinds of storages, which programs read and set."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, NoReturn

from ..foundations.dtypes import dtype
from ..tensors.face import storage as storages

__all__ = ["LoadEndianness", "SourceChangeWarning", "StorageType", "get_crc32_options", "get_default_load_endianness",
           "get_default_mmap_options", "mkdtemp", "normalize_storage_type", "set_crc32_options",
           "set_default_load_endianness", "set_default_mmap_options", "skip_data", "storage_to_tensor_type",
           "validate_hpu_device"]


class SourceChangeWarning(Warning):
    """A warning that the source of a saved class has changed. Files in the present format do not hold sources."""


class LoadEndianness(Enum):
    """The order of bytes of a file that does not say it itself."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


# Windows has neither.
_MAP_PRIVATE, _MAP_SHARED = (getattr(mmap, name, None) for name in ("MAP_PRIVATE", "MAP_SHARED"))


class _Settings:
    """The settings, for the whole program."""

    endianness: LoadEndianness | None = None
    mmap: int | None = _MAP_PRIVATE
    crc32 = True


def get_default_load_endianness() -> LoadEndianness | None:
    """What `set_default_load_endianness` has set."""
    return _Settings.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the order of bytes of files that do not say it, as files of early versions of PyTorch. None means little."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    _Settings.endianness = endianness


def get_default_mmap_options() -> int | None:
    """What `set_default_mmap_options` has set."""
    return _Settings.mmap


class set_default_mmap_options:
    """Set how files are mapped into memory, from now on or inside a block. `load` always reads files."""

    def __init__(self, flags: int) -> None:
        if _MAP_SHARED is None:
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (_MAP_PRIVATE, _MAP_SHARED):
            raise ValueError("Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                             f"mmap.MAP_SHARED, but got {flags}")
        self.prev, _Settings.mmap = _Settings.mmap, flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _Settings.mmap = self.prev


def get_crc32_options() -> bool:
    """What `set_crc32_options` has set."""
    return _Settings.crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether `save` need compute checksums. `save` always computes them."""
    _Settings.crc32 = compute_crc32


class skip_data:
    """A context in which PyTorch's `save` leaves the numbers out. Entering it raises NotImplementedError."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> NoReturn:
        raise NotImplementedError("torch.serialization.skip_data is not here: save the state_dict with its numbers")

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        pass


class StorageType:
    """A kind of storage by its name in a pickle. Raises KeyError for an unknown name.

    >>> import retrograd as torch
    >>> torch.serialization.StorageType("FloatStorage")
    StorageType(dtype=torch.float32)
    """

    def __init__(self, name: str) -> None:
        kind: Any = getattr(storages, name, None) if name.endswith("Storage") else None
        if getattr(kind, "dtype", None) is None:
            raise KeyError(f'pickle storage type "{name}" is not recognized')
        self._dtype: dtype = kind.dtype

    @property
    def dtype(self) -> dtype:
        """The dtype of the elements."""
        return self._dtype

    def __str__(self) -> str:
        return f"StorageType(dtype={self.dtype})"

    __repr__ = __str__


def normalize_storage_type(storage_type: Any) -> Any:
    """The class of storages, without a device."""
    return getattr(storages, storage_type.__name__)


def storage_to_tensor_type(storage: Any) -> NoReturn:
    """Raise AttributeError, as in PyTorch, which looks for a class that PyTorch no longer has."""
    name = type(storage).__name__.replace("Storage", "Tensor")
    raise AttributeError(f"module 'torch.storage' has no attribute '{name}'")


@contextmanager
def mkdtemp() -> Iterator[str]:
    """A folder that exists inside the block."""
    with tempfile.TemporaryDirectory() as path:
        yield path


def validate_hpu_device(location: object) -> NoReturn:
    """Raise RuntimeError: there is no such device."""
    raise RuntimeError("The HPU device module is not registered. If you are running on a CPU-only machine, please use "
                       "torch.load with map_location=torch.device('cpu') to map your storages to the CPU.")
