"""What kind of thing a value is: what a guard compares, which parts a walk looks into, and what cannot be replayed."""

from __future__ import annotations

import enum
import io
import random
import re
import sys
from abc import ABC
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import lru_cache, partial
from threading import Lock, RLock
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    ModuleType,
    UnionType,
)
from typing import Any, Generic, NewType, Protocol, TypeVar

import numpy as np

from ..devices import device
from ..dtypes import dtype
from ..names import PACKAGE
from ..nn.modules.module import Module
from ..optim.optimizer import Optimizer
from ..optim.stepping import Scratch
from ..tensors.arguments.size import Size
from .numbers.stand_ins import FloatNumber, IntNumber
from .places import Missing
from .reading import OWN, USER, is_type, whose
from .sized.sizes import SizeFloat, SizeInt, plain

# Values that a guard compares by type and by equality.
NUMBERS = (int, float, complex, str, bytes, range, slice, Size, device, np.dtype, np.generic, SizeInt, SizeFloat,
           FloatNumber, IntNumber)
SINGLETONS = (type(None), bool, type(Ellipsis), type(NotImplemented), dtype, enum.Enum, Missing)
SEQUENCES = (list, tuple, deque)
MAPPINGS = (dict, OrderedDict, defaultdict, Counter, MappingProxyType)
# The parts of things that are no containers, but whose parts say what they are. Python makes a new method each time.
PARTS = {MethodType: ("__func__", "__self__"), partial: ("func", "args", "keywords"),
         BuiltinFunctionType: ("__self__", "__name__")}
# Things that code or a file defines. Their attributes are not counted.
DEFINED = (FunctionType, ModuleType, type)
CONTENT_LIMIT = 4096                                         # bytes of a NumPy array that a guard compares
# Objects of other libraries whose attributes are looked at.
NAMESPACES = ("argparse.Namespace", "types.SimpleNamespace")

# Attributes of our own classes that a guard does not compare and whose change is none, with the reason.
_SAVING = "it is used when a module is saved or loaded"
_FLAG = "it belongs to a hook, which the guard compares"
IGNORED: dict[type[Any], dict[str, str]] = {
    Module: {
        "_non_persistent_buffers_set": _SAVING, "_state_dict_hooks": _SAVING, "_state_dict_pre_hooks": _SAVING,
        "_load_state_dict_pre_hooks": _SAVING, "_load_state_dict_post_hooks": _SAVING,
        "_forward_hooks_with_kwargs": _FLAG, "_forward_hooks_always_called": _FLAG,
        "_forward_pre_hooks_with_kwargs": _FLAG, "_flat_weight_refs": "the weights of a recurrent layer are compared",
    },
    Optimizer: {
        "_opt_called": "it is only read to warn about schedulers",
        "_scratch": "its memory is written before it is read",
        "_optimizer_state_dict_pre_hooks": _SAVING, "_optimizer_state_dict_post_hooks": _SAVING,
        "_optimizer_load_state_dict_pre_hooks": _SAVING, "_optimizer_load_state_dict_post_hooks": _SAVING,
    },
    Scratch: {"_arrays": "its memory is written before it is read"},
}
_PLAIN_BASES = {object, ABC, Generic, Protocol, *Module.__mro__}
REFUSED_CLASSES: tuple[tuple[Any, str], ...] = (
    (Iterator, "an iterator, which moves on with each use"),
    (io.IOBase, "an open file"),
    (random.Random, "a source of Python's random numbers"),
    ((np.random.Generator, np.random.RandomState), "a source of NumPy's random numbers"),
)


def ignored(cls: type[Any]) -> frozenset[str]:
    """The attributes of an object of a class that no guard compares."""
    return frozenset([name for kind, names in IGNORED.items() if issubclass(cls, kind) for name in names])


def refusal(value: Any) -> str | None:
    """Why a value hides a state that cannot be repeated; None if it does not."""
    for classes, reason in REFUSED_CLASSES:
        if isinstance(value, classes):
            return reason
    data = sys.modules.get(f"{PACKAGE}.utils.data")          # no program has a loader before this import
    if data is not None and isinstance(value, data.DataLoader):
        return "a DataLoader, which gives other data in each run"
    if isinstance(value, np.ndarray) and (value.nbytes > CONTENT_LIMIT or value.dtype.hasobject):
        return "a large NumPy array, whose numbers nobody watches: make a tensor of it before"
    return None


def is_constant(value: Any) -> bool:
    """Whether a value cannot change, so that it is compared by type and equality.

    A number of a trace is such a value, and a tuple with one is none, because each call makes another tuple.
    """
    if isinstance(value, SINGLETONS):
        return True
    if type(value) is tuple:
        return all([is_constant(part) and type(part) not in (FloatNumber, IntNumber) for part in value])
    return isinstance(value, NUMBERS) and (type(value) in NUMBERS or isinstance(value, (np.generic, np.dtype)))


def is_sequence(value: Any) -> bool:
    """Whether a value is a list, a tuple, a named tuple or a deque."""
    return type(value) in SEQUENCES or (isinstance(value, tuple) and type(value).__getitem__ is tuple.__getitem__)


def is_mapping(value: Any) -> bool:
    """Whether a value is a dict of a kind without methods of its own."""
    return type(value) in MAPPINGS or (isinstance(value, dict) and type(value).__getitem__ is dict.__getitem__
                                       and type(value).__iter__ is dict.__iter__)


def has_own_access(value: Any) -> bool:
    """Whether a value is a list, tuple, dict or set with methods of its own to reach the elements."""
    return isinstance(value, (list, tuple, dict, set, frozenset, deque))


def is_record(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return is_dataclass(value) and not is_type(value)


def attributes_of(value: Any) -> dict[str, Any]:
    """The dictionary of an object's attributes; an empty one if the object has none. No code of the object runs."""
    try:
        found: dict[str, Any] = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found


def slots_of(cls: type[Any]) -> Iterator[str]:
    """The names of the attributes that a class keeps in slots."""
    for base in cls.__mro__:
        names = vars(base).get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name not in ("__dict__", "__weakref__"):
                hidden = name.startswith("__") and not name.endswith("__")
                yield f"_{base.__name__.lstrip('_')}{name}" if hidden else name


def is_open(cls: type[Any]) -> bool:
    """Whether a walk looks at the attributes of objects of a class."""
    return any([whose(base.__module__) in (USER, OWN) or f"{base.__module__}.{base.__qualname__}" in NAMESPACES
                for base in cls.__mro__])


# Things of Python's library and of NumPy whose attributes and elements never change, or that do nothing unless a
# function is called, and calls are seen (`calls`).
CLOSED: tuple[type[Any], ...] = (
    np.ufunc, BuiltinFunctionType, type(str.join), type(object.__init__), type(object().__str__),
    type(FunctionType.__code__), type(type.__dict__["__mro__"]), property, staticmethod, classmethod, re.Pattern,
    re.Match, type(lru_cache(len)), GenericAlias, UnionType, CodeType, type(Lock()), type(RLock()), NewType, TypeVar,
    BaseException, Iterator)
# What is known by the name of its module: the things of `typing`, and NumPy's functions in Python and in C.
_CLOSED_MODULES = ("typing", "numpy", "abc", "_abc", "__future__", "functools")


def is_closed(value: Any) -> bool:
    """Whether a guard may compare a thing of a library by its identity alone."""
    kind = type(value)
    return isinstance(value, CLOSED) or kind.__module__ in _CLOSED_MODULES or whose(kind.__module__) == OWN or (
        kind.__name__ in ("cython_function_or_method", "cyfunction", "_ArrayFunctionDispatcher"))


def why_not_closed(value: Any) -> str:
    """Why an object of a library is refused. (`calls.unknown` is about calls.)"""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"of the type {module}{kind.__qualname__}, whose state the compiler does not see"


def by_mention(cls: type[Any]) -> bool:
    """Whether only code that the walk has read can look at the attributes of objects of a class.

    The user has written such a class, and no library but the class `Module` has a part in it.
    """
    return all(base in _PLAIN_BASES or whose(base.__module__) == USER for base in cls.__mro__)


def differ(value: Any, former: Any) -> bool:
    """Whether two constants differ. A nan equals a nan, and -0.0 differs from 0.0."""
    kind = type(former)
    if type(value) is not kind:
        number, known = plain(value), plain(former)          # a size of a trace is the int that it stands for
        return differ(number, known) if type(number) is type(known) else True
    if kind is float or kind is complex:
        return repr(value) != repr(former)
    if isinstance(former, np.generic):
        return bool(value.dtype != former.dtype or value.tobytes() != former.tobytes())
    if kind is slice:
        return any([differ(getattr(value, part), getattr(former, part)) for part in ("start", "stop", "step")])
    if kind is tuple:
        return len(value) != len(former) or any(map(differ, value, former))
    if kind is Size:
        return tuple(value) != tuple(former)
    return bool(value != former)
