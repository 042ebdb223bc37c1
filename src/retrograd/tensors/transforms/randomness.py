"""Random numbers inside of `vmap`: refused, the same for all samples, or different for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops.creation import drawn, drawn_beside
from ...ops.framework import Op
from ...ops.indexing.indexing import select
from ...ops.joining import stack
from .batched import hidden, is_batched, shown
from .levels import below

# The kernels that draw random numbers.
RANDOM = (drawn, drawn_beside)


def draw(level: Any, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """Draw random numbers for a batch."""
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
            "'different' randomness flags on vmap or perform the randomness operation out of vmap")
    batched = any([is_batched(a, level) for a in args])
    if level.randomness == "same" and not batched:
        return below(op, call, args, write)
    samples = [[select.run(shown(a, level), 0, i) if is_batched(a, level) else a for a in args]
               for i in range(level.size)]
    if write:
        for sample in samples:
            below(op, call, sample, True)
        return None
    return hidden(stack.run([below(op, call, sample) for sample in samples], 0), level)
