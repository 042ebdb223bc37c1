"""`torch.save`."""

from __future__ import annotations

import json
import reprlib
import sys
import zipfile
from typing import Any

import numpy as np
from numpy.lib import array_utils, format as npy

from ..dtypes import dtype
from ..kernels.layout import bytes_between
from ..nn.parameter import Parameter
from ..tensors.state.base import TensorBase
from .layout import FORMAT, INLINE, KINDS, MAPPINGS, MEMORY, SEQUENCES, STRUCTURE, VERSION, Array, opened
from .sparse import is_sparse, parts_of

# The remedies for objects that cannot be saved, by type. The first type that fits counts.
_REMEDIES: tuple[tuple[type[Any] | tuple[type[Any], ...], str], ...] = (
    (TensorBase, "Save x.as_subclass(torch.Tensor), a plain tensor."),
    (np.ndarray, "Save torch.from_numpy(x)."),
    (np.generic, "Save x.item(), a Python number."),
    (type, "A class is code, and a file holds no code."),
    (tuple, "Save tuple(x)."),
    ((list, set, frozenset, bytes, bytearray), "Save list(x)."),
    (dict, "Save dict(x)."),
    (str, "Save str(x)."),
    (int, "Save int(x)."),
    (float, "Save float(x)."),
)


class _Attribute(str):
    """An attribute, rather than an index, on the way to an object."""

    __slots__ = ()


class _Writer:
    """The objects of a structure, each after its parts, and the tensors among them."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.numbers: dict[int, int | None] = {}        # by object id; None while the object's parts are written
        self.tensors: list[tuple[dict[str, Any], Array]] = []
        self.path: list[Any] = []
        self.parts: list[Any] = []                      # of sparse tensors

    def value(self, obj: Any) -> Any:
        """The form of `obj` inside the object that holds it. Raises TypeError if it cannot be saved."""
        inline = INLINE.get(type(obj))
        if inline is not None:
            return inline(obj)
        sparsely = is_sparse(obj)
        if type(obj) not in KINDS and not sparsely:
            raise TypeError(_refusal(obj, self.place()))
        if id(obj) not in self.numbers:
            self.numbers[id(obj)] = None
            self.objects.append(self.sparse(obj) if sparsely else self.described(obj))
            self.numbers[id(obj)] = len(self.objects) - 1
        number = self.numbers[id(obj)]
        if number is None:
            raise TypeError(f"cannot save {self.place()}: it contains itself. Break the circle before saving.")
        return {"object": number}

    def described(self, obj: Any) -> dict[str, Any]:
        kind = KINDS[type(obj)]
        if kind in SEQUENCES:
            return {"kind": kind, "items": [self.at(i, item) for i, item in enumerate(obj)]}
        if kind in MAPPINGS:
            entry: dict[str, Any] = {"kind": kind, "items": [[self.at(k, k), self.at(k, v)] for k, v in obj.items()]}
        else:
            array = obj._array
            entry = {"kind": kind, "dtype": dtype.of[array.dtype].name, "shape": list(array.shape),
                     "requires_grad": obj.requires_grad}
            self.tensors.append((entry, array))
        if type(obj) is not dict and vars(obj):
            entry["attributes"] = [[name, self.at(_Attribute(name), value)] for name, value in vars(obj).items()]
        return entry

    def sparse(self, obj: Any) -> dict[str, Any]:
        """The entry of a sparse tensor. Its parts are dense tensors."""
        parts = parts_of(obj)
        self.parts += parts                             # so that no other object gets the id of a part
        coalesced = [obj.is_coalesced()] if obj.is_sparse else []
        return {"kind": "sparse", "layout": str(obj.layout), "parts": [self.value(part) for part in parts],
                "size": list(obj.shape), "coalesced": coalesced, "parameter": isinstance(obj, Parameter),
                "requires_grad": obj.requires_grad}

    def at(self, step: Any, obj: Any) -> Any:
        self.path.append(step)
        value = self.value(obj)
        self.path.pop()
        return value

    def place(self) -> str:
        steps = (f".{step}" if isinstance(step, _Attribute) else f"[{reprlib.repr(step)}]" for step in self.path)
        return "obj" + "".join(steps)


def _refusal(obj: Any, place: str) -> str:
    cls = type(obj)
    name = cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    if hasattr(obj, "state_dict") and not isinstance(obj, type):
        remedy = "Save its state_dict(), and pass the loaded dict to load_state_dict()."
    elif hasattr(obj, "get_state") and not isinstance(obj, type):
        remedy = "Save its get_state(), and pass the loaded state to set_state()."
    else:
        remedy = next((remedy for base, remedy in _REMEDIES if isinstance(obj, base)), "Save what it is made of.")
    return (f"cannot save {place}: it is a {name}. {remedy} A file holds tensors, numbers, strings, None, dtypes, "
            "devices, and lists, tuples and dicts of these.")


def _memories(tensors: list[tuple[dict[str, Any], Array]]) -> list[Array]:
    """The memories that the tensors lie in. Each tensor's entry gets its memory, place, and strides in bytes.

    Bytes that several tensors span are one memory, even if different arrays own them. Only the bytes that a tensor
    spans are saved.
    """
    spans: list[tuple[int, int, list[int]]] = []
    for low, high, i in sorted((*array_utils.byte_bounds(a), i) for i, (_, a) in enumerate(tensors) if a.size):
        if spans and low < spans[-1][1]:
            first, last, members = spans.pop()
            spans.append((first, max(last, high), [*members, i]))
        else:
            spans.append((low, high, [i]))
    spans.sort(key=lambda span: min(span[2]))            # addresses differ between runs, but files must not
    memories = []
    for number, (low, high, members) in enumerate(spans):
        for entry, array in map(tensors.__getitem__, members):
            entry.update(memory=number, offset=array.ctypes.data - low, strides=list(array.strides))
        memories.append(_typed(low, high, [tensors[i][1] for i in members]))
    return memories


def _typed(low: int, high: int, arrays: list[Array]) -> Array:
    """A span as elements of the dtype of all its arrays, or as bytes if their dtypes differ."""
    element = arrays[0].dtype
    raw = bytes_between(low, high, arrays)
    if any(a.dtype != element or (a.ctypes.data - low) % element.itemsize for a in arrays):
        return raw
    return raw.view(element) if raw.size % element.itemsize == 0 else raw


def save(obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
         _use_new_zipfile_serialization: bool = True) -> None:
    """Save an object to a file: a name, a path, or a file object that is open for writing bytes.

    The object is a tensor, a parameter, a number, a string, None, a dtype, a device, or a list, tuple, size or dict of
    such objects. So the `state_dict()` of a module or an optimizer can be saved, but not the module itself. `load`
    returns the object: tensors that shared memory share it again, and dtype, strides and `requires_grad` are kept. A
    computed tensor comes back as a leaf, and gradients are not saved. The file is not a pickle; the options of pickles
    are accepted for programs that pass them, and change nothing.

    >>> import io, retrograd as torch
    >>> file = io.BytesIO()
    >>> torch.save({"step": 3, "weight": torch.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'step': 3, 'weight': tensor([1., 1.])}

    Raises TypeError for any other object, with its place in `obj`. Then nothing is written.
    """
    writer = _Writer()
    root = writer.value(obj)
    memories = _memories(writer.tensors)
    structure = {"format": FORMAT, "version": VERSION, "byteorder": sys.byteorder, "memories": len(memories),
                 "root": root, "objects": writer.objects}
    text = json.dumps(structure, allow_nan=False).encode()
    with opened(f, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(STRUCTURE), text)
        for number, memory in enumerate(memories):
            with archive.open(zipfile.ZipInfo(MEMORY.format(number)), "w", force_zip64=True) as member:
                npy.write_array(member, memory, allow_pickle=False)
