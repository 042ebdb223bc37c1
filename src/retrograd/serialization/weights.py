"""Reading a pickle as data: what `torch.load` does with `weights_only=True`.

A pickle is a program. This module does not run the program. A small machine reads the instructions one by one. The
machine can make tensors and plain containers, and what the list of `safe` allows. It has no access to modules or
attributes. A name in the pickle is only text, and one table says what each name does.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partialmethod
from typing import Any, NamedTuple

from ..foundations.devices import device
from ..foundations.dtypes import Shape, complex32, dtype, float4_e2m1fn_x2
from ..nn.parameter import Parameter
from ..tensors.arguments.size import Size
from ..tensors.face.legacy import TYPES
from ..tensors.face.storage import STORAGE_TYPES, TypedStorage, UntypedStorage
from ..tensors.tensor import Tensor
from . import rebuilding
from .archive import Reader, opened
from .safe import allowed
from .sparse import _get_layout

Storage = TypedStorage | UntypedStorage


class Name(NamedTuple):
    """A name in the pickle. It is never imported or looked up."""

    module: str
    name: str

    @property
    def full(self) -> str:
        """The name as messages and the list of allowed names have it."""
        module = "builtins" if self.module == "__builtin__" else self.module
        return f"{module}.{self.name}"


class _Mark:
    """Marks the start of a run of items on the stack."""


_MARK = _Mark()


def _tensor(storage: TypedStorage, offset: int, size: Shape, stride: Shape, requires_grad: bool, hooks: Any,
            metadata: Any = None) -> Any:
    """A tensor over a storage. Raises an error if the tensor would leave the storage."""
    if not isinstance(storage, TypedStorage) or min((offset, *size, *stride)) < 0:
        raise ValueError("a tensor that no program saves")
    return rebuilding._rebuild_tensor_v2(storage, offset, size, stride, requires_grad, OrderedDict(), metadata)


def _tensor_without_memory(element: Name, size: Shape, stride: Shape, requires_grad: bool) -> Any:
    """A tensor on the device meta, of the dtype with a name."""
    if not isinstance(element, Name) or element.full not in _ELEMENTS:
        raise ValueError("a tensor that no program saves")
    return rebuilding._rebuild_meta_tensor_no_storage(_ELEMENTS[element.full], size, stride, requires_grad)


def _tensor_of_bytes(storage: UntypedStorage, offset: int, size: Shape, stride: Shape, requires_grad: bool, hooks: Any,
                     element: Name, metadata: Any = None) -> Any:
    """A tensor over an untyped storage, of the dtype with a name."""
    if not isinstance(storage, UntypedStorage) or not isinstance(element, Name) or element.full not in _ELEMENTS:
        raise ValueError("a tensor that no program saves")
    found = _ELEMENTS[element.full]
    if found in (complex32, float4_e2m1fn_x2):
        raise _without_numbers(f"{found!r}")
    typed = TypedStorage._of(storage, found.dtype)
    return _tensor(typed, offset, size, stride, requires_grad, hooks, metadata)


def _parameter(data: Tensor, requires_grad: bool, hooks: Any) -> Any:
    return rebuilding._rebuild_parameter(data, requires_grad, OrderedDict())


def _parameter_with_state(data: Any, requires_grad: bool, hooks: Any, state: Any) -> Any:
    return rebuilding._rebuild_parameter_with_state(data, requires_grad, OrderedDict(), state)


def _encoded(text: str, encoding: str) -> bytes:
    """The form in which old pickles write bytes."""
    if encoding != "latin1":
        raise ValueError(encoding)
    return text.encode("latin1")


def _bytearray(data: bytes = b"", *rest: Any) -> bytearray:
    if not isinstance(data, bytes):                      # a number would ask for that many zero bytes
        raise TypeError(type(data).__name__)
    return bytearray(data)


def _unreadable(what: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(f"Weights only load failed. WeightsUnpickler error: {what}")


def _without_numbers(what: str) -> pickle.UnpicklingError:
    return _unreadable(f"There is no dtype here for elements of {what}. In PyTorch, convert the tensors, for example "
                       "by .float(), and save them again.")


# The names that may be called, and the functions that build their results.
_CALLS: dict[str, Callable[..., Any]] = {
    "torch._utils._rebuild_tensor_v2": _tensor,
    "torch._utils._rebuild_tensor_v3": _tensor_of_bytes,
    "torch._utils._rebuild_sparse_tensor": rebuilding._rebuild_sparse_tensor,
    "torch._utils._rebuild_meta_tensor_no_storage": _tensor_without_memory,
    "torch.serialization._get_layout": _get_layout,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter_with_state,
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "torch.Size": Size,
    "torch.device": device,
    "_codecs.encode": _encoded,
    "builtins.complex": complex,
    "builtins.set": set,
    "builtins.bytearray": _bytearray,
}
_ELEMENTS = {f"torch.{name}": element for name, element in dtype.all.items()}
_STORAGES = {f"torch.{kind.__name__}": kind for kind in STORAGE_TYPES.values()}
_TENSORS: dict[str, Any] = {"torch.Tensor": Tensor, "torch.nn.parameter.Parameter": Parameter}
_UNTYPED = frozenset(["torch.UntypedStorage", "torch.storage.UntypedStorage"])
_BUILT = (OrderedDict, Tensor)
_VALUES = _ELEMENTS | _TENSORS | TYPES                      # what may be a part of other objects
_ALWAYS = {*_CALLS, *_VALUES, *_STORAGES, *_UNTYPED, "torch._tensor._rebuild_from_type_v2"}


def _refused(name: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(
        "Weights only load failed. This file can still be loaded, to do so you have two options, do those steps only "
        "if you trust the source of the checkpoint. \n\t(1) Re-running `torch.load` with `weights_only` set to `False` "
        "will likely succeed, but it can result in arbitrary code execution. Do it only if you got the file from a "
        "trusted source.\n\t(2) Alternatively, to load with `weights_only=True` please check the recommended steps in "
        f"the following error message.\n\tWeightsUnpickler error: Unsupported global: GLOBAL {name} was not an allowed "
        f"global by default. Please use `torch.serialization.add_safe_globals([{name}])` or the "
        f"`torch.serialization.safe_globals([{name}])` context manager to allowlist this global if you trust this "
        "class/function.")


class _Machine:
    """Reads the instructions of a pickle. `_value` checks the items that become parts of other objects."""

    def __init__(self, stored: Callable[[Any, str, str, int], Storage]) -> None:
        self.stored = stored
        self.allowed = allowed()
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, text: bytes) -> Any:
        for code, argument, _ in pickletools.genops(text):
            if code.name == "STOP":
                return self._value(self.stack.pop())
            step = getattr(self, f"do_{code.name.lower()}", None)
            if step is not None:
                step(argument)
            elif code.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[code.name]())
            elif code.name in _LITERALS:
                self.stack.append(argument)
            elif code.name not in ("PROTO", "FRAME"):
                raise _unreadable(f"Unsupported operand: {code.name}")
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
        self._of(list).append(self._value(item))

    def do_appends(self, argument: Any) -> None:
        items = self.items()
        self._of(list).extend(map(self._value, items))

    def do_additems(self, argument: Any) -> None:
        items = self.items()
        self._of(set).update(map(self._value, items))

    def do_setitem(self, argument: Any) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._of(dict, OrderedDict, Counter)[self._value(key)] = self._value(value)

    def do_setitems(self, argument: Any) -> None:
        items = [*map(self._value, self.items())]
        self._of(dict, OrderedDict, Counter).update(zip(items[::2], items[1::2], strict=True))

    def _of(self, *kinds: type[Any]) -> Any:
        """The object at the top of the stack, which must be of one of these types, and not of a derived type."""
        if type(self.stack[-1]) not in kinds:
            raise _unreadable(f"{type(self.stack[-1])} where {kinds} should be")
        return self.stack[-1]

    # Objects

    def do_reduce(self, argument: Any) -> None:
        args, function = self.stack.pop(), self.stack.pop()
        self.stack.append(self._called(function, args))

    def _called(self, function: Name, args: tuple[Any, ...]) -> Any:
        if not isinstance(function, Name):
            raise _unreadable(f"Trying to call reduce for unrecognized function {function}")
        if function.full == "torch._tensor._rebuild_from_type_v2":
            inner, kind, arguments, state = args
            return rebuilding._rebuild_from_type_v2(lambda *values: self._called(inner, values), self._class(kind),
                                                    arguments, state)
        call = _CALLS.get(function.full) or self.allowed.get(function.full)
        if call is None:
            raise _refused(function.full)
        return call(*(args if function.full in _CALLS else map(self._value, args)))

    def _class(self, name: Name) -> Any:
        """A class that may be instantiated."""
        if not isinstance(name, Name):
            raise _unreadable(f"Trying to create new object for unrecognized class {name}")
        cls = _TENSORS.get(name.full) or self.allowed.get(name.full)
        if not isinstance(cls, type):
            raise _refused(name.full)
        return cls

    def do_newobj(self, argument: Any) -> None:
        args, name = self.stack.pop(), self.stack.pop()
        cls = OrderedDict if isinstance(name, Name) and name.full == "collections.OrderedDict" else self._class(name)
        self.stack.append(cls.__new__(cls, *map(self._value, args)))

    def do_build(self, argument: Any) -> None:
        """Give an object its state: the attributes of a dict or a tensor, or what an allowed class takes."""
        state = self._value(self.stack.pop())
        obj = self.stack[-1]
        if type(obj) in _BUILT:
            vars(obj).update(state)
        elif type(obj) not in self.allowed.values():
            raise _unreadable("Can only build Tensor, Parameter, OrderedDict or types allowlisted via "
                              f"`add_safe_globals`, but got {type(obj)}")
        elif hasattr(obj, "__setstate__"):
            obj.__setstate__(state)
        else:
            own, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
            for name, value in {**(own or {}), **(slots or {})}.items():
                setattr(obj, name, value)

    def do_binpersid(self, argument: Any) -> None:
        """Push a storage: ("storage", its old class, its key, its place, the number of elements)."""
        what, kind, key, place, count = self.stack.pop()
        if what != "storage" or not isinstance(kind, Name):
            raise _unreadable(f"Only persistent_load of storage is allowed, but got {what}")
        if kind.full not in _STORAGES and kind.full not in _UNTYPED:
            raise _without_numbers(kind.name)
        self.stack.append(self.stored(_STORAGES.get(kind.full, UntypedStorage), key, place, count))

    def _value(self, item: Any) -> Any:
        """An item as a part of another object. Of names, only types and allowed objects are possible."""
        if type(item) is tuple:
            return tuple(map(self._value, item))
        if type(item) is _Mark:
            raise TypeError("a mark where an object should be")
        if type(item) is not Name:
            return item
        if item.full in _VALUES:
            return _VALUES[item.full]
        if item.full in self.allowed:
            return self.allowed[item.full]
        raise _refused(item.full)


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "EMPTY_TUPLE": tuple,
    "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set}
_LITERALS = frozenset(("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "BINUNICODE", "SHORT_BINUNICODE",
                       "BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"))


def run(pickled: bytes, stored: Callable[[Any, str, str, int], Storage]) -> Any:
    """The object that a pickle describes. `stored` gives the storage of a type, a key, a place and a size.

    Raises UnpicklingError if the pickle holds more than data and allowed objects.
    """
    return _Machine(stored).run(pickled)


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The full names of the classes and functions in a file that `load` with `weights_only=True` refuses."""
    with opened(f, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        with zipfile.ZipFile(file) as archive:
            pickled = Reader(archive, size).pickled()
    names: list[str] = []
    texts: list[str] = []
    for code, argument, _ in pickletools.genops(pickled):
        if code.name == "GLOBAL":
            names.append(Name(*str(argument).split(" ", 1)).full)
        elif code.name == "STACK_GLOBAL":
            names.append(Name(*texts[-2:]).full)
        elif isinstance(argument, str):
            texts.append(argument)
    known = _ALWAYS | set(allowed())
    return [*dict.fromkeys(name for name in names if name not in known)]
