"""Parameters in a list and by name. Other values may stand among them. This module must not know any layer."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...tensors.face.conversion import typename
from ...tensors.tensor import Tensor
from ..parameter import Parameter
from .module import Module

__all__ = ["ParameterDict", "ParameterList", "pairs"]


def _owned(value: Any) -> Any:
    """A tensor as a parameter; any other value as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def pairs(container: str, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Checked pairs of name and value. Raises TypeError or ValueError for other values."""
    for number, pair in enumerate(values):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{container} update sequence element #{number} should be Iterable; is"
                            f"{type(pair).__name__}")
        name_and_value = tuple(pair)
        if len(name_and_value) != 2:
            raise ValueError(f"{container} update sequence element #{number} has length {len(name_and_value)}; 2 is "
                             "required")
        yield name_and_value


def _line(key: Any, value: Any, dtype: str) -> str:
    """The text of one entry."""
    if isinstance(value, Tensor):
        kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
        return f"  ({key}): {kind} containing: [{dtype} of size {'x'.join(map(str, value.shape))}]"
    return f"  ({key}): Object of type: {type(value).__name__}"


class ParameterList(Module):
    """A list of parameters. They belong to the module that has the list as an attribute. Tensors become parameters.

    >>> import retrograd as torch
    >>> weights = torch.nn.ParameterList([torch.ones(2) for _ in range(3)])
    >>> len(weights), weights[0].requires_grad
    (3, True)
    """

    __module__ = "retrograd.nn.modules.container"

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, index: Any) -> str:
        position = operator.index(index)
        if not -self._size <= position < self._size:
            raise IndexError(f"index {position} is out of range")
        return str(position % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[i] for i in range(*index.indices(self._size))])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._key(index), _owned(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(self._size)])

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def append(self, value: Any) -> ParameterList:
        """Add a value at the end. Returns the list."""
        setattr(self, str(self._size), _owned(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add several values at the end. Returns the list. Raises TypeError if `values` is not iterable."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in [*values]:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(_line(i, value, repr(getattr(value, "dtype", ""))) for i, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name, in the order of insertion. Tensors become parameters."""

    __module__ = "retrograd.nn.modules.container"

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string "
                            f"(type is '{type(key).__name__}'). Open an issue on github if you need non-string keys.")
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._attribute(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, self._attribute(key), _owned(value))
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and parameters."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return (self[key] for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter with a name, or `default`."""
        return self[key] if key in self._keys else default

    def pop(self, key: str) -> Any:
        """Remove a parameter, and return it. Raises AttributeError if there is none with this name."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the last parameter, and return its name and itself. Raises KeyError if there is none."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter with a name. If there is none, `default` gets the name first."""
        if key not in self._keys:
            self[key] = default
        return self[key]

    def copy(self) -> ParameterDict:
        """Another dictionary of the same parameters."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dictionary of these names, all with the same value."""
        return ParameterDict((key, default) for key in keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __or__(self, other: ParameterDict) -> ParameterDict:
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: Any) -> Any:
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove all parameters."""
        for key in [*self._keys]:
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add parameters from a mapping, or from pairs of name and parameter.

        The entries of a plain dictionary are added in the order of their names. Raises TypeError for other values.
        """
        if not isinstance(parameters, Iterable):
            raise TypeError("ParametersDict.update should be called with an iterable of key/value pairs, but got "
                            f"{type(parameters).__name__}")
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            parameters = parameters.items()
        elif isinstance(parameters, Mapping):
            parameters = sorted(parameters.items())
        else:
            parameters = pairs("ParameterDict", parameters)
        for key, value in parameters:
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, typename(value)) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
