"""`torch.load`. Anybody may have written the file, so every number in it is checked."""

from __future__ import annotations

import io
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.lib import format as npy

from ..foundations.devices import device
from ..foundations.errors import noted, warn, warn_once
from ..tensors.face.storage import TypedStorage, UntypedStorage
from . import weights
from .archive import Reader, opened
from .places import found, restorer

Storage = TypedStorage | UntypedStorage
_STRUCTURE = "structure.json"                            # a member of files that retrograd wrote before version 0.2


MAP_LOCATION: TypeAlias = Callable[[UntypedStorage, str], UntypedStorage] | device | str | dict[str, str] | None


def load(f: Any, map_location: MAP_LOCATION = None, pickle_module: Any = None, *, weights_only: bool | None = None,
         mmap: bool | None = None, **pickle_load_args: Any) -> Any:
    """The object that `save` wrote to a file, here or in PyTorch.

    `f` is a name, a path, or a file object opened for reading bytes. By default the file is read as data: tensors,
    parameters, numbers, strings, containers, and the classes and functions that `torch.serialization.add_safe_globals`
    has allowed. With `weights_only=False` the pickle in the file runs as a program, which may do anything. So only read
    files of people whom you trust in this way. `map_location` is the CPU, a dict from devices to devices, or a function
    of a storage and its place that returns a storage or None. `mmap` is accepted; memory is always read, not mapped.

    Raises RuntimeError for a damaged file or a file of another program; pickle.UnpicklingError for a file that holds
    more than data, or elements of an unknown dtype; EOFError for an empty file; FileNotFoundError; TypeError for
    another `map_location`; and ValueError for `mmap` without a file on disk.
    """
    weights_only = _as_data(weights_only, pickle_module)
    if weights_only and pickle_load_args:
        warn("pickle_load_args only works if `weights_only=False`.", UserWarning)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with opened(f, "rb") as file:
        start = file.tell()
        head = file.read(8)
        size = file.seek(0, os.SEEK_END)
        if not head:
            raise noted(
                EOFError(*() if weights_only else ("Ran out of input",)),
                because="the file has no bytes after its position",
                instead="call f.seek(0) before reading what was just written")
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, RuntimeError, ValueError, struct.error) as error:
            raise RuntimeError(_no_zip(head)) from error
        with archive:
            stored = _Stored(_reader(archive, start, size), restorer(map_location))
            if weights_only:
                with _damage(stored):
                    loaded = weights.run(stored.pickled, stored)
            else:
                loaded = _run(stored, pickle_module, pickle_load_args)
        file.seek(0, os.SEEK_END)
        return loaded


def _as_data(weights_only: bool | None, pickle_module: Any) -> bool:
    """Whether a file is read as data: as the environment or the call demands, or else without a `pickle_module`."""
    forced, freed = [os.environ.get(f"TORCH_FORCE_{name}WEIGHTS_ONLY_LOAD", "0").lower() in ("1", "y", "yes", "true")
                     for name in ("", "NO_")]
    if forced and freed:
        raise RuntimeError("Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should "
                           "be set, but both were set.")
    if freed and weights_only is None:
        warn("Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
             "explicitly passed to `torch.load`, forcing weights_only=False.")
        return False
    as_data = forced or (pickle_module is None if weights_only is None else weights_only)
    if as_data and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return as_data


def _no_zip(head: bytes) -> str:
    """The message for a file that is not a complete zip, chosen by its first bytes."""
    if head.startswith(b"PK"):
        return ("PytorchStreamReader failed reading zip archive: failed finding central directory. This is an internal "
                "miniz error. If you are seeing this error, there is a high likelihood that your checkpoint file is "
                "corrupted. This can happen if the checkpoint was not saved properly, was transferred incorrectly, or "
                "the file was modified after saving.")
    if head.startswith(b"\x80"):
        return ("Weights only load failed. The file is a pickle, such as PyTorch wrote before 1.6. Reading a "
                "pickle runs it as a program, so load does not read it. Save the object again with a later PyTorch.")
    if head.startswith(npy.MAGIC_PREFIX):
        return "The file is one of NumPy's: read it with torch.from_numpy(numpy.load(f))."
    return "The file was not written by torch.save: it is not a zip, or its start is damaged."


def _reader(archive: zipfile.ZipFile, start: int, size: int) -> Reader:
    """The checked archive. Raises RuntimeError if the file holds something else, or more."""
    members = archive.infolist()
    if any(info.filename == _STRUCTURE for info in members):
        raise noted(
            RuntimeError("The file was written by retrograd before version 0.2, in another format."),
            instead="read it with that version, and save its numbers with numpy.savez")
    reader = Reader(archive, size)
    if min(info.header_offset for info in members) != start:
        raise noted(
            RuntimeError("The file holds more than one saved object."),
            because=f"the object at byte {start}, its position, is not the one at its end",
            instead="save one object to a file, and call f.seek(0) before reading")
    return reader


class _Stored:
    """The storages of an archive, each where `map_location` says, by the key that stands in the pickle."""

    def __init__(self, reader: Reader, restore: Callable[[Storage, str], Storage]) -> None:
        self.reader, self.restore = reader, restore
        self.restored: dict[str, Storage] = {}
        self.refused: Exception | None = None
        with _damage():
            self.pickled, order = reader.pickled(), reader.order()
        if order not in ("little", "big"):
            raise ValueError(f"Unknown endianness type: {order}")

    def __call__(self, kind: Any, key: str, place: str, count: int) -> Storage:
        if key not in self.restored:
            if not isinstance(place, str):
                raise TypeError(f"the place of storage {key} is no text")
            bytes_ = self.reader.storage(key, np.dtype(np.uint8) if kind is UntypedStorage else kind.dtype.dtype)
            self.restored[key] = self._put(bytes_, place)
        storage = self.restored[key]
        untyped = storage if isinstance(storage, UntypedStorage) else storage.untyped()
        if kind is UntypedStorage:
            return untyped
        element = kind.dtype.dtype
        if untyped.nbytes() < count * element.itemsize:
            raise ValueError(f"storage {key} has fewer elements than the file says")
        return TypedStorage._of(untyped, element)

    def _put(self, bytes_: Storage, place: str) -> Storage:
        """The storage where `map_location` says. An error from there does not blame the file."""
        try:
            return self.restore(bytes_, place)
        except Exception as error:
            self.refused = error
            raise


def _run(stored: _Stored, pickle_module: Any, options: dict[str, Any]) -> Any:
    """Run the pickle of an archive as a program."""
    warn_once("torch.load with weights_only=False runs the code that the file names. Read only files of people whom "
              "you trust in this way.")
    unpickler: Any = (pickle if pickle_module is None else pickle_module).Unpickler

    class Unpickler(unpickler):  # type: ignore[misc]  # the class that the caller chose
        def find_class(self, module: str, name: str) -> Any:
            return found(module, name) if module.partition(".")[0] == "torch" else super().find_class(module, name)

        def persistent_load(self, saved_id: Any) -> Any:
            return stored(*saved_id[1:])

    return Unpickler(io.BytesIO(stored.pickled), **options).load()


@contextmanager
def _damage(stored: _Stored | None = None) -> Iterator[None]:
    """Turn any error inside into a RuntimeError that blames the file, but for an error of `map_location`."""
    try:
        yield
    except (ArithmeticError, AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError, struct.error,
            zipfile.BadZipFile, zlib.error) as error:
        if stored is not None and error is stored.refused:
            raise
        raise noted(
            RuntimeError("The file is damaged, or was changed since it was saved."),
            because=f"reading it failed with {type(error).__name__}: {error}") from error
