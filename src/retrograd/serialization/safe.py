"""The classes and functions that a program allows `load` to use, besides the ones that are always allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .places import public_place

Allowed = Callable[..., Any] | tuple[Callable[..., Any], str]
_allowed: list[Allowed] = []


def add_safe_globals(safe_globals: list[Allowed]) -> None:
    """Allow `load` to use these classes and functions when it reads a file as data.

    An item is a class or a function, or a pair of it and the full name in the files, such as `"old_module.Net"`.
    `load` makes objects of these classes and calls these functions. Raises TypeError for other items.

    >>> import io, retrograd as torch
    >>> from fractions import Fraction
    >>> file = io.BytesIO()
    >>> torch.save(Fraction(1, 3), file)
    >>> _ = file.seek(0)
    >>> with torch.serialization.safe_globals([Fraction]):
    ...     torch.load(file)
    Fraction(1, 3)
    """
    items = list(safe_globals)
    for item in items:
        _full_name(item)
    _allowed.extend(items)


def get_safe_globals() -> list[Allowed]:
    """The classes and functions that `load` may use, in order."""
    return [*_allowed]


def clear_safe_globals() -> None:
    """Forget all classes and functions that a program has allowed."""
    _allowed.clear()


class safe_globals:
    """A block in which `load` may use more classes and functions. See `add_safe_globals`.

    The end of the block forbids what the block has allowed, and nothing else. A module that is imported inside may
    allow its own classes for good.
    """

    def __init__(self, safe_globals: list[Allowed]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        self.more = [item for item in self.safe_globals if item not in _allowed]
        add_safe_globals(self.more)

    def __exit__(self, *error: object) -> None:
        _allowed[:] = [item for item in _allowed if item not in self.more]


def allowed() -> dict[str, Any]:
    """What a program has allowed, by the full names in files."""
    return dict(map(_full_name, _allowed))


def _full_name(item: Any) -> tuple[str, Any]:
    if isinstance(item, tuple):
        if len(item) != 2 or not isinstance(item[1], str):
            raise ValueError(f"Expected tuple of length 2 (global, str of callable full path), but got tuple {item!r}")
        return item[1], item[0]
    if not callable(item):
        raise TypeError(f"add_safe_globals takes classes and functions, not {type(item).__name__}: {item!r}")
    module, name = public_place(item, item.__qualname__)
    return f"{module}.{name}", item


