"""The module that torch.compile makes of a module."""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Any

from ..foundations.names import PACKAGE
from ..nn.modules.module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A module around another module. Attributes are those of the inner module; names in `state_dict` have a prefix.

    >>> import retrograd as torch
    >>> inner = torch.nn.Linear(1, 1)
    >>> outer = torch.optimized.OptimizedModule(inner)
    >>> [*outer.state_dict()]
    ['_orig_mod.weight', '_orig_mod.bias']
    >>> outer.in_features, outer.eval().training, inner.training
    (1, False, False)
    """

    __module__ = f"{PACKAGE}.optimized"                      # the module under which programs know the class
    _OWN = frozenset(("_orig_mod", "_torchdynamo_orig_callable", "forward", "__dict__"))

    def __init__(self, mod: Module, compiling: Callable[[Any], Any] | None = None) -> None:
        super().__init__()
        del self.__dict__["training"]                        # the inner module's is read instead
        self._modules["_orig_mod"] = mod
        self.__dict__["_torchdynamo_orig_callable"] = mod.forward
        self.__dict__["_compiled"] = mod if compiling is None else compiling(mod)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the inner module, or what was compiled of it."""
        return self.__dict__["_compiled"](*args, **kwargs)

    def __len__(self) -> int:
        if isinstance(self._orig_mod, Sized):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    @property
    def training(self) -> bool:
        """Whether the inner module is in training."""
        return bool(self._orig_mod.training)

    @training.setter
    def training(self, value: bool) -> None:
        self._orig_mod.training = value

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__["_modules"]
        return modules["_orig_mod"] if name == "_orig_mod" else getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name) or name in self._OWN:
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if hasattr(type(self), name) or name in self._OWN:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self._orig_mod)]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._orig_mod,)
