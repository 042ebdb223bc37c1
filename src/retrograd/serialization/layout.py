"""The common parts of saving and loading: the members of a file, and the form of each kind of object."""

from __future__ import annotations

import io
import math
import os
from collections import Counter, OrderedDict
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ..devices import device
from ..dtypes import dtype
from ..nn.parameter import Parameter
from ..tensors.arguments.size import Size
from ..tensors.tensor import Tensor

Array = np.ndarray[Any, Any]

STRUCTURE, MEMORY = "structure.json", "memory/{}.npy"
FORMAT, VERSION = "retrograd", 1
BY_NAME = dtype.all
SEQUENCES: dict[str, type[Any]] = {"list": list, "tuple": tuple, "Size": Size}
MAPPINGS: dict[str, type[Any]] = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
TENSORS: dict[str, type[Any]] = {"Tensor": Tensor, "Parameter": Parameter}
KINDS = {cls: kind for kinds in (SEQUENCES, MAPPINGS, TENSORS) for kind, cls in kinds.items()}

# Objects written inside the object that holds them. JSON has no infinities, and its readers do not take long integers.


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"float": str(value)}


INLINE: dict[type[Any], Callable[[Any], Any]] = {
    **dict.fromkeys((type(None), bool, str), lambda value: value),
    int: lambda value: value if -1 << 63 <= value < 1 << 63 else {"int": hex(value)},
    float: _float,
    complex: lambda value: {"complex": [str(value.real), str(value.imag)]},
    dtype: lambda value: {"dtype": value.name},
    device: lambda value: {"device": str(value)},
}
FROM_INLINE: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "int": lambda text: int(text, 16),
    "complex": lambda parts: complex(float(parts[0]), float(parts[1])),
    "dtype": BY_NAME.__getitem__,
    "device": device,
}


def opened(f: Any, mode: str) -> AbstractContextManager[Any]:
    """The file as a context manager. It is closed at the end if it was opened here, by its name."""
    if isinstance(f, (str, os.PathLike)):
        parent = os.path.dirname(os.fspath(f))
        if mode == "wb" and parent and not os.path.isdir(parent):
            raise RuntimeError(f"Parent directory {parent!s} does not exist. Make it with os.makedirs.")
        return open(f, mode)
    if isinstance(f, io.TextIOBase):
        raise TypeError(f"a bytes-like object is required, not 'str': open the file in binary mode, '{mode}'.")
    if mode == "wb" and not hasattr(f, "write"):
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute. It is a "
                             f"{type(f).__name__}.")
    if mode == "rb" and not (hasattr(f, "seek") and hasattr(f, "read")):
        raise AttributeError(f"'{type(f).__name__}' object has no attribute 'seek'. You can only torch.load from a "
                             "file that is seekable: give a name, a path, or an io.BytesIO of the bytes.")
    return nullcontext(f)
