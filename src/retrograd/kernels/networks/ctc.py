"""Connectionist temporal classification (Graves and others, 2006): the likelihood of a sequence of labels.

A path takes one class a time step; repeats are merged, then blanks dropped. What is summed over are the states of a
path: blank, first label, blank, second label … blank. Arrays in, arrays out; must not know ops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...dtypes import F32, F64, require

# The logarithm of what cannot be. It is finite, so that a difference of two of them is a number.
NEVER = -1e30


class States(NamedTuple):
    """The states of each sample's paths, in rows of one length.

    `classes` is what a state emits; `inside` says which states a sample has; `skips` which may follow the state before
    the last: labels, unless they repeat the label before. `times` and `lengths` are the numbers of time steps and of
    labels.
    """

    classes: Any
    inside: Any
    skips: Any
    times: Any
    lengths: Any


def states(labels: Any, times: Any, lengths: Any, blank: int) -> States:
    """The states for padded labels, of shape (samples, longest)."""
    count, longest = labels.shape
    classes = np.full((count, 2 * longest + 1), blank, np.int64)
    classes[:, 1::2] = np.where(np.arange(longest) < lengths[:, None], labels, blank)
    skips = np.zeros(classes.shape, bool)
    skips[:, 3::2] = classes[:, 3::2] != classes[:, 1:-2:2]
    return States(classes, np.arange(classes.shape[1]) <= 2 * lengths[:, None], skips, times, lengths)


def padded(labels: Any, lengths: Any) -> Any:
    """Labels that are joined to one row, as a row for each sample."""
    rows = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = labels
    return rows


def ctc_loss(log_probs: Any, states: States, zero_infinity: bool) -> Any:
    """For each sample the negative logarithm of the likelihood of its labels; infinite where no path has them."""
    require(log_probs.dtype in (F32, F64), "ctc_loss_cpu", log_probs.dtype)
    classes, _, skips, times, lengths = states
    emitted = np.maximum(np.take_along_axis(log_probs, classes[None], 2), NEVER)
    now, last = np.full((2, *classes.shape), NEVER, log_probs.dtype)
    now[:, :2] = emitted[0, :, :2]
    last[times == 0, 0] = 0
    ending = {*times.tolist()}
    for t in range(1, len(emitted) + 1):
        if t in ending:
            ended = times == t
            last[ended] = now[ended]
        if t < len(emitted):
            now = step(now, skips, 1)
            now += emitted[t]
    rows = np.arange(len(classes))
    blank, label = last[rows, 2 * lengths], last[rows, np.maximum(2 * lengths - 1, 0)]
    total = np.logaddexp(blank, np.where(lengths > 0, label, np.asarray(NEVER, last.dtype)))
    return np.where(total < NEVER / 2, np.asarray(np.inf, total.dtype), -total)


def step(now: Any, skips: Any, by: int) -> Any:
    """One step further in time: a state follows itself, the state before it and, where it skips, the one before that.

    `by` is 1, or -1 for a step back in time. The logarithm of a sum of three exponentials at once: NumPy's `logaddexp`
    asks the C library for each element, and takes three times as long.
    """
    three = np.full((3, *now.shape), NEVER, now.dtype)
    three[0] = now
    if by > 0:
        three[1, :, 1:] = now[:, :-1]
        np.copyto(three[2, :, 2:], now[:, :-2], where=skips[:, 2:])
    else:
        three[1, :, :-1] = now[:, 1:]
        np.copyto(three[2, :, :-2], now[:, 2:], where=skips[:, :-2])
    most = np.maximum(three[0], three[1])                  # of three, this takes half as long as a reduction
    np.maximum(most, three[2], out=most)
    three -= most
    np.exp(three, out=three)
    total = np.add(three[0], three[1])
    total += three[2]
    return np.add(np.log(total, out=total), most, out=total)


def shifted(x: Any, by: int) -> Any:
    """The columns of x moved to the right, or to the left where `by` is negative, with zeros in the free ones."""
    result = np.zeros_like(x)
    if by > 0:
        result[:, by:] = x[:, :-by]
    else:
        result[:, :by] = x[:, -by:]
    return result
