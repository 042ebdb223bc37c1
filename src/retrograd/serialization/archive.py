"""The members of PyTorch's zip archives: `data.pkl`, and one member of bytes for each storage."""

from __future__ import annotations

import io
import os
import sys
import zipfile
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..foundations.errors import noted
from ..tensors.face.storage import UntypedStorage
from .settings import LoadEndianness, get_default_load_endianness

PICKLE = "data.pkl"
_ALIGNMENT = 64
_HEADER = 30                                            # bytes of a member's header before its name


def opened(f: Any, mode: str) -> AbstractContextManager[Any]:
    """The file as a context manager. It is closed at the end if it was opened here, by its name."""
    if isinstance(f, (str, os.PathLike)):
        parent = os.path.dirname(os.fspath(f))
        if mode == "wb" and parent and not os.path.isdir(parent):
            raise noted(
                RuntimeError(f"Parent directory {parent!s} does not exist."), instead="make it with os.makedirs")
        return open(f, mode)
    if isinstance(f, io.TextIOBase):
        raise noted(
            TypeError("string argument expected, got 'memoryview'") if mode == "wb" else
            AssertionError("Expected bytes, got str"), instead=f"open the file in binary mode, '{mode}'")
    if mode == "rb":
        _check_seekable(f)
        return nullcontext(f if isinstance(f, io.IOBase) else _Read(f))
    if not hasattr(f, "write"):
        raise noted(
            AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute"),
            given=type(f).__name__)
    return nullcontext(f if isinstance(f, _SEEKABLE) else _Written(f))


def _check_seekable(f: Any) -> None:
    """Raise the error of a file that cannot be read at any place, with PyTorch's advice."""
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        if "seek" not in str(error) and "tell" not in str(error):
            raise
        raise type(error)(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data "
                          "into a buffer like io.BytesIO and try to load from it instead.") from None


# The files in which `zipfile` may go back to a header.
_SEEKABLE = io.BytesIO, io.BufferedWriter, io.BufferedRandom, io.FileIO


class _Written:
    """A program's file object that is written from its position on, as a stream. A compressed file is one."""

    def __init__(self, file: Any) -> None:
        self.file, self.flush = file, file.flush

    def write(self, data: Any) -> int:
        """Write bytes. Returns their number, whatever the file returns."""
        self.file.write(data)
        return len(data)


class _Read:
    """A program's file object that has `read`, `seek` and `tell`, as `zipfile` needs it."""

    def __init__(self, file: Any) -> None:
        self.read, self.tell, self._seek = file.read, file.tell, file.seek

    def seek(self, place: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place. Returns the position, whatever the file returns."""
        self._seek(place, whence)
        return self.tell()  # type: ignore[no-any-return]

    def seekable(self) -> bool:
        """True."""
        return True


def write(f: Any, pickled: bytes, storages: Iterable[UntypedStorage]) -> None:
    """Write an archive. The storages are members with the names 0, 1, ..., and begin at multiples of 64 bytes."""
    folder = os.path.splitext(os.path.basename(os.fspath(f)))[0] if isinstance(f, (str, os.PathLike)) else "archive"
    with opened(f, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        def add(name: str, content: Any) -> None:
            archive.writestr(_aligned(archive, f"{folder}/{name}", len(content)), content)

        add(PICKLE, pickled)
        add(".format_version", b"1")
        add(".storage_alignment", str(_ALIGNMENT).encode())
        add("byteorder", sys.byteorder.encode())
        for number, storage in enumerate(storages):
            add(f"data/{number}", storage._elements.data)
        add("version", b"3\n")


def _aligned(archive: zipfile.ZipFile, name: str, size: int) -> zipfile.ZipInfo:
    """The header of a member. Padding in the header lets the content begin at a multiple of 64 bytes."""
    info = zipfile.ZipInfo(name)
    long = 20 if size * 1.05 > zipfile.ZIP64_LIMIT else 0  # what `zipfile` adds to the header of a long member
    start = archive.start_dir + _HEADER + len(name.encode()) + long + 4
    padding = -start % _ALIGNMENT
    info.extra = b"FB" + padding.to_bytes(2, "little") + b"Z" * padding
    return info


class Reader:
    """An archive of PyTorch's. Every member is checked before its bytes are read."""

    def __init__(self, archive: zipfile.ZipFile, size: int) -> None:
        self.archive, self.size = archive, size
        self.members = {info.filename: info for info in archive.infolist()}
        found = [name for name in self.members if name.rpartition("/")[2] == PICKLE]
        if not found:
            raise noted(
                RuntimeError("The file was not written by torch.save."), because=f"it is a zip without {PICKLE}")
        self.folder = found[0].removesuffix(PICKLE)
        self.storages: dict[str, UntypedStorage] = {}

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises ValueError unless the member is stored uncompressed."""
        info = self.members[self.folder + name]
        if info.compress_type != zipfile.ZIP_STORED or not info.file_size == info.compress_size <= self.size:
            raise ValueError(f"{info.filename} is compressed, or larger than the file")
        return self.archive.read(info)

    def pickled(self) -> bytes:
        """The pickle."""
        return self.read(PICKLE)

    def order(self) -> str:
        """The order of bytes of the machine that wrote the file, as the file says: 'little' or 'big'.

        For a file that does not say it, the order is the default of `set_default_load_endianness`.
        """
        if f"{self.folder}byteorder" not in self.members:
            default = get_default_load_endianness() or LoadEndianness.LITTLE
            return sys.byteorder if default is LoadEndianness.NATIVE else default.name.lower()
        return self.read("byteorder").decode()

    def storage(self, key: str, element: np.dtype[Any]) -> UntypedStorage:
        """The storage with this key, which holds elements of this type. The storage is the same for the same key."""
        if key not in self.storages:
            content = np.frombuffer(bytearray(self.read(f"data/{key}")), np.uint8)
            size = element.itemsize // (2 if element.kind == "c" else 1)
            if size > 1 and self.order() != sys.byteorder:
                content.view(f"u{size}").byteswap(inplace=True)
            self.storages[key] = UntypedStorage._over(content)
        return self.storages[key]
