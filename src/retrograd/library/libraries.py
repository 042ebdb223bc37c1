"""torch.library.Library, define and impl: operators by their schemas, with kernels that are added by dispatch keys.

Three kinds of keys matter here. A kernel of "CPU" or "CompositeExplicitAutograd" computes. A kernel of
"CompositeImplicitAutograd" or "Autograd" gets the tensors as they are given. A kernel of "Meta" makes results without
numbers. All other kernels are kept, and no call needs them.

What a library defines and adds lives as long as the library, as in PyTorch.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..foundations.devices import KINDS, device
from ..ops.overloads import OpOverload
from .operators import Operator, Registration, defined, known, removed, split

_WHOLE = ("", "CatchAll", "CompositeImplicitAutograd", "Autograd", "AutogradCPU")
_UNUSED = ("ADInplaceOrView", "AutocastCPU", "AutocastCUDA", "AutocastMPS", "AutocastXPU", "AutogradCUDA",
           "AutogradMeta", "AutogradMPS", "AutogradXPU", "BackendSelect", "FuncTorchBatched", "FuncTorchVmapMode",
           "Functionalize", "CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutogradNonFunctional",
           "NestedTensorCPU", "PrivateUse1", "Python", "QuantizedCPU", "SparseCPU", "SparseCsrCPU", "Tracer",
           "Conjugate", "Negative")
_OWNED: set[str] = set()                                 # namespaces that a Library of kind "DEF" defines
# Kernels of operators that are not defined, by the names of the operators.
_WAITING: dict[str, list[Registration]] = {}
_KEPT: list[Library] = []                                # what `define` defines without a library lives on


class Library:
    """Operators of one namespace. `kind` is "DEF", "FRAGMENT", or "IMPL" for a library that only adds kernels.

    When the library goes, its operators and kernels go, and a kernel that it has replaced computes again. So a program
    keeps the library.

    >>> import retrograd as torch
    >>> lib = torch.library.Library("doc_library", "DEF")
    >>> name = lib.define("plus(Tensor x, int k=1) -> Tensor")
    >>> lib.impl(name, lambda x, k=1: x + k, "CPU")
    >>> torch.ops.doc_library.plus(torch.zeros(1), 2)
    tensor([2.])

    Raises ValueError for another kind, and RuntimeError for a second library of kind "DEF".
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim" and kind in ("DEF", "FRAGMENT"):
            raise ValueError(f"{ns} is a reserved namespace. Please try creating a library with another name.")
        if kind == "DEF" and (ns in _OWNED or ns == "aten"):
            raise RuntimeError(f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put "
                               "all of your definitions in a single TORCH_LIBRARY block.")
        if kind == "DEF":
            _OWNED.add(ns)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._undoes: list[Callable[[], None]] = []
        if kind == "DEF":
            self._undoes.append(lambda: _OWNED.discard(ns))
        self._end = weakref.finalize(self, _undone, self._undoes)

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Define an operator by its schema, such as "name(Tensor x) -> Tensor", and return the name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        if self.kind == "IMPL":
            raise RuntimeError(f'def("{schema.partition("(")[0]}"): Cannot define an operator inside of a '
                               "TORCH_LIBRARY_IMPL block.  All def()s should be placed in the (unique) TORCH_LIBRARY "
                               "block for their namespace.")
        made = defined(self.ns, schema, closed=False, again=False)
        self._undoes.append(lambda: _take_out(made))
        for kernel in _WAITING.pop(made.name(), []):
            made.add(kernel)
        return schema.partition("(")[0]

    def impl(self, op_name: str | OpOverload, fn: Callable[..., Any], dispatch_key: str = "", *,
             with_keyset: bool = False, allow_override: bool = True) -> None:
        """Add a kernel for a dispatch key, which is that of the library by default.

        With `with_keyset`, the kernel first gets the keys of the call, which are None. Raises TypeError for a kernel
        that is no function, and RuntimeError for an unknown key.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        name = op_name.name().partition("::")[2] if isinstance(op_name, OpOverload) else op_name.rpartition("::")[2]
        kernel = (lambda *args, **kwargs: fn(None, *args, **kwargs)) if with_keyset else fn
        self._undoes.append(_add(f"{self.ns}::{name}", dispatch_key or self.dispatch_key, kernel))

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Refuse a kernel for all operators: there is no dispatcher below the functions of retrograd."""
        raise NotImplementedError("PyTorch has `torch.library.Library.fallback`; retrograd has not: derive a mode from "
                                  "torch.overrides.TorchFunctionMode to take over the calls of all functions")

    def _destroy(self) -> None:
        """Take back all that the library has defined and added."""
        self._end()


@contextmanager
def scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library whose operators exist within the context."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def _undone(undoes: list[Callable[[], None]]) -> None:
    while undoes:
        undoes.pop()()


def _slot(key: str) -> str | None:
    """Where an operator keeps the kernel of a dispatch key. Raises RuntimeError for an unknown key."""
    if key in _WHOLE:
        return "whole"
    if key == "CompositeExplicitAutograd":
        return None
    if key == "Meta":
        return "fake"
    if key.lower() in KINDS:
        return key.lower()
    if key not in _UNUSED:
        raise RuntimeError(f"could not parse dispatch key: {key}")
    return "unused"


def _add(qualname: str, key: str, fn: Callable[..., Any]) -> Callable[[], None]:
    """Add a kernel to an operator, which may be defined later. Returns the function that takes the kernel back."""
    registration = Registration(_slot(key), fn)
    try:
        known(qualname).add(registration)
    except AttributeError:                               # programs may add kernels first
        _WAITING.setdefault(qualname, []).append(registration)

    def take_back() -> None:
        if registration.operator is not None:
            registration.operator.take_back(registration)
        else:
            _WAITING[qualname].remove(registration)

    return take_back


def _take_out(operator: Operator) -> None:
    """Take an operator out of its namespace. Kernels of other libraries wait for another operator of its name."""
    removed(operator)
    if left := operator.let_go():
        _WAITING.setdefault(operator.name(), []).extend(left)


def define(qualname: Any, schema: Any, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an operator by its name, "namespace::name", and by a schema such as "(Tensor x) -> Tensor".

    With a library and a schema that begins with the name, returns a decorator for the kernel, as PyTorch once did.

    >>> import retrograd as torch
    >>> torch.library.define("doc::triple", "(Tensor x) -> Tensor")
    >>> torch.library.impl("doc::triple", "cpu", lambda x: 3 * x)
    >>> torch.ops.doc.triple(torch.ones(1))
    tensor([3.])

    Raises ValueError for a name without a namespace, and for a schema with a name.
    """
    if isinstance(qualname, Library):
        name = qualname.define(schema)

        def with_kernel(fn: Callable[..., Any]) -> Callable[..., Any]:
            qualname.impl(name, fn, "CompositeImplicitAutograd")
            return fn

        return with_kernel
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    space, name = split(qualname)
    if not schema.startswith("("):
        raise ValueError('define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but '
                         f'got "{schema}"')
    if lib is None:
        _KEPT.append(lib := Library(space, "FRAGMENT"))
    lib.define(name + schema)
    return None


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Add a kernel for device types, such as "cpu", or for all of them, "default". Without `func`, returns a decorator.

    PyTorch's former call `impl(library, name, dispatch_key)` returns a decorator, too.
    """
    if isinstance(qualname, Library):
        def with_key(fn: Callable[..., Any]) -> Callable[..., Any]:
            qualname.impl(types, fn, func or "")
            return fn

        return with_key
    keys = [_key(each) for each in ([types] if isinstance(types, str) else types)]
    split(qualname)

    def register(fn: Callable[..., Any]) -> None:
        for key in keys:
            held_by(lib, _add(qualname, key, fn))

    return register if func is None else register(func)


def _key(kind: str) -> str:
    """The dispatch key of a device type."""
    return "CompositeExplicitAutograd" if kind == "default" else device(kind).type


def waiting_kernel(qualname: str, device_types: str | Sequence[str] | None, fn: Callable[..., Any],
                   lib: Library | None) -> None:
    """Add a kernel to an operator that may not be defined yet."""
    types = [device_types or "default"] if device_types is None or isinstance(device_types, str) else device_types
    for each in types:
        held_by(lib, _add(qualname, _key(each), fn))


def held_by(lib: Library | None, undo: Callable[[], None]) -> None:
    """Call a function when a library goes, if there is a library."""
    if lib is not None:
        lib._undoes.append(undo)
