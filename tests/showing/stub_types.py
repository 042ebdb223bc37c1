"""How stubs write types: the annotations of Python, resolved and written with names that nothing in a stub hides.

A module such as `torch` has functions named `float` and `range`, and tensors have methods named `int` and `type`, so
stubs name these types `_float` and `_int`.
"""

from __future__ import annotations

import builtins
import re
import types
import typing
from collections.abc import Iterator
from typing import Any, get_args, get_origin

import numpy as np

from retrograd import Generator, Size, Tensor, device, dtype, layout, memory_format, return_types
from retrograd.tensors.state.base import TensorBase

# What stubs import, by the name under which they use it.
HEADERS = {
    "_bool": "from builtins import bool as _bool", "_complex": "from builtins import complex as _complex",
    "_float": "from builtins import float as _float", "_int": "from builtins import int as _int",
    "_type": "from builtins import type as _type",
    "Callable": "from collections.abc import Callable", "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator", "Mapping": "from collections.abc import Mapping",
    "Sequence": "from collections.abc import Sequence",
    "contextlib": "import contextlib", "np": "import numpy as np",
    "Any": "from typing import Any", "ClassVar": "from typing import ClassVar", "Self": "from typing import Self",
    "overload": "from typing import overload", "TypeVar": "from typing import TypeVar",
    "_device": "from retrograd.foundations.devices import device as _device",
    "_dtype": "from retrograd.foundations.dtypes import dtype as _dtype",
    "RemovableHandle": "from retrograd.graph.hooks import RemovableHandle",
    "_return_types": "from retrograd import return_types as _return_types",
    "_Generator": "from retrograd.tensors.arguments.generator import Generator as _Generator",
    "_layout": "from retrograd.tensors.arguments.options import layout as _layout",
    "_memory_format": "from retrograd.tensors.arguments.options import memory_format as _memory_format",
    "_TypedStorage": "from retrograd.tensors.face.storage import TypedStorage as _TypedStorage",
    "_UntypedStorage": "from retrograd.tensors.face.storage import UntypedStorage as _UntypedStorage",
    "_Size": "from retrograd.tensors.arguments.size import Size as _Size",
    "TensorBase": "from retrograd.tensors.state.base import TensorBase",
    "Tensor": "from retrograd.tensors.tensor import Tensor",
}
_HIDDEN = {name[1:]: name for name in HEADERS if name.startswith("_")}
# Names that annotations use, and that their modules import for type checkers only, or not at all.
_KNOWN = {"Tensor": Tensor, "TensorBase": TensorBase, "Generator": Generator, "Size": Size, "dtype": dtype,
          "device": device, "layout": layout, "memory_format": memory_format, "return_types": return_types}
# Where a result without a type is a tensor.
FAMILIES = ("retrograd.tensors.functions", "retrograd.tensors.recording", "retrograd.fft", "retrograd.linalg",
            "retrograd.nn.functional")


def safe(text: str) -> str:
    """An annotation of a schema, with the names that stubs use."""
    return re.sub(r"\w+", lambda match: _HIDDEN.get(match.group(), match.group()), text)


def text_of(annotation: Any, function: Any = None) -> str:
    """An annotation as stubs write it. Names are those of the module of `function`; unknown types are Any."""
    if annotation is None or annotation is type(None):
        return "None"
    if annotation in (TensorBase, Tensor):
        return "Tensor"
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        named = getattr(getattr(function, "func", function), "__globals__", {})           # a twin is a partial
        scope = {**vars(builtins), **_KNOWN, **named}
        try:
            return text_of(eval(annotation, scope), function)
        except NameError:
            return "Any"
    if annotation is ...:
        return "..."
    if isinstance(annotation, list):
        return f"[{', '.join(text_of(x, function) for x in annotation)}]"
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (types.UnionType, typing.Union):
        return " | ".join(dict.fromkeys(text_of(x, function) for x in inner))
    if origin is not None:
        return f"{text_of(origin, function)}[{', '.join(text_of(x, function) for x in inner)}]"
    return _name(annotation)


def _name(annotation: Any) -> str:
    name = getattr(annotation, "__name__", "")
    if not isinstance(annotation, type) or name in HEADERS:
        return name if name in HEADERS else "Any"
    if annotation.__module__ == return_types.__name__:
        return f"_return_types.{name}"
    if annotation is np.ndarray:
        return "np.ndarray"
    if name in _HIDDEN:
        return _HIDDEN[name]
    return name if annotation.__module__ == "builtins" else "Any"


def used(body: str) -> Iterator[str]:
    """The imports that a stub with these lines needs."""
    words = set(re.findall(r"\w+", body))
    for name, line in HEADERS.items():
        if name in words:
            yield line
