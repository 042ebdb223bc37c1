"""Reads equations in Einstein's notation. This module knows letters, dots and numbers of dimensions, but no tensors.

A label is a letter, or an int for a dimension under an ellipsis, counted from the right: -1, -2 …
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Label = str | int


class Equation(NamedTuple):
    """The labels of each operand; all labels, those of the output first; and the number of labels in the output."""

    inputs: list[list[Label]]
    labels: list[Label]
    kept: int


def _equation(inputs: list[list[Label]], output: list[Label]) -> Equation:
    summed = {label for labels in inputs for label in labels}.difference(output)
    return Equation(inputs, [*output, *sorted(summed, key=_in_order)], len(output))


def _in_order(label: Label) -> tuple[bool, Label]:
    return isinstance(label, str), label


def spelled(operands_and_lists: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation and the operands, given operands and lists of numbered subscripts in turn."""
    lists = [*operands_and_lists[1::2]]
    operands = [*operands_and_lists[: len(operands_and_lists) // 2 * 2 : 2]]
    equation = ",".join(map(_letters, lists))
    if len(operands_and_lists) % 2:
        equation += "->" + _letters(operands_and_lists[-1])
    return equation, operands


def _letters(subscripts: Sequence[Any]) -> str:
    text = ""
    for subscript in subscripts:
        if subscript is Ellipsis:
            text += "..."
        elif isinstance(subscript, int) and 0 <= subscript < len(LETTERS):
            text += LETTERS[subscript]
        else:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return text


@lru_cache(maxsize=256)
def parsed(equation: str, ranks: tuple[int, ...]) -> Equation:
    """The labels of an equation for operands of these ranks. Raises RuntimeError if it does not fit them."""
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        which = "more" if len(terms) < len(ranks) else "fewer"
        raise RuntimeError(f"einsum(): {which} operands were provided than specified in the equation")
    start, inputs = 0, []
    for i, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
        inputs.append(_operand_labels(_tokens(term, start, f"operand {i}"), rank, i))
        start += len(term) + 1
    widest = max([-label for labels in inputs for label in labels if isinstance(label, int)], default=0)
    dots: list[Label] = [*range(-widest, 0)]
    if not arrow:
        seen = [label for labels in inputs for label in labels if isinstance(label, str)]
        return _equation(inputs, dots + sorted([label for label in {*seen} if seen.count(label) == 1]))
    output: list[Label] = []
    for token in _tokens(right, len(left) + 2, "output"):
        output += dots if token == "..." else [token]
    _check_output(inputs, output)
    return _equation(inputs, output)


def _tokens(term: str, start: int, where: str) -> list[str]:
    """The letters and ellipses of one term."""
    tokens: list[str] = []
    for match in re.finditer(r"\.\.\.|[^ ]", term):
        token = match.group()
        if token[0] == "." and "..." in tokens:
            already = "but an ellipsis (...)" if where == "output" else "for which an ellipsis"
            raise RuntimeError(f"einsum(): found '.' for {where} {already} was already found")
        if token == ".":
            part = "ellipsis (...)" if where == "output" else "ellipsis"
            raise RuntimeError(f"einsum(): found '.' for {where} that is not part of any {part}")
        if token != "..." and token not in LETTERS:
            raise RuntimeError(f"einsum(): invalid subscript given at index {start + match.start()} in the equation "
                               "string, subscripts must be in [a-zA-Z]")
        tokens.append(token)
    return tokens


def _operand_labels(tokens: list[str], rank: int, i: int) -> list[Label]:
    named = len(tokens) - ("..." in tokens)
    if "..." not in tokens and named != rank:
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) does not match the number of "
                           f"dimensions ({rank}) for operand {i} and no ellipsis was given")
    if named > rank:
        raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) is more than the number of "
                           f"dimensions ({rank}) for operand {i}")
    labels: list[Label] = []
    for token in tokens:
        labels += [*range(named - rank, 0)] if token == "..." else [token]
    return labels


def _check_output(inputs: list[list[Label]], output: list[Label]) -> None:
    for label in output:
        if output.count(label) > 1:
            raise RuntimeError(f"einsum(): output subscript {label} appears more than once in the output")
        if isinstance(label, str) and not any(label in labels for labels in inputs):
            raise RuntimeError(f"einsum(): output subscript {label} does not appear in the equation for any input "
                               "operand")
