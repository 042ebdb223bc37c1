"""torch.fx.experimental.symbolic_shapes: questions about sizes that a compiler may not know. All sizes are numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...foundations.names import missing

__all__ = ["free_symbols", "free_unbacked_symbols", "guard_int", "guard_or_false", "guard_or_true", "guard_scalar",
           "has_free_symbols", "has_free_unbacked_symbols", "is_concrete_bool",
           "is_concrete_float", "is_concrete_int", "is_nested_int", "statically_known_false", "statically_known_true"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def guard_or_false(a: Any) -> bool:
    """The outcome of a comparison."""
    return bool(a)


def statically_known_false(x: Any) -> bool:
    """Whether the outcome of a comparison is False."""
    return not x


guard_or_true = statically_known_true = guard_or_false


def guard_int(a: Any) -> int:
    """A size as an int."""
    return int(a)


def guard_scalar(a: Any) -> Any:
    """A number as it is."""
    return a


def free_symbols(val: Any) -> set[Any]:
    """The unknown numbers in a value: none."""
    return set()


free_unbacked_symbols = free_symbols


def has_free_symbols(val: Any) -> bool:
    """Whether a value has unknown numbers: no."""
    return False


has_free_unbacked_symbols = is_nested_int = has_free_symbols


def is_concrete_int(a: Any) -> bool:
    """Whether a number is known: yes."""
    return True


is_concrete_bool = is_concrete_float = is_concrete_int
