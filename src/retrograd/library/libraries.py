"""torch.library.Library, define and impl: operators by their schemas, with kernels that are added by dispatch keys.

Three kinds of keys matter here. A kernel of "CPU" or "CompositeExplicitAutograd" computes. A kernel of
"CompositeImplicitAutograd" or "Autograd" gets the tensors as they are given. A kernel of "Meta" makes results without
numbers. All other kernels are kept, and no call needs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..foundations.devices import KINDS, device
from ..ops.overloads import OpOverload
from .operators import Operator, defined, known, removed, split

_WHOLE = ("", "CatchAll", "CompositeImplicitAutograd", "Autograd", "AutogradCPU")
_UNUSED = ("ADInplaceOrView", "AutocastCPU", "AutocastCUDA", "AutocastMPS", "AutocastXPU", "AutogradCUDA",
           "AutogradMeta", "AutogradMPS", "AutogradXPU", "BackendSelect", "FuncTorchBatched", "FuncTorchVmapMode",
           "Functionalize", "CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutogradNonFunctional",
           "NestedTensorCPU", "PrivateUse1", "Python", "QuantizedCPU", "SparseCPU", "SparseCsrCPU", "Tracer",
           "Conjugate", "Negative")
_OWNED: set[str] = set()                                 # namespaces that a Library of kind "DEF" defines
# Kernels of operators that are not defined yet.
_WAITING: dict[str, list[tuple[str, Callable[..., Any]]]] = {}


class Library:
    """Operators of one namespace. `kind` is "DEF", "FRAGMENT", or "IMPL" for a library that only adds kernels.

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
        self._defined: list[Operator] = []

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
        self._defined.append(made)
        for key, fn in _WAITING.pop(made.name(), []):
            add_kernel(made, key, fn)
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
        _add(f"{self.ns}::{name}", dispatch_key or self.dispatch_key, kernel)

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Refuse a kernel for all operators: there is no dispatcher below the functions of retrograd."""
        raise NotImplementedError("PyTorch has `torch.library.Library.fallback`; retrograd has not: derive a mode from "
                                  "torch.overrides.TorchFunctionMode to take over the calls of all functions")

    def _destroy(self) -> None:
        """Take the operators of the library out of their namespace."""
        for operator in self._defined:
            removed(operator)
        self._defined.clear()
        if self.kind == "DEF":
            _OWNED.discard(self.ns)


@contextmanager
def scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """A library whose operators exist within the context."""
    library = Library(*args, **kwargs)
    try:
        yield library
    finally:
        library._destroy()


def add_kernel(operator: Operator, key: str, fn: Callable[..., Any]) -> None:
    """Add the kernel of a dispatch key to an operator."""
    if key in _WHOLE:
        operator.whole = fn
    elif key == "CompositeExplicitAutograd":
        operator.kernels[None] = fn
    elif key == "Meta":
        operator.fake = fn
    elif key.lower() in KINDS:
        operator.kernels[key.lower()] = fn
    elif key not in _UNUSED:
        raise RuntimeError(f"could not parse dispatch key: {key}")


def _add(qualname: str, key: str, fn: Callable[..., Any]) -> None:
    try:
        operator = known(qualname)
    except AttributeError:                               # programs may add kernels first
        _WAITING.setdefault(qualname, []).append((key, fn))
    else:
        add_kernel(operator, key, fn)


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
    (lib or Library(space, "FRAGMENT")).define(name + schema)
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
            _add(qualname, key, fn)

    return register if func is None else register(func)


def _key(kind: str) -> str:
    """The dispatch key of a device type."""
    return "CompositeExplicitAutograd" if kind == "default" else device(kind).type


def waiting_kernel(qualname: str, device_types: str | Sequence[str] | None, fn: Callable[..., Any]) -> None:
    """Add a kernel to an operator that may not be defined yet."""
    types = [device_types or "default"] if device_types is None or isinstance(device_types, str) else device_types
    for each in types:
        _add(qualname, _key(each), fn)
