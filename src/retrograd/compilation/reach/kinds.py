"""What kind of thing a value is: what a guard compares, which parts a walk looks into, and what cannot be replayed."""

from __future__ import annotations

import io
import re
import sys
from abc import ABC
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import is_dataclass
from functools import cached_property, lru_cache, partial, partialmethod
from threading import Lock, RLock
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    UnionType,
)
from typing import Any, Generic, NewType, Protocol, TypeVar

import numpy as np

from ...foundations.names import PACKAGE, contents
from ...nn.modules.module import Module
from ...optim.optimizer import Optimizer
from ...tensors.arguments.generator import Generator
from ...tensors.state.base import TensorBase
from ..program.origins import OWN, USER, is_made_in_c, is_type, made_by_c, whose, whose_class
from .items import ARRAY, CONTAINER, OBJECT, OPAQUE, REFUSED, SET, TENSOR, Names, facts_of, names_of

SEQUENCES = (list, tuple, deque)
MAPPINGS = (dict, OrderedDict, defaultdict, Counter, MappingProxyType)
# The parts of things that are no containers, but whose parts say what they are. Python makes a new method each time.
PARTS: dict[type[Any], tuple[str, ...]] = {
    MethodType: ("__func__", "__self__"), partial: ("func", "args", "keywords"),
    BuiltinFunctionType: ("__self__", "__name__"), MethodWrapperType: ("__self__", "__name__")}
# The functions in what wraps functions in classes.
WRAPPING: dict[type[Any], tuple[str, ...]] = {
    property: ("fget", "fset", "fdel"), cached_property: ("func",), partialmethod: ("func", "args", "keywords"),
    staticmethod: ("__func__",), classmethod: ("__func__",)}
# Things that code or a file defines. Their attributes are not counted.
DEFINED = (FunctionType, ModuleType, type)
CONTENT_LIMIT = 4096                                         # bytes of a NumPy array that a guard compares
# Objects of other libraries whose attributes are looked at.
NAMESPACES = dict.fromkeys(("argparse.Namespace", "types.SimpleNamespace"), "all that it holds are its attributes")
# The module of groups of processes, which stay as they are made.
_GROUPS = f"{PACKAGE}.distributed.groups"

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
        "_scratch": "what it has is written before it is read, or follows from the formula",
        "_optimizer_state_dict_pre_hooks": _SAVING, "_optimizer_state_dict_post_hooks": _SAVING,
        "_optimizer_load_state_dict_pre_hooks": _SAVING, "_optimizer_load_state_dict_post_hooks": _SAVING,
    },
}
_PLAIN_BASES = {object, ABC, Generic, Protocol, *Module.__mro__}
REFUSED_CLASSES: tuple[tuple[Any, str], ...] = (
    (Iterator, "an iterator, which moves on with each use"),
    (io.IOBase, "an open file"),
)
# The same for classes whose modules a program may never import: their module, and their names in it.
REFUSED_IF_LOADED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("random", ("Random",), "a source of Python's random numbers"),
    ("numpy.random", ("Generator", "RandomState"), "a source of NumPy's random numbers"),
    (f"{PACKAGE}.utils.data", ("DataLoader",), "a DataLoader, which gives other data in each run"),
    (f"{PACKAGE}.distributed.reducer", ("Reducer",),
     "what sends the gradients of DistributedDataParallel: compile the module inside"),
)


def ignored(cls: type[Any]) -> frozenset[str]:
    """The attributes of an object of a class that no guard compares."""
    return frozenset([name for kind, names in IGNORED.items() if issubclass(cls, kind) for name in names])


def refusal(value: Any) -> str | None:
    """Why a value hides a state that cannot be repeated; None if it does not."""
    for classes, reason in REFUSED_CLASSES:
        if issubclass(type(value), classes):                 # an object may say by `__class__` that it is another
            return reason
    for module, names, reason in REFUSED_IF_LOADED:
        loaded = sys.modules.get(module)
        if loaded is not None and any([issubclass(type(value), getattr(loaded, name, ())) for name in names]):
            return reason
    if issubclass(type(value), np.ndarray):
        if value.nbytes > CONTENT_LIMIT or value.dtype.hasobject:
            return "a large NumPy array, whose numbers nobody watches: make a tensor of it before"
        if type(value) is not np.ndarray:
            return why_not_closed(value)
    return None


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
    """The dictionary of an object's attributes; an empty one if the object has none. No code of the object runs, and a
    module imports nothing for it.
    """
    if isinstance(value, ModuleType):
        own: dict[str, Any] = contents(value)
        return own
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
    return cls.__module__ != _GROUPS and not is_made_in_c(cls) and any([
        whose_class(base) in (USER, OWN) or f"{base.__module__}.{base.__qualname__}" in NAMESPACES
        for base in cls.__mro__])


_CODE = "it is code: it does nothing unless it is called, and calls are seen"
_FIXED = "nothing in it ever changes"
_WRAPS = "the functions in it are compared"
_WAITS = "its state is compared; that of a lock which a thread takes again shows to other threads alone"
# Things of Python's library and of NumPy that a guard compares by identity, with the reason why this is enough.
CLOSED: dict[type[Any], str] = {
    **dict.fromkeys((np.ufunc, BuiltinFunctionType, type(str.join), type(object.__init__), CodeType,
                     type(FunctionType.__code__), type(vars(type)["__mro__"])), _CODE),
    **dict.fromkeys((property, staticmethod, classmethod, cached_property, partialmethod, type(lru_cache(len))),
                    _WRAPS),
    **dict.fromkeys((np.finfo, np.iinfo, re.Pattern, re.Match, GenericAlias, UnionType, NewType, TypeVar,
                     type(vars(namedtuple("Named", "field"))["field"])), _FIXED),
    **dict.fromkeys((type(Lock()), type(RLock())), _WAITS)}
_CLOSED = tuple(CLOSED)
LOCK = type(Lock())
# What is known by the name of its module.
CLOSED_MODULES = dict.fromkeys(("typing", "abc", "_abc", "__future__"), "it says what types are, which does not change")


def is_closed(value: Any) -> bool:
    """Whether a guard may compare a thing of a library by its identity alone."""
    kind = type(value)
    return isinstance(value, _CLOSED) or kind.__module__ in CLOSED_MODULES or whose(kind.__module__) == OWN or (
        kind.__name__ in ("cython_function_or_method", "cyfunction", "_ArrayFunctionDispatcher"))


def state_of_closed(value: Any) -> Any:
    """What may change in a thing that is compared by identity: whether a lock is taken."""
    return value.locked() if type(value) is LOCK else None


def why_not_closed(value: Any) -> str:
    """Why an object of a library is refused. (`calls.unknown` is about calls.)"""
    kind = type(value)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"of the type {module}{kind.__qualname__}, whose state the compiler does not see"


def by_mention(cls: type[Any]) -> bool:
    """Whether only code that the walk has read can look at the attributes of objects of a class.

    The user has written such a class, and no library but the class `Module` has a part in it.
    """
    return all(base in _PLAIN_BASES or whose_class(base) == USER for base in cls.__mro__)


def kind_of(value: Any) -> tuple[str, Any]:
    """The kind of an item, and facts about it."""
    if isinstance(value, TensorBase):
        if hasattr(value._array, "face"):                    # an array that makes a tensor one of another class
            return REFUSED, "a sparse or meta tensor, which the compiler does not know"
        return TENSOR, facts_of(value)
    reason = refusal(value)
    if reason is not None:
        return REFUSED, reason
    if isinstance(value, np.ndarray):
        return ARRAY, (value.shape, value.dtype, value.strides, value.tobytes(), value.flags.num)
    if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, (ModuleType, type(None))):
        return OPAQUE, None
    if type(value) in PARTS:
        return CONTAINER, None
    if is_mapping(value):
        return CONTAINER, list(value)
    if is_sequence(value):
        return CONTAINER, len(value)
    if type(value) in (set, frozenset):
        return SET, tuple(value)
    if has_own_access(value):
        return REFUSED, f"a {type(value).__name__}, which has its own way to reach its elements"
    if is_type(value) or isinstance(value, ModuleType):
        owner = whose_class(value) if is_type(value) else whose(value.__name__)
        return (OBJECT if owner == USER else OPAQUE), None
    if type(value) is FunctionType:
        return OBJECT, None
    if whose_class(type(value)) == USER and made_by_c(type(value)):
        return REFUSED, why_not_closed(value)
    if isinstance(value, Generator) or not is_open(type(value)):
        return (OPAQUE, state_of_closed(value)) if is_closed(value) else (REFUSED, why_not_closed(value))
    return OBJECT, facts_of_object(value)


def facts_of_object(value: Any) -> tuple[Names, tuple[str, ...], type[Any]]:
    """The names of the attributes of an object, which uncompared attributes it lacks, and its class.

    Of a layer of the package, only their number is guarded: a model has many, and programs put little in them.
    """
    own, uncompared = attributes_of(value), ignored(type(value))
    names = Names(len(own), None) if whose_class(type(value)) == OWN else names_of(own, uncompared)
    return names, tuple(sorted(uncompared.difference(own))), type(value)
