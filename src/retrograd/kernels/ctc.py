"""Connectionist temporal classification (Graves and others, 2006): the likelihood of a sequence of labels.

A path takes one class a time step; repeats are merged, then blanks dropped. What is summed over are the states of a
path: blank, first label, blank, second label … blank. Arrays in, arrays out; must not know ops.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..dtypes import F32, F64, require


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
    emitted = np.take_along_axis(log_probs, classes[None], 2)
    count, width = classes.shape
    never = np.asarray(-np.inf, log_probs.dtype)
    # Two columns before the first state hold what precedes it: nothing.
    now, last = np.full((2, count, width + 2), never)
    now[:, 2:4] = emitted[0, :, :2]
    last[times == 0, 2] = 0
    last[times == 1] = now[times == 1]
    for t in range(1, len(emitted)):
        step = np.logaddexp(now[:, 2:], now[:, 1:-1])
        np.logaddexp(step, np.where(skips, now[:, :-2], never), out=step)
        now[:, 2:] = np.add(step, emitted[t], out=step)
        ended = times == t + 1
        last[ended] = now[ended]
    rows = np.arange(count)
    blank, label = last[rows, 2 * lengths + 2], last[rows, 2 * lengths + 1]
    return -np.logaddexp(blank, np.where(lengths > 0, label, never))


def shifted(x: Any, by: int) -> Any:
    """The columns of x moved to the right, or to the left where `by` is negative, with zeros in the free ones."""
    result = np.zeros_like(x)
    if by > 0:
        result[:, by:] = x[:, :-by]
    else:
        result[:, :by] = x[:, -by:]
    return result
