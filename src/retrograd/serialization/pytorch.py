"""Files that PyTorch's own `torch.save` wrote, as far as they hold data: tensors, numbers, text, containers.

Such a file is a zip with a pickle in it, and a pickle is a program. This module does not run the program. A small
machine reads its instructions one by one; it can make tensors and plain containers, and has no access to modules or
attributes. A name in the pickle is only text, and one table says what each name does.
"""

from __future__ import annotations

import pickle
import pickletools
import sys
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partialmethod
from typing import Any, NamedTuple

import numpy as np

from ..devices import device
from ..dtypes import ALL, dtype
from ..nn.parameter import Parameter
from ..tensors.arguments.size import Size
from ..tensors.state.base import plain
from . import sparse
from .layout import BY_NAME, Array

PICKLE = "data.pkl"
# The element types by the names of PyTorch's old classes of memory.
_BY_STORAGE = {f"{element.legacy}Storage": element for element in ALL}


class Name(NamedTuple):
    """A name in the pickle. It is never imported or looked up."""

    module: str
    name: str


class _Mark:
    """Marks the start of a run of items on the stack."""


_MARK = _Mark()


def _tensor(memory: Array, offset: int, size: Any, stride: Any, requires_grad: bool, *rest: Any) -> Any:
    step = memory.itemsize
    if min(stride, default=0) < 0:
        raise ValueError("a negative stride")
    if 0 in size:
        array = np.empty(size, memory.dtype)
    else:                                                # the constructor raises if this leaves the memory
        array = np.ndarray(size, memory.dtype, memory, offset * step, [n * step for n in stride])
    tensor = plain(array)
    return tensor.requires_grad_() if requires_grad else tensor


def _parameter(data: Any, requires_grad: bool, hooks: Any, state: Any = None) -> Any:
    parameter = Parameter(data, requires_grad)
    vars(parameter).update(state or {})
    return parameter


def _with_attributes(function: Name, kind: Any, args: tuple[Any, ...], state: Any) -> Any:
    """A tensor with attributes."""
    if kind not in (Name("torch", "Tensor"), Name("torch.nn.parameter", "Parameter")):
        raise _refused(kind)
    tensor = _called(function, args)
    vars(tensor).update(state)
    return tensor


def _encoded(text: str, encoding: str) -> bytes:
    """The form in which old pickles write bytes."""
    if encoding != "latin1":
        raise ValueError(encoding)
    return text.encode("latin1")


def _bytearray(data: bytes = b"", *rest: Any) -> bytearray:
    if not isinstance(data, bytes):                      # a number would ask for that many zero bytes
        raise TypeError(type(data).__name__)
    return bytearray(data)


# The names that may be called, and the functions that build their results.
_CALLS: dict[Name, Callable[..., Any]] = {
    Name("torch._utils", "_rebuild_tensor_v2"): _tensor,
    Name("torch._utils", "_rebuild_parameter"): _parameter,
    Name("torch._utils", "_rebuild_sparse_tensor"): sparse.made,
    Name("torch.serialization", "_get_layout"): sparse.layout_of,
    Name("torch._utils", "_rebuild_parameter_with_state"): _parameter,
    Name("torch._tensor", "_rebuild_from_type_v2"): _with_attributes,
    Name("collections", "OrderedDict"): OrderedDict,
    Name("collections", "Counter"): Counter,
    Name("torch", "Size"): Size,
    Name("torch", "device"): device,
    Name("_codecs", "encode"): _encoded,
    Name("builtins", "complex"): complex, Name("__builtin__", "complex"): complex,
    Name("builtins", "set"): set, Name("__builtin__", "set"): set,
    Name("builtins", "bytearray"): _bytearray, Name("__builtin__", "bytearray"): _bytearray,
}


def _refused(name: Any) -> pickle.UnpicklingError:
    shown = f"{name.module}.{name.name}" if isinstance(name, Name) else repr(name)
    return pickle.UnpicklingError(
        f"Weights only load failed. Unsupported global: GLOBAL {shown} was not an allowed global by default. load "
        "reads only tensors, parameters and plain containers, for any weights_only: other objects would run code of "
        "the file. In PyTorch, save only the state_dict().")


def _called(function: Any, args: tuple[Any, ...]) -> Any:
    if function not in _CALLS:
        raise _refused(function)
    return _CALLS[function](*args)


def _value(item: Any) -> Any:
    """An item as a part of another object. Of names, only those of element types are allowed."""
    if type(item) is tuple:
        return tuple(map(_value, item))
    if type(item) in (_Mark, np.ndarray):
        raise TypeError("an item that is no object: a mark, or a memory without a tensor")
    if type(item) is not Name:
        return item
    if item.module == "torch" and item.name in BY_NAME:
        return BY_NAME[item.name]
    raise _refused(item)


class _Machine:
    """Reads the instructions of a pickle. `_value` checks the items that become parts of other objects."""

    def __init__(self, memory_of: Callable[[str, dtype], Array]) -> None:
        self.memory_of = memory_of
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, text: bytes) -> Any:
        for code, argument, _ in pickletools.genops(text):
            if code.name == "STOP":
                return _value(self.stack.pop())
            step = getattr(self, f"do_{code.name.lower()}", None)
            if step is not None:
                step(argument)
            elif code.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[code.name]())
            elif code.name in _LITERALS:
                self.stack.append(argument)
            elif code.name not in ("PROTO", "FRAME"):
                raise pickle.UnpicklingError(f"Weights only load failed. The instruction {code.name} is unknown.")
        raise EOFError("the pickle does not end")

    def items(self) -> list[Any]:
        """The items above the last mark, removed from the stack."""
        at = max(i for i, item in enumerate(self.stack) if item is _MARK)
        items = self.stack[at + 1:]
        del self.stack[at:]
        return items

    def do_mark(self, argument: Any) -> None:
        self.stack.append(_MARK)

    def do_pop(self, argument: Any) -> None:
        self.stack.pop()

    def do_global(self, argument: str) -> None:
        self.stack.append(Name(*argument.split(" ", 1)))

    def do_stack_global(self, argument: Any) -> None:
        name = self.stack.pop()
        self.stack.append(Name(self.stack.pop(), name))

    def do_memoize(self, argument: Any) -> None:
        self.memo[len(self.memo)] = self.stack[-1]

    def do_binput(self, argument: int) -> None:
        self.memo[argument] = self.stack[-1]

    def do_binget(self, argument: int) -> None:
        self.stack.append(self.memo[argument])

    do_long_binput, do_long_binget = do_binput, do_binget

    def do_tuple(self, argument: Any) -> None:
        self.stack.append(tuple(self.items()))           # for arguments too, so names in it are checked on use

    def _tuple_of(self, count: int, argument: Any) -> None:
        self.stack[-count:] = [tuple(self.stack[-count:])]

    do_tuple1 = partialmethod(_tuple_of, 1)
    do_tuple2 = partialmethod(_tuple_of, 2)
    do_tuple3 = partialmethod(_tuple_of, 3)

    def do_append(self, argument: Any) -> None:
        item = self.stack.pop()
        self._of(list).append(_value(item))

    def do_appends(self, argument: Any) -> None:
        items = self.items()
        self._of(list).extend(map(_value, items))

    def do_additems(self, argument: Any) -> None:
        items = self.items()
        self._of(set).update(map(_value, items))

    def do_setitem(self, argument: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._of(dict)[_value(key)] = _value(value)

    def do_setitems(self, argument: Any) -> None:
        items = [*map(_value, self.items())]
        self._of(dict).update(zip(items[::2], items[1::2], strict=True))

    def _of(self, kind: type[Any]) -> Any:
        if not isinstance(self.stack[-1], kind):
            raise TypeError(f"{type(self.stack[-1]).__name__} where a {kind.__name__} should be")
        return self.stack[-1]

    def do_reduce(self, argument: Any) -> None:
        args, function = self.stack.pop(), self.stack.pop()
        self.stack.append(_called(function, args))

    def do_newobj(self, argument: Any) -> None:
        raise _refused(self.stack[-2])

    def do_build(self, argument: Any) -> None:
        """Set the attributes of a dict, such as the `_metadata` of a state_dict."""
        state = self.stack.pop()
        vars(self._of(OrderedDict)).update(state)

    def do_binpersid(self, argument: Any) -> None:
        """Push a memory: ("storage", its old class, its member, its location, the number of elements)."""
        _, kind, key, _, count = self.stack.pop()
        if kind.name not in _BY_STORAGE:
            raise pickle.UnpicklingError(f"Weights only load failed. There is no dtype here for elements of "
                                         f"{kind.name}. In PyTorch, convert the tensors, for example by .float(), "
                                         "and save them again.")
        memory = self.memory_of(key, _BY_STORAGE[kind.name])
        if memory.size < count:
            raise ValueError(f"memory {key} has fewer elements than the file says")
        self.stack.append(memory)


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_LITERALS = frozenset(("BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
                       "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"))


def read(archive: zipfile.ZipFile, pickled: str, checked: Callable[[zipfile.ZipInfo], zipfile.ZipInfo]) -> Any:
    """The object in an archive of PyTorch's whose pickle is the member `pickled`.

    `checked` returns a member if its size is possible, and raises otherwise. Raises UnpicklingError if the file holds
    more than plain data.
    """
    folder = pickled.removesuffix(PICKLE)
    members = {info.filename: info for info in archive.infolist()}
    order = f"{folder}byteorder"
    theirs = archive.read(checked(members[order])).decode() if order in members else "little"
    if theirs != sys.byteorder:
        raise ValueError(f"the file is of a {theirs}-endian machine")
    memories: dict[str, Array] = {}

    def memory_of(key: str, element: dtype) -> Array:
        if key not in memories:
            memories[key] = np.frombuffer(bytearray(archive.read(checked(members[f"{folder}data/{key}"]))), np.uint8)
        raw = memories[key]
        return raw[: raw.size // element.itemsize * element.itemsize].view(element.dtype)

    return _Machine(memory_of).run(archive.read(checked(members[pickled])))
