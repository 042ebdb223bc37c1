"""The types that operators compute in, and PyTorch's messages for the types that they are not defined for.

An op's `domain` is a word or one of these functions. A domain is given the common type of the operands and the type
of each operand. It returns the type to compute in, or raises. No domain is written for a single operator by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..foundations.dtypes import FLOATING, I64, category, default_floating, dtype as torch_dtype, letter
from .framework import Domain

_KIND = {"b": "b", "i": "i", "u": "i", "f": "f", "c": "c"}
# "{}" in a message stands for PyTorch's old name of the refused type.
Message = str | RuntimeError


def refused(message: Message, dtype: np.dtype[Any]) -> RuntimeError:
    """The exception for a refused type: NotImplementedError with the text, or the message itself if it is an error."""
    text = str(message).format(f"'{torch_dtype.of[dtype].legacy}'")
    return RuntimeError(text) if isinstance(message, RuntimeError) else NotImplementedError(text)


def _refusals(kernel: str, kinds: str, messages: dict[str, Message]) -> dict[str, Message]:
    """For each refused kind of type its message."""
    return {**dict.fromkeys(kinds, f'"{kernel}" not implemented for {{}}'), **messages}


def promoted(kernel: str = "", kinds: str = "", **messages: Message) -> Domain:
    """The common type, refused for some kinds: b(ool), i(nteger), f(loat), c(omplex).

    For the `kinds` the message is PyTorch's usual one, with the name that PyTorch has for the kernel. For other refused
    kinds `messages` has an entry.
    """
    refusals = _refusals(kernel, kinds, messages)

    def domain(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
        message = refusals.get(_KIND[letter(dtype)])
        if message is not None:
            raise refused(message, dtype)
        return dtype

    return domain


def floating(kernel: str = "", kinds: str = "", **messages: Message) -> Domain:
    """The common type, but at least the default float; refused as in `promoted`."""
    refusals = _refusals(kernel, kinds, messages)

    def domain(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
        message = refusals.get(_KIND[letter(dtype)])
        if message is not None:
            raise refused(message, dtype)
        return default_floating() if category(dtype) < FLOATING else dtype

    return domain


def counted(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """The common type; bools count as integers."""
    return I64 if dtype.kind == "b" else dtype


def subtracted(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """The common type of a difference; no operand may be bool."""
    if all(d.kind == "b" for d in dtypes):
        raise RuntimeError("Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                           "`logical_xor()` operator instead.")
    if any(d.kind == "b" for d in dtypes):
        raise RuntimeError("Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
                           "invert a mask, use the `~` or `logical_not()` operator instead.")
    return dtype


def float_or_double(name: str) -> Domain:
    """The common type, but at least the default float; refused for half precision as well as for complex numbers."""
    chosen = floating(name, "c")

    def domain(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
        if letter(dtype) == "f" and dtype.itemsize == 2:
            raise refused(f'"{name}" not implemented for {{}}', dtype)
        return chosen(dtype, dtypes)

    return domain


def first(dtype: np.dtype[Any], dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """The type of the first operand."""
    return dtypes[0]
