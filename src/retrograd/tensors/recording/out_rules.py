"""What a function asks of `out=`: its dtype, its memory, its place in the graph, its shape.

A public function states its rule where it is defined: `@public(..., out=rule(exact=EXACT, overlap=FREE))`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# What is said of a dtype that does not do: {result} and {out} are PyTorch's names of the types, {c_result} and {c_out}
# those of C++.
UNCASTABLE = "result type {result} can't be cast to the desired output type {out}"
UNJOINABLE = "torch.cat(): input types can't be cast to the desired output type {out}"
EXACT = "Expected out tensor to have dtype {c_result}, but got {c_out} instead"
FOUND = "Found dtype {out} but expected {result}"
SCALAR = "{name}(): self and result must have the same scalar type"
NOTICE = ("An output with one or more elements was resized since it had shape {had}, which does not match the "
            "required output shape {shape}. This behavior is deprecated, and in a future PyTorch release outputs will "
            "not be resized unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
            "inplace, to zero elements with t.resize_(0).")

# What arange and its like say of a tensor of another size.
COUNT_NOTICE = ("The number of elements in the out tensor of shape {had} is {had_count} which does not match the computed "
                "number of elements {count}. Note that this may occur as a result of rounding error. The out tensor will be "
                "resized to a tensor of shape ({count},).")

# What may share memory with `out`: operands that are read just as it is written; nothing; anything. Of several operands
# the first word is for the first, the last for all others.
ALIGNED, APART, FREE = ("aligned",), ("apart",), ("free",)
ADDEND, TARGET = ("aligned", "free"), ("aligned", "apart")

# What becomes of gradients: refused; recorded as a function without a derivative; operands are constant, but an `out`
# that requires grad is refused; the same, even where nothing is recorded; nobody asks.
REFUSED, UNDERIVED, CONSTANT, RESIZED, UNASKED = range(5)


class Rule(NamedTuple):
    """What a function asks of `out`."""

    uncastable: str = UNCASTABLE   # said where the result cannot be cast to its dtype; "" where nothing is
    exact: tuple[str, ...] = ("",)  # said where its dtype is another, for each output or for all; "" where nothing is
    bytes_too: bool = False         # takes uint8 for bool
    error: type[Exception] = RuntimeError
    kernel: tuple[str, str] = ("", "biufc")     # what is not implemented but for these kinds of dtypes
    overlap: tuple[str, ...] = ALIGNED
    gradient: int = REFUSED
    blame: str = ""                 # the function that PyTorch names where it refuses gradients, if another
    parts: tuple[str, ...] = ()     # what messages call each of several outputs, as {part}
    typed: bool = False             # takes a `dtype`, and computes in that of `out` where none is given
    widened: bool = False           # computes in the dtype of `out`, if of the same kind
    repeated: bool = False          # may write to one place several times
    notice: str = NOTICE          # warns of when it resizes; "" for never
    any_shape: bool = False         # takes a shape of as many elements
    in_memory_order: bool = False   # writes what it draws in the order of the memory


ELEMENTWISE = Rule()                # what elementwise functions ask


def rule(**facts: Any) -> Rule:
    """The rule with these facts. If a dtype must be exact, nothing is said about casts unless `uncastable` says so."""
    if isinstance(facts.get("exact"), str):
        facts["exact"] = (facts["exact"],)
    if "exact" in facts or facts.get("typed"):
        facts.setdefault("uncastable", "")
    return Rule(**facts)


def castable(said: str, parts: str, **facts: Any) -> Rule:
    """The rule of a factorization or solver, whose outputs, called `parts` in messages, are cast if that is safe."""
    message = f"{said}: Expected {{part}} to be safely castable from {{result}} dtype, but got {{part}} with dtype {{out}}"
    return rule(uncastable=message, parts=tuple(parts.split()), overlap=FREE, **facts)
