"""Where things are: classes and functions under PyTorch's names, and storages on devices."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from types import ModuleType
from typing import Any

from ..foundations.devices import device
from ..foundations.errors import noted
from ..foundations.names import PACKAGE, in_pytorch, public, reached
from ..tensors.face.storage import TypedStorage, UntypedStorage

Storage = TypedStorage | UntypedStorage


# Names of classes and functions


def public_place(obj: Any, name: str) -> tuple[str, str]:
    """The module and the name by which PyTorch knows a class or a function.

    A class of retrograd stands in a module that PyTorch has too, in a package above that module, or in another module
    of such a package.
    """
    module = str(obj.__module__)
    if module.partition(".")[0] != PACKAGE:
        return module, name
    for place in _places(module):
        if _is_pytorchs(place) and _has(place, name, obj):
            return public(place), name
    raise AttributeError(f"Can't save {obj!r}: PyTorch has no module with this name")


def _places(module: str) -> Iterator[str]:
    """A module and the packages above, each before its loaded modules. A program has a class from a loaded module."""
    while module:
        yield module
        yield from sorted(name for name in [*sys.modules] if name.rpartition(".")[0] == module)
        module = module.rpartition(".")[0]


def _has(module: str, name: str, obj: Any) -> bool:
    """Whether a module offers this object under this name."""
    try:
        return attrgetter(name)(importlib.import_module(module)) is obj
    except (AttributeError, ImportError):
        return False


@cache
def _is_pytorchs(module: str) -> bool:
    """Whether PyTorch has a module with the name of a module of retrograd."""
    parent, _, last = module.rpartition(".")
    if not parent:
        return True
    return _is_pytorchs(parent) and (last.startswith("_") or last in in_pytorch(public(parent), modules=True))


def found(module: str, name: str) -> Any:
    """The class or the function with this name in PyTorch. Raises AttributeError or ImportError if there is none."""
    return attrgetter(name)(importlib.import_module(PACKAGE + module.removeprefix("torch")))


# Devices


_restorers: list[tuple[int, Callable[[Any], str | None], Callable[[Any, str], Any]]] = []


def register_package(priority: int, tagger: Callable[[Storage], str | None],
                     deserializer: Callable[[Storage, str], Storage | None]) -> None:
    """Add a device of one's own: a function that names the place of a storage, and a function that puts one there."""
    _restorers.append((priority, tagger, deserializer))
    _restorers.sort(key=lambda entry: entry[0])


def location_tag(storage: Storage) -> str:
    """The name of the place of a storage: "cpu", or what a registered function says."""
    for _, tagger, _ in _restorers:
        location = tagger(storage)
        if location:
            return location
    return str(storage.device)


def default_restore_location(storage: Storage, location: str) -> Storage:
    """The storage at a place with this name. Raises RuntimeError if there is no such place."""
    for _, _, deserializer in _restorers:
        result = deserializer(storage, location)
        if result is not None:
            return result  # type: ignore[no-any-return]  # what a program has registered
    kind = location.partition(":")[0]
    if kind == "cuda":
        validate_cuda_device(location)
    if kind == "meta":
        return reached("tensors.meta.public").emptied(storage)  # type: ignore[no-any-return]
    if kind != "cpu":
        raise noted(
            RuntimeError("don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
                         f"{location})"), instead="pass map_location='cpu'")
    return storage


def validate_cuda_device(location: str) -> None:
    """Raise RuntimeError, because there is no GPU; ValueError for the name of another device."""
    if not location.startswith("cuda"):
        raise ValueError(f"Expected a cuda device, but got: {location}")
    raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If "
                       "you are running on a CPU-only machine, please use torch.load with "
                       "map_location=torch.device('cpu') to map your storages to the CPU.")


_WAYS_OF_STORAGE = """TypedStorage.__init__ received an invalid combination of arguments. Expected one of:
 * (*, torch.device device, torch.dtype dtype)
 * (int size, *, torch.device device, torch.dtype dtype)
 * (Sequence data, *, torch.device device, torch.dtype dtype)
 * (*, UntypedStorage wrap_storage, torch.dtype dtype)"""


def restorer(map_location: Any) -> Callable[[Storage, str], Storage]:
    """The function that puts a storage where the `map_location` of `load` says."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, str(map_location.get(location, location)))
    if isinstance(map_location, (str, device)):
        return lambda storage, location: default_restore_location(storage, str(map_location))

    def restore(storage: Storage, location: str) -> Storage:
        if not callable(map_location):
            raise noted(
                TypeError(f"'{type(map_location).__name__}' object is not callable"),
                because="map_location is a device, a dict of devices or a function", instead="map_location='cpu'")
        result = map_location(storage, location)
        if result is None:
            return default_restore_location(storage, location)
        if not isinstance(result, (TypedStorage, UntypedStorage)):
            raise noted(
                TypeError(f"{_WAYS_OF_STORAGE}\nArgument 'wrap_storage' must be UntypedStorage, but got "
                          f"{type(result)}"),
                because="the function map_location returns a storage or None")
        return result

    return restore


def check_module_version_greater_or_equal(module: ModuleType, req_version_tuple: tuple[Any, ...],
                                          error_if_malformed: bool = True) -> bool:
    """Whether a module has at least this version, such as `(1, 2)`. Raises RuntimeError for a version of another form.

    >>> import types
    >>> import retrograd as torch
    >>> package = types.ModuleType("package")
    >>> package.__version__ = "1.10.2"
    >>> torch.serialization.check_module_version_greater_or_equal(package, (1, 9))
    True
    """
    try:
        have = tuple(type(wanted)(part) for wanted, part in zip(req_version_tuple, module.__version__.split("."),
                                                                strict=False))
    except (ValueError, TypeError) as error:
        if error_if_malformed:
            raise RuntimeError(f"'{module.__name__}' module version string is malformed "
                               f"'{getattr(module, '__version__', None)}' and cannot be compared with tuple "
                               f"{req_version_tuple}") from error
        return False
    return have >= req_version_tuple
