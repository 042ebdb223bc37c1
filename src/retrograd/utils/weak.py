"""Dictionaries that hold their keys weakly, and know a key by its identity. So tensors can be keys."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any
from weakref import ref

from ..tensors.state.base import TensorBase

__all__ = ["TensorWeakRef", "WeakIdRef", "WeakIdKeyDictionary", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference whose hash is the identity of the object, and which equals other references to the object."""

    __slots__ = ["_id"]

    def __init__(self, key: Any, callback: Callable[..., Any] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]  # as of weakref.ref
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        mine, theirs = self(), other() if isinstance(other, WeakIdRef) else None
        return self is other if mine is None or theirs is None else mine is theirs

    def __ne__(self, other: object) -> bool:
        return not self == other


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary that forgets an entry when nothing else holds its key. Two keys are equal if they are one object.

    >>> import retrograd as torch
    >>> from retrograd.utils.weak import WeakIdKeyDictionary
    >>> x, notes = torch.ones(2), WeakIdKeyDictionary()
    >>> notes[x] = "seen"
    >>> x in notes, torch.ones(2) in notes
    (True, False)
    >>> del x
    >>> len(notes)
    0
    """

    def __init__(self, dict: Any = None, ref_type: type[WeakIdRef] = WeakIdRef) -> None:
        self.ref_type = ref_type
        self.data: Any = {}
        me = ref(self)

        def forget(key: Any) -> None:
            owner = me()
            if owner is not None:
                owner.data.pop(key, None)

        self._forget = forget
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:                       # no weak reference to the object is possible
            return False

    def __iter__(self) -> Iterator[Any]:
        for key in [*self.data]:
            alive = key()
            if alive is not None:
                yield alive

    def __len__(self) -> int:
        return len(self.data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def popitem(self) -> tuple[Any, Any]:
        """Remove the last entry, and return its key and its value. Raises KeyError if there is none."""
        while True:
            key, value = self.data.popitem()
            alive = key()
            if alive is not None:
                return alive, value

    def keyrefs(self) -> list[WeakIdRef]:
        """The weak references to the keys."""
        return [*self.data]

    def copy(self) -> WeakIdKeyDictionary:
        """Another dictionary with the same entries."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: Any) -> WeakIdKeyDictionary:
        return self.copy()

    def __or__(self, other: Any) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = self.copy()
        joined.update(other)
        return joined

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        return {id(key): value for key, value in self.items()} == {id(key): value for key, value in other.items()}

    __hash__ = None  # type: ignore[assignment]  # as of a dict


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor, which a call gives back. Raises AssertionError for other objects."""

    ref: WeakIdRef

    def __init__(self, tensor: Any) -> None:
        if not isinstance(tensor, TensorBase):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = WeakIdRef(tensor)

    def __call__(self) -> Any:
        return self.ref()
