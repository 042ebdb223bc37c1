"""The types of the small types that C code makes in PyTorch, such as `dtype` and `Size`.

Python's errors name such a type with its module, as C code does: "'torch.dtype' object is not callable". So Python
knows these types by the long name here, too, and `__name__` is the short one. Programs cannot change these types.
"""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any, ClassVar, NoReturn

# The name by which Python knows a type.
_NAME = vars(type)["__name__"]
_known_by = _NAME.__get__


class Sealed(type):
    """`class device(metaclass=Sealed)` makes a type whose instances are 'torch.device' objects in Python's errors.

    `package` is what stands before the name. Nothing can inherit from the type unless it is `open`.
    """

    _closed: ClassVar[dict[type, bool]] = {}               # whether nothing can inherit, by the types themselves

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], package: str = "torch",
                open: bool = False) -> Any:
        for base in bases:
            if isinstance(base, Sealed):
                if Sealed._closed.get(base, False):
                    raise TypeError(f"type '{_known_by(base)}' is not an acceptable base type")
                return type.__new__(type(base), name, bases, namespace)
        made = type.__new__(cls, f"{package}.{name}", bases, namespace)
        Sealed._closed[made] = not open
        return made

    def __init__(self, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, namespace)

    @property
    def __name__(self) -> str:
        """The short name."""
        return str(_known_by(self)).rpartition(".")[2]

    @__name__.setter
    def __name__(self, name: str) -> None:
        _NAME.__set__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._refuse_change(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        super().__delattr__(name)

    def _refuse_change(self, name: str) -> None:
        """Raises TypeError unless a program has made the type, by inheritance from an open type."""
        if self in Sealed._closed:
            raise TypeError(f"cannot set '{name}' attribute of immutable type '{_known_by(self)}'")


class Listed(Sealed):
    """A type that programs cannot call, because all its instances have names. `type.__call__` makes them."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(f"cannot create '{_known_by(self)}' instances")


class Fixed:
    """An object whose attributes nobody can change once they are set."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        found = getattr(type(self), name, None)
        if type(found) is not MemberDescriptorType or _is_set(self, found):
            _refuse(self, name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        _refuse(self, name)
        object.__delattr__(self, name)


def _words() -> str:
    """What this interpreter says of an object that has no place for an attribute."""
    try:
        object.__setattr__(object(), "nope", None)
    except AttributeError as error:
        return str(error)
    raise AssertionError


_WORDS = _words()


def _is_set(of: Fixed, slot: MemberDescriptorType) -> bool:
    """Whether an attribute has a value."""
    try:
        slot.__get__(of)
    except AttributeError:
        return False
    return True


def _refuse(of: Fixed, name: str) -> None:
    """Raises AttributeError if there is no such attribute, or one that is no method."""
    if not hasattr(type(of), name):
        raise AttributeError(_WORDS.replace("object", _known_by(type(of)), 1).replace("nope", name))
    if not name.startswith("__") and hasattr(getattr(type(of), name, None), "__set__"):
        raise AttributeError(f"attribute '{name}' of '{_known_by(type(of))}' objects is not writable")
