"""Unusual calls of recorded functions: with `out`, with too few or too many arguments, with subclasses or modes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..arguments.schemas import SignatureOfSchema
from .overriding import handled, handled_operator

if TYPE_CHECKING:
    from ..state.base import TensorBase

ABSENT: Any = object()                  # stands for an argument that a call does not have


def signature(schemas: tuple[str, ...], arity: int) -> SignatureOfSchema:
    """What `inspect.signature` shows of a recorded function of one tensor or of two."""
    return SignatureOfSchema(schemas, _of_one if arity == 1 else _of_two, False)


def _of_one(input: TensorBase, *, out: Any = None) -> Any:
    """How a function of one tensor is called."""


def _of_two(input: TensorBase, other: Any, *, out: Any = None) -> Any:
    """How a function of two tensors is called."""


def unusual(call: Any, args: tuple[Any, ...], out: Any, many: bool) -> Any:
    """The result of a call with `out`.

    Raises PyTorch's TypeError if a method is given `out`, if an argument is absent, or if there are too `many`.
    """
    facts, named = getattr(call, "public", None), {} if out is None else {"out": out}
    if facts is not None and not (many or facts.bound or _lacks(args)):
        if facts.out is None:
            raise TypeError(f"{call.__name__}() got an unexpected keyword argument 'out'")
        return facts.call(args, named)
    given = tuple([x for x in args if x is not ABSENT])
    wrong = None if facts is None else facts.refused(given, named)
    raise wrong or TypeError(f"{call.__name__}() does not take these arguments")


def overridden(call: Any, args: tuple[Any, ...]) -> Any:
    """The result that a mode or an operand's class gives to a call; UNHANDLED if none of them handles calls.

    Raises PyTorch's TypeError if an argument is absent.
    """
    if _lacks(args):
        return unusual(call, args, None, False)
    if not call.method:
        return handled(call, args, {})
    return handled_operator(call.method, args)


def _lacks(args: tuple[Any, ...]) -> bool:
    return any([x is ABSENT for x in args])
