"""Containers of modules: Sequential, ModuleList, ModuleDict.

The containers of parameters are in `parameter_container`. This module must not know any layer.
"""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar, overload

from ...foundations.errors import noted, warn
from ...foundations.inherited import name_inherited
from ...tensors.tensor import Tensor
from ..borrowed import borrowing
from .module import Module
from .module.printing import framed, indented
from .parameter_container import ParameterDict, ParameterList, pairs

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = borrowing(__name__, __all__)

S = TypeVar("S", bound="_Series")
# What helps who calls a container, which has no forward.
_ONE_BY_ONE = "call its modules one after another in your forward, or use nn.Sequential"


def _addindent(s_: str, numSpaces: int) -> str:
    """A text whose lines after the first stand further to the right, for programs that print modules themselves."""
    return s_.replace("\n", "\n" + " " * numSpaces)


class Container(Module):
    """A module with the submodules that it is made with, under their names. The class is deprecated: use `Module`."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__()
        warn("`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
             "instead.", FutureWarning)
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Series(Module):
    """Submodules whose names are numbers: what Sequential and ModuleList have in common.

    A program may add submodules with other names. As in PyTorch, a Sequential takes an index as a place among all
    submodules, and a ModuleList takes an index as a name.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name_inherited(cls)

    def _place(self, index: Any) -> int:
        """The place that an index means, which may be negative. Raises IndexError if there are not so many modules."""
        position, size = operator.index(index), len(self)
        if not -size <= position < size:
            raise noted(
                IndexError(f"index {position} is out of range"), given=f"{type(self).__name__} has {size} modules")
        return position % size

    def _names(self) -> list[str]:
        """The name that stands for each place."""
        raise NotImplementedError

    def _key(self, index: Any) -> str:
        return self._names()[self._place(index)]

    def _put_before(self, index: int, module: Any) -> None:
        """Give the modules from an index on the next names, and this module the name of the index.

        Raises KeyError, and changes nothing, if one of the names is missing.
        """
        moved = {str(i): self._modules[str(i - 1)] for i in range(len(self), index, -1)}
        self._modules |= {**moved, str(index): module}

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, self._key(index), module)

    def __delitem__(self, index: Any) -> None:
        keys = self._names()[index] if isinstance(index, slice) else [self._key(index)]
        for key in [key for key in keys if key not in self._modules] or keys:        # a missing one raises
            delattr(self, key)
        left = [*self._modules.values()]
        self._modules.clear()
        self._modules |= {str(i): module for i, module in enumerate(left)}

    def append(self: S, module: Module) -> S:
        """Add a module at the end. Returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def _numbered_on(self: S, modules: Iterable[Module]) -> S:
        """Add modules under the numbers from the present length on."""
        for number, module in enumerate(modules, len(self)):
            self.add_module(str(number), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove a module, and return it."""
        module = self[key]                                              # type: ignore[index]
        del self[key]
        return module


class Sequential(_Series):
    """Modules in order: the result of one module is the argument of the next.

    >>> import retrograd as torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
    >>> net(torch.zeros(2, 4)).shape
    torch.Size([2, 3])
    >>> net[0]
    Linear(in_features=4, out_features=3, bias=True)

    The modules of an OrderedDict keep its names. A slice is a Sequential of the same modules.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = len(args) == 1 and isinstance(args[0], OrderedDict)
        for name, module in args[0].items() if named else enumerate(args):
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Tensor:
        """Run the modules in order."""
        for module in self._modules.values():
            input = module(input)
        output: Tensor = input
        return output

    def _names(self) -> list[str]:
        return [*self._modules]

    def insert(self, index: int, module: Module) -> Sequential:
        """Put a module before the module at `index`. Returns the container.

        Raises KeyError if the names from `index` on are no numbers, as in a Sequential that an OrderedDict made.
        """
        if not isinstance(module, Module):
            raise noted(
                AssertionError("module should be of type: <class 'torch.nn.modules.module.Module'>"),
                given=str(type(module)))
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._put_before(index + len(self) if index < 0 else index, module)
        return self

    def extend(self, sequential: Iterable[Module]) -> Sequential:
        """Add modules at the end. Returns the container. Raises TypeError if `sequential` is not iterable."""
        for module in sequential:
            self.append(module)
        return self

    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict([*self._modules.items()][index]))
        return self._modules[self._key(index)]

    def __add__(self, other: Module) -> Sequential:
        return Sequential(*self, *_summand(other))

    def __iadd__(self, other: Module) -> Sequential:
        return self._numbered_on(_summand(other))

    def __mul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return Sequential(*[module for _ in range(other) for module in self])

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Sequential:
        self._check_factor(other)
        return self._numbered_on([self._modules[str(i)] for _ in range(other - 1) for i in range(len(self))])

    def _check_factor(self, factor: Any) -> None:
        kind = "<class 'torch.nn.modules.container.Sequential'>" if type(self) is Sequential else str(type(self))
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {kind} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {kind}")


def _summand(other: Module) -> list[Module]:
    """The modules of a Sequential. Raises ValueError for any other value."""
    if not isinstance(other, Sequential):
        raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
    return [*other]


class ModuleList(_Series):
    """A list of modules. Their parameters belong to the module that has the list as an attribute.

    >>> import retrograd as torch
    >>> layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])
    >>> len(layers), len([*layers.parameters()])
    (3, 6)

    A list cannot be called.
    """

    _instead_of_calling = _ONE_BY_ONE

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _names(self) -> list[str]:
        return [str(i) for i in range(len(self))]

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end. Returns the list. Raises TypeError if `modules` is not iterable."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return self._numbered_on([*modules])

    @overload
    def __getitem__(self, index: slice) -> ModuleList: ...
    @overload
    def __getitem__(self, index: int) -> Module: ...
    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([*self][index])
        return self._modules[self._key(index)]

    def __iadd__(self, modules: Iterable[Module]) -> ModuleList:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Put a module before the module at `index`. Raises KeyError if `index` is negative."""
        self._put_before(index, module)

    def __repr__(self) -> str:
        lines: list[str] = []
        # First index, last index and text of modules with the same text, which is printed once.
        runs: list[tuple[int, int, str]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], i, text)
            else:
                runs.append((i, i, text))
        for first, last, text in runs:
            shown = f"({first}): {text}" if first == last else f"({first}-{last}): {last - first + 1} x {text}"
            lines.append(indented(shown))
        return framed(self._get_name(), [], lines)


class ModuleDict(Module):
    """Modules by name, in the order of insertion. A dictionary cannot be called."""

    _instead_of_calling = _ONE_BY_ONE

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        module: Module = self._modules[key]
        return module

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Remove a module, and return it."""
        return self._modules.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and modules."""
        return self._modules.items()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Add modules from a mapping, or from pairs of name and module. Raises TypeError for other values."""
        if not isinstance(modules, Iterable):
            raise TypeError("ModuleDict.update should be called with an iterable of key/value pairs, but got "
                            f"{type(modules).__name__}")
        if not isinstance(modules, (Mapping, ModuleDict)):
            modules = OrderedDict(pairs("ModuleDict", modules))
        for key, module in modules.items():
            self[key] = module
