"""Operators by the names of PyTorch's core, and operators that programs define: `torch.ops`, overload by overload.

This module does not know the public functions. `_Core.function` finds the one that an operator of the core calls.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..foundations.names import PACKAGE
from . import _Core

_HOME = f"{PACKAGE}._ops"                                    # the module under which programs know what is here


class OpOverload:
    """One way to call an operator, such as `torch.ops.aten.add.Tensor`."""

    __module__ = _HOME

    def __init__(self, packet: OpOverloadPacket, overload: str) -> None:
        self.overloadpacket = self._overloadpacket = packet
        self._overloadname, self.namespace = overload, packet.namespace
        self.__name__ = f"{packet.__name__}.{overload}"
        self.__module__ = packet.__module__

    def name(self) -> str:
        """The name in the core, such as "aten::add.Tensor"."""
        qualified = self.overloadpacket._qualified_op_name
        return qualified if self._overloadname == "default" else f"{qualified}.{self._overloadname}"

    @cached_property
    def _schema(self) -> Any:
        """The schema in the words of the core."""
        found = _Core.schema(self)
        if found is None:
            raise NotImplementedError(f"PyTorch has a schema for `torch.ops.{self}`; retrograd does not know it")
        return found

    @property
    def is_view(self) -> bool:
        """Whether the result is a view of an argument."""
        return any([a.alias and "!" not in a.alias for a in self._schema.arguments])

    @property
    def tags(self) -> list[Any]:
        """What PyTorch's compiler knows of the operator: nothing here."""
        return []

    def has_kernel_for_dispatch_key(self, key: Any) -> bool:
        """False: there is one kernel, and no table of kernels by keys."""
        return False

    def decompose(self, *args: Any, **kwargs: Any) -> Any:
        """NotImplemented: no operator that a handler sees is made of others."""
        return NotImplemented

    def fits(self, *args: Any, **kwargs: Any) -> bool:
        """Whether the operator takes these arguments."""
        return True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _Core.called(self, args, kwargs)

    def __deepcopy__(self, memo: Any) -> OpOverload:
        return self

    def __str__(self) -> str:
        return f"{self.overloadpacket}.{self._overloadname}"

    def __repr__(self) -> str:
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"


class OpOverloadPacket:
    """An operator of PyTorch's core, such as `torch.ops.aten.add`. Its attributes are its overloads."""

    __module__ = _HOME

    def __init__(self, namespace: str, name: str) -> None:
        self.namespace, self.__name__, self.__module__ = namespace, name, f"torch._ops.{namespace}"
        self._qualified_op_name = f"{namespace}::{name}"

    def overloads(self) -> list[str]:
        """The names of the overloads that retrograd knows."""
        return [*_Core.overloads(self.__name__)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _Core.apart(self.__name__):
            return self.default(*args, **kwargs)
        return self.compute(*args, **kwargs)

    def __deepcopy__(self, memo: Any) -> OpOverloadPacket:
        return self

    def compute(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function or the method of this name. Raises NotImplementedError if there is none."""
        function = _Core.function(self.__name__)
        if function is None:
            raise NotImplementedError(f"PyTorch has `torch.ops.{self}`; retrograd has no function or method "
                                      f"{self.__name__!r}")
        return function(*args, **kwargs)

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {overload!r}")
        found = vars(self)[overload] = OpOverload(self, overload)
        return found

    def __str__(self) -> str:
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


class DefinedPacket(OpOverloadPacket):
    """An operator that a program has defined, with the overloads that the program has defined."""

    __module__ = _HOME

    def __init__(self, namespace: str, name: str) -> None:
        super().__init__(namespace, name)
        self.defined: dict[str, OpOverload] = {}

    def overloads(self) -> list[str]:
        """The names of the overloads."""
        return [*self.defined]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not self.defined:
            raise RuntimeError(f"{self} is not defined anymore: the torch.library.Library that defined it is gone. "
                               "Keep the library as long as its operators are called.")
        *others, last = self.defined.values()
        for overload in others:
            if overload.fits(*args, **kwargs):
                return overload(*args, **kwargs)
        return last(*args, **kwargs)

    def __getattr__(self, overload: str) -> OpOverload:
        if overload.startswith("__"):                      # such as copy() asks of an object that is not complete yet
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {overload!r}")
        found: OpOverload | None = vars(self).get("defined", {}).get(overload)
        if found is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{overload}'")
        return found


class _OpNamespace:
    """The operators of one library."""

    __module__ = _HOME

    def __init__(self, name: str) -> None:
        self.name, self.__name__ = name, f"torch.ops.{name}"

    def __getattr__(self, name: str) -> OpOverloadPacket:
        raise AttributeError(f"'_OpNamespace' '{self.name}' object has no attribute {name!r}")

    def __deepcopy__(self, memo: Any) -> _OpNamespace:
        return self

    def __repr__(self) -> str:
        return f"<module '{self.__name__}' from 'torch.ops'>"


class _CoreNamespace(_OpNamespace):
    """The operators of a library that PyTorch brings along. Every name is an operator."""

    __module__ = _HOME

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            return super().__getattr__(name)
        found = vars(self)[name] = OpOverloadPacket(self.name, name)
        return found


aten, prim = _CoreNamespace("aten"), _CoreNamespace("prim")
NAMESPACES: dict[str, _OpNamespace] = {"aten": aten, "prim": prim}


def namespace(name: str) -> _OpNamespace:
    """The operators of the library with this name, such as `torch.ops.name`."""
    return NAMESPACES.setdefault(name, _OpNamespace(name))


namespace.__module__ = _HOME
