"""Random numbers inside of `vmap`: refused, the same for all samples, or different for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...kernels.elementwise.arithmetic import overwrite
from ...ops import creation
from ...ops.basic import copy
from ...ops.creation import drawn, drawn_beside, full_beside
from ...ops.framework import Op
from ...ops.indexing.indexing import select
from ...ops.joining import stack
from .batched import hidden, is_batched, shown
from .levels import below

# The kernels that draw random numbers.
RANDOM = (drawn, drawn_beside)
# The operators whose random numbers depend on the numbers of an operand.
_OF_NUMBERS = frozenset([
    each for op in (creation.bernoulli, creation.bernoulli_like, creation.binomial, creation.normal_around,
                    creation.normal_around_wide, creation.normal_wide, creation.poisson, creation.random_of,
                    creation.sample_dirichlet, creation.standard_gamma) for each in (op, op.written)])


def draw(level: Any, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool) -> Any:
    """Draw random numbers for a batch."""
    if level.randomness == "error":
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
            "'different' randomness flags on vmap or perform the randomness operation out of vmap")
    same = level.randomness == "same"
    batched = [is_batched(a, level) for a in args]
    if same and not any(batched):
        return below(op, call, args, write)
    if same and (op in _OF_NUMBERS or any(batched[2 if write else 1:])):      # a write gets its target twice
        raise RuntimeError("Vmap does not currently support same randomness with a batched tensor input. Please file "
                           "an issue with functorch")
    samples = [[select.run(shown(a, level), 0, i) if is_batched(a, level) else a for a in args]
               for i in range(level.size)]
    if write:
        for sample in samples[:1] if same else samples:
            below(op, call, sample, True)
        for sample in samples[1:] if same else ():
            copy.write(overwrite, sample[0], samples[0][0])
        return None
    if not samples:
        return hidden(full_beside(shown(args[0], level), (0, *args[0].shape), args[0].dtype, 0), level)
    if same:
        return hidden(stack.run([below(op, call, samples[0])] * level.size, 0), level)
    return hidden(stack.run([below(op, call, sample) for sample in samples], 0), level)
