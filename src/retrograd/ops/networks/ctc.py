"""Connectionist temporal classification: the loss, and the forward-backward algorithm for its gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...kernels.networks import ctc as kernels
from ...kernels.networks.ctc import NEVER
from ..framework import Op, linear, operator
from ..indexing.indexing import gather, gather_backward
from ..joining import stack
from .softmax import logsumexp

if TYPE_CHECKING:
    from ..values import Value

shifted: Op = linear("shifted", kernels.shifted, x=lambda g, by: shifted(g, -by))


def _back(g: Value, now: Value, out: Value, skips: Value, by: int) -> Any:
    """The gradient of one step in time: each state gets its share of the three states that follow it."""
    columns = np.arange(skips.shape[1])
    beside = np.where(columns > 0 if by > 0 else columns < skips.shape[1] - 1, shifted(now, by), NEVER)
    skipped = np.where(skips, shifted(now, 2 * by), NEVER)
    return (g * np.exp(now - out) + shifted(g * np.exp(beside - out), -by)
            + shifted(g * np.exp(skipped - out), -2 * by))


ctc_step = operator("ctc_step", kernels.step, tensors=1, now=_back)


def _forward(emitted: Value, inside: Value, skips: Value) -> Iterator[Any]:
    """At each time, for each state: the logarithm of the sum over all paths that lead to the state."""
    first = np.logical_and(inside, np.arange(inside.shape[1]) < 2)
    now = np.where(first, emitted[0], NEVER)
    yield now
    for t in range(1, emitted.shape[0]):
        now = ctc_step(now, skips, 1) + emitted[t]
        yield now


def _backward(emitted: Value, skips: Value, times: Value, lengths: Value) -> Iterator[Any]:
    """At each time, from the last, for each state: the logarithm of the sum over all paths that start at the state."""
    from_end = 2 * lengths[:, None] - np.arange(skips.shape[1])
    last = np.where(np.logical_or(from_end == 0, from_end == 1), 0.0, NEVER)
    going_on, skips = np.full_like(emitted[0], NEVER), shifted(skips, -2)
    for t in range(emitted.shape[0], 0, -1):
        ended = times[:, None] == t
        now = np.where(ended, last, going_on)
        yield now
        going_on = ctc_step(now + emitted[t - 1], skips, -1)


def _ctc(g: Value, log_probs: Value, states: Any, zero_infinity: bool) -> Any:
    """The probability of each class, less how often the paths take it.

    As in PyTorch, this is the gradient for the input of a log-softmax. The derivative by `log_probs` itself lacks the
    probabilities. The backward pass of the log-softmax leaves this gradient unchanged.
    """
    classes, inside, skips, times, lengths = states
    places = np.broadcast_to(classes, (log_probs.shape[0], *classes.shape))
    emitted = np.where(inside, np.maximum(gather(log_probs, places, 2), NEVER), NEVER)
    through = stack([*_forward(emitted, inside, skips)], 0) + stack(
        [*_backward(emitted, skips, times, lengths)][::-1], 0)
    total = logsumexp(through[0], (1,), True)
    taken = gather_backward(np.exp(through - total), places, log_probs.shape, 2)
    each = np.where(total > NEVER / 2, np.exp(log_probs) - taken, 0.0 if zero_infinity else math.nan)
    running = np.arange(log_probs.shape[0])[:, None, None] < times[:, None]
    return np.where(running, each, 0.0) * np.reshape(g, (1, -1, 1))


ctc_loss = operator("ctc_loss", kernels.ctc_loss, tensors=1, log_probs=_ctc)
