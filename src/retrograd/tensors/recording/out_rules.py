"""Rules for `out=`: which dtype, memory, history and shape a function accepts.

A public function states its rule where it is defined: `@public(..., out=rule(exact=EXACT, overlap=FREE))`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

# Messages about a wrong dtype. {result} and {out} are PyTorch's names of the types, {c_result} and {c_out} the names in
# C++.
UNCASTABLE = "result type {result} can't be cast to the desired output type {out}"
UNJOINABLE = "torch.cat(): input types can't be cast to the desired output type {out}"
EXACT = "Expected out tensor to have dtype {c_result}, but got {c_out} instead"
FOUND = "Found dtype {out} but expected {result}"
SCALAR = "{name}(): self and result must have the same scalar type"
NOTICE = ("An output with one or more elements was resized since it had shape {had}, which does not match the "
            "required output shape {shape}. This behavior is deprecated, and in a future PyTorch release outputs will "
            "not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
            "inplace, to zero elements with t.resize_(0).")

# The warning of arange and similar functions about an `out` of another size.
COUNT_NOTICE = ("The number of elements in the out tensor of shape {had} is {had_count} which does not match the "
                "computed number of elements {count}. Note that this may occur as a result of rounding error. The out "
                "tensor will be resized to a tensor of shape ({count},).")

# Which operands may share memory with `out`: "aligned", those with the same elements in the same places; "apart", none;
# "free", any. Of two words, the first is for the first operand and the second for all others.
ALIGNED, APART, FREE = ("aligned",), ("apart",), ("free",)
ADDEND, TARGET = ("aligned", "free"), ("aligned", "apart")

# What happens if an argument requires grad. REFUSED: raise. UNDERIVED: raise for `out`, record a node without a
# derivative for operands. CONSTANT: raise for `out`. RESIZED: the same, even if grad mode is off. UNASKED: nothing.
REFUSED, UNDERIVED, CONSTANT, RESIZED, UNASKED = range(5)


class Rule(NamedTuple):
    """The rule of a function for its `out`."""

    uncastable: str = UNCASTABLE   # the error if `out` cannot hold the result; "" for none
    exact: tuple[str, ...] = ("",)  # the error if its dtype differs, for each output or for all; "" for none
    dtype: np.dtype[Any] | None = None      # of every result, which is compared before anything is computed; or unknown
    if_complex: np.dtype[Any] | None = None     # of a complex `out`, if the result is real
    bytes_too: bool = False         # accepts uint8 for any result
    error: type[Exception] = RuntimeError
    kernel: tuple[str, str] = ("", "biufc")     # a kernel, and the kinds of dtypes that it implements
    overlap: tuple[str, ...] = ALIGNED
    gradient: int = REFUSED
    blame: str = ""                 # the name in errors about gradients, if it is another
    parts: tuple[str, ...] = ()     # the name of each output in messages: {part}
    typed: bool = False             # takes a `dtype`, and computes in that of `out`
    widened: bool = False           # computes in the dtype of `out`, if its kind is that of the operands
    converted: bool = False         # computes with floats in the dtype of `out`, or in the default one if that has ints
    repeated: bool = False          # may write to one place several times
    notice: str = NOTICE          # the warning when `out` is resized; "" for none
    any_shape: bool = False         # accepts any shape with the same number of elements
    in_rows: bool = False           # a resized `out` lies row by row, however the result lies
    in_memory_order: bool = False   # writes random numbers in the order of the memory


ELEMENTWISE = Rule()                # the rule of elementwise functions


def rule(**facts: Any) -> Rule:
    """The rule with these facts. With `exact` or `typed`, no error is about casts unless `uncastable` is given."""
    if isinstance(facts.get("exact"), str):
        facts["exact"] = (facts["exact"],)
    if "exact" in facts or facts.get("typed"):
        facts.setdefault("uncastable", "")
    return Rule(**facts)


def castable(said: str, parts: str, **facts: Any) -> Rule:
    """The rule of a factorization or solver, whose outputs, called `parts` in messages, are cast if that is safe."""
    message = (f"{said}: Expected {{part}} to be safely castable from {{result}} dtype, but got {{part}} with dtype "
               "{out}")
    return rule(uncastable=message, parts=tuple(parts.split()), overlap=FREE, **facts)
