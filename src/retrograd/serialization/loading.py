"""`torch.load`. Anybody may have written the file, so nothing in it is run, and every number in it is checked."""

from __future__ import annotations

import json
import os
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.lib import format as npy

from ..devices import device
from ..dtypes import dtype
from ..nn.parameter import Parameter
from ..tensors.state.base import plain
from ..tensors.tensor import Tensor
from . import layout, pytorch, sparse
from .layout import STRUCTURE, Array, opened

_CHUNK = 1 << 24


def load(f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = True,
         mmap: bool | None = None) -> Any:
    """The object that `save` wrote to a file, here or in PyTorch.

    `f` is a name, a path, or a file object opened for reading bytes. Files of PyTorch may hold tensors, parameters,
    numbers, strings and containers, as a `state_dict()` does. Nothing in a file is run. `weights_only` and
    `pickle_module` do not change that; they are accepted for programs that pass them. So is `mmap`: memory is always
    read, not mapped. `map_location` may be the CPU, a dict from devices to devices, or a function; the function is not
    called, because all memory is the CPU's.

    Raises RuntimeError for a damaged file or a file of another program; pickle.UnpicklingError for a file of PyTorch
    that holds more than data, or elements of an unknown dtype; EOFError for an empty file; FileNotFoundError; TypeError
    for another `map_location`; and ValueError for `mmap` without a file on disk.
    """
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    with opened(f, "rb") as file:
        start = file.tell()
        head = file.read(8)
        size = file.seek(0, os.SEEK_END)
        if not head:
            raise EOFError("Ran out of input: the file has no bytes after its position. To read what was just "
                           "written to it, call f.seek(0) first.")
        try:
            archive = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, RuntimeError, ValueError, struct.error) as error:
            raise RuntimeError(_no_zip(head)) from error
        with archive:
            loaded = _read(archive, start, size, map_location)
        file.seek(0, os.SEEK_END)
        return loaded


def _no_zip(head: bytes) -> str:
    """The message for a file that is not a complete zip, chosen by its first bytes."""
    if head.startswith(b"PK"):
        return ("PytorchStreamReader failed reading zip archive: failed finding central directory. The file is cut off "
                "or damaged.")
    if head.startswith(b"\x80"):
        return ("Weights only load failed. The file is a pickle, such as PyTorch wrote before 1.6. Reading a "
                "pickle runs it as a program, so load does not read it. Save the object again with a later PyTorch.")
    if head.startswith(npy.MAGIC_PREFIX):
        return "The file is one of NumPy's: read it with torch.from_numpy(numpy.load(f))."
    return "The file was not written by torch.save: it is not a zip, or its start is damaged."


def _read(archive: zipfile.ZipFile, start: int, size: int, map_location: Any) -> Any:
    members = {info.filename: info for info in archive.infolist()}
    if STRUCTURE not in members:
        pickled = [name for name in members if name.rpartition("/")[2] == pytorch.PICKLE]
        if pickled:
            _check_place(map_location)
            with _damage():
                return pytorch.read(archive, pickled[0], lambda info: _checked(info, size))
        raise RuntimeError(f"The file was not written by torch.save: it is a zip without {STRUCTURE}.")
    if min(info.header_offset for info in members.values()) != start:
        raise RuntimeError(f"The file holds more than one saved object: the object at byte {start}, its position, "
                           "is not the one at its end. Save one object to a file, and call f.seek(0) before reading.")
    with _damage():
        with archive.open(_checked(members[STRUCTURE], size)) as member:
            structure = json.loads(member.read())
        made_by = tuple(structure[key] for key in ("format", "version", "byteorder"))
        count = int(structure["memories"])
    readable = layout.FORMAT, layout.VERSION, sys.byteorder
    if made_by != readable:
        theirs, ours = ("{} {}, {}-endian".format(*facts) for facts in (made_by, readable))
        raise RuntimeError(f"The file is of another version or machine: its format is {theirs}, and load reads {ours}.")
    if count:
        _check_place(map_location)
    with _damage():
        memories = [_memory(archive, _checked(members[layout.MEMORY.format(number)], size)) for number in range(count)]
        return _built(structure, memories)


@contextmanager
def _damage() -> Iterator[None]:
    """Turn any error inside into a RuntimeError that blames the file."""
    try:
        yield
    except (ArithmeticError, AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError, struct.error,
            zipfile.BadZipFile, zlib.error) as error:
        raise RuntimeError(f"The file is damaged, or was changed since it was saved. Reading it failed with "
                           f"{type(error).__name__}: {error}") from error


def _check_place(map_location: Any) -> None:
    """Raise an error if `map_location` maps tensors of the CPU to another device."""
    if isinstance(map_location, dict):
        map_location = map_location.get("cpu")
    if map_location is None or callable(map_location):
        return
    if not isinstance(map_location, (str, device)):
        raise TypeError(f"map_location must be a device, a dict of devices or a function, not a "
                        f"{type(map_location).__name__}: pass map_location='cpu'.")
    kind = str(map_location).partition(":")[0]
    if kind == "cuda":
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
                           "Pass map_location='cpu'.")
    if kind != "cpu":
        raise RuntimeError("don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
                           f"{map_location}). Pass map_location='cpu'.")


def _checked(info: zipfile.ZipInfo, size: int) -> zipfile.ZipInfo:
    """A member that is stored uncompressed, so that it cannot be larger than the file."""
    if info.compress_type != zipfile.ZIP_STORED or not info.file_size == info.compress_size <= size:
        raise ValueError(f"{info.filename} is compressed, or larger than the file")
    return info


def _memory(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Array:
    """The one-dimensional array of a member, in writable memory."""
    with archive.open(info) as member:
        if npy.read_magic(member) != (1, 0):
            raise ValueError(f"{info.filename} has another version of NumPy's format")
        shape, _, element = npy.read_array_header_1_0(member)
        if len(shape) != 1 or element not in dtype.of or member.tell() + shape[0] * element.itemsize != info.file_size:
            raise ValueError(f"{info.filename} has a header that does not fit it")
        memory = np.empty(shape, element)
        raw, done = memory.view(np.uint8), 0
        while done < raw.size:
            piece = np.frombuffer(member.read(_CHUNK), np.uint8)
            if not piece.size:
                raise EOFError(f"{info.filename} ends too early")
            raw[done:done + piece.size] = piece
            done += piece.size
        member.read()                                    # to the end, which checks the checksum
    return memory


def _built(structure: dict[str, Any], memories: list[Array]) -> Any:
    """The root of a structure. Objects are built in order, each from earlier objects."""
    objects: list[Any] = []

    def value(written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        (kind, content), = written.items()
        if kind != "object":
            return layout.FROM_INLINE[kind](content)
        if content < 0:
            raise IndexError(content)
        return objects[content]

    for entry in structure["objects"]:
        kind = entry["kind"]
        if kind in layout.SEQUENCES:
            objects.append(layout.SEQUENCES[kind](map(value, entry["items"])))
            continue
        if kind in layout.MAPPINGS:
            made = layout.MAPPINGS[kind]()
            made.update({value(key): value(item) for key, item in entry["items"]})
        elif kind == "sparse":
            made = _sparse(entry, [value(part) for part in entry["parts"]])
        else:
            made = _tensor(entry, memories)
        for name, attribute in entry.get("attributes", ()):
            vars(made)[name] = value(attribute)
        objects.append(made)
    return value(structure["root"])


def _sparse(entry: dict[str, Any], parts: list[Any]) -> Any:
    tensor = sparse.made(sparse.layout_of(entry["layout"]), [*parts, entry["size"], *entry["coalesced"]])
    if entry["parameter"]:
        return Parameter(tensor, entry["requires_grad"])
    return tensor.requires_grad_() if entry["requires_grad"] else tensor


def _tensor(entry: dict[str, Any], memories: list[Array]) -> Tensor:
    shape, element = entry["shape"], layout.BY_NAME[entry["dtype"]].dtype
    if 0 in shape:
        array = np.empty(shape, element)
    else:                                                # the constructor raises if this leaves the memory
        array = np.ndarray(shape, element, memories[entry["memory"]], entry["offset"], entry["strides"])
    tensor: Tensor = plain(array)
    if layout.TENSORS[entry["kind"]] is Parameter:
        return Parameter(tensor, entry["requires_grad"])
    return tensor.requires_grad_() if entry["requires_grad"] else tensor
