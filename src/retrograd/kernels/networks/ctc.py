"""Connectionist temporal classification (Graves and others, 2006): the likelihood of a sequence of labels.

A path takes one class per time step. Repeated classes are merged, and then blanks are dropped. The sum goes over the
states of a path: blank, first label, blank, second label … blank.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F32, F64, Array, require

# The logarithm of an impossible event. It is finite, so that the difference of two such logarithms is a number.
NEVER = -1e30


class States(NamedTuple):
    """The states of each sample's paths, in rows of one length.

    `classes` holds the class that a state emits. `inside` marks the states that a sample has. `skips` marks the states
    that may follow the state two before: labels, unless they repeat the label before. `times` and `lengths` are the
    numbers of time steps and of labels.
    """

    classes: Any
    inside: Any
    skips: Any
    times: Any
    lengths: Any


def states(labels: Array, times: Array, lengths: Array, blank: int) -> States:
    """The states for padded labels, with shape (samples, longest)."""
    count, longest = labels.shape
    classes = np.full((count, 2 * longest + 1), blank, np.int64)
    classes[:, 1::2] = np.where(np.arange(longest) < lengths[:, None], labels, blank)
    skips = np.zeros(classes.shape, bool)
    skips[:, 3::2] = classes[:, 3::2] != classes[:, 1:-2:2]
    return States(classes, np.arange(classes.shape[1]) <= 2 * lengths[:, None], skips, times, lengths)


def padded(labels: Array, lengths: Array) -> Any:
    """Concatenated labels as one row for each sample."""
    rows = np.zeros((len(lengths), int(lengths.max(initial=0))), np.int64)
    rows[np.arange(rows.shape[1]) < lengths[:, None]] = labels
    return rows


def ctc_loss(log_probs: Array, states: States, zero_infinity: bool) -> Any:
    """For each sample, the negative log-likelihood of its labels. It is infinite if no path has them."""
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


def step(now: Array, skips: Array, by: int) -> Any:
    """One time step: a state follows itself, the state before it and, if it skips, the state two before it.

    `by` is 1, or -1 for a step back in time. The function adds three exponentials at once. NumPy's `logaddexp` calls
    the C library for each element, and takes three times as long.
    """
    three = np.full((3, *now.shape), NEVER, now.dtype)
    three[0] = now
    if by > 0:
        three[1, :, 1:] = now[:, :-1]
        np.copyto(three[2, :, 2:], now[:, :-2], where=skips[:, 2:])
    else:
        three[1, :, :-1] = now[:, 1:]
        np.copyto(three[2, :, :-2], now[:, 2:], where=skips[:, :-2])
    most = np.maximum(three[0], three[1])                  # half the time of a reduction over three arrays
    np.maximum(most, three[2], out=most)
    three -= most
    np.exp(three, out=three)
    total = np.add(three[0], three[1])
    total += three[2]
    return np.add(np.log(total, out=total), most, out=total)


def shifted(x: Array, by: int) -> Any:
    """The columns of x shifted to the right, or to the left if `by` is negative, with zeros in the free columns."""
    result = np.zeros_like(x)
    if by > 0:
        result[:, by:] = x[:, :-by]
    else:
        result[:, :by] = x[:, -by:]
    return result
