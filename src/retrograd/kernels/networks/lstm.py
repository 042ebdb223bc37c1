"""One layer of an LSTM in one direction, over whole sequences, and its gradients.

Inside, the gates lie in the order output, input, forget, cell: the three with a sigmoid first, and the three that the
gradient of the cell reaches last. The cell before the step lies behind them. So input and forget are one piece of
memory, and what they are multiplied with is one, too.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ..thresholds import CACHED_WEIGHT_BYTES
from .sequences import (
    as_given,
    by_input,
    columns,
    computed,
    ends,
    factors_of,
    features_first,
    in_lines,
    in_order,
    incoming,
    joined_weight,
    total_bias,
)


def _inside(weight: Array) -> Array:
    """The rows of a weight with the gates in the order inside. Outside, the output gate is the last."""
    size = len(weight) // 4
    return np.concatenate((weight[3 * size:], weight[: 3 * size]))


def _outside(weight: Array) -> Array:
    """The reverse of `_inside`, as an array of its own."""
    size = len(weight) // 4
    return np.concatenate((weight[size:], weight[:size]))


def lstm_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, h: Array, c: Array, sizes: Shape | None,
               reverse: bool, *, walk: Any = None) -> tuple[Array, ...]:
    """A layer whose states are not projected."""
    return projected_lstm_layer(x, w_ih, w_hh, b_ih, b_hh, h, c, None, sizes, reverse, walk=walk)


def projected_lstm_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, h: Array, c: Array,
                         w_hr: Array | None, sizes: Shape | None, reverse: bool, *,
                         walk: Any = None) -> tuple[Array, ...]:
    """The outputs, the last state, the last cell, and for the gradients: the gates with the cell before each step, the
    factors of the products, and the terms of each cell with its tanh.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step. The states are
    multiplied with `w_hr`, if there is one. `walk` computes the steps in place of `_walk`, if it is given.
    """
    bias, (batch, size) = total_bias(b_ih, b_hh), c.shape
    weight = _inside(joined_weight(w_ih, bias, w_hh))
    np.negative(weight[: 3 * size], weight[: 3 * size])          # for 1 / (1 + exp(-x))
    factors = factors_of(in_order(x, sizes, reverse), bias, h)
    states, gates = factors[:, -h.shape[1]:], np.empty((len(factors), 5 * size, batch), weight.dtype)
    gates[0, 4 * size:] = c.T
    terms = np.empty((len(factors) - 1, 3 * size, batch), weight.dtype)
    (walk or _walk)(weight, factors, gates, terms, computed(w_hr), dict(ends(sizes, reverse)))
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [np.array(result, x.dtype, order="C") for result in (outputs, states[-1].T, gates[-1, 4 * size:].T)]
    return *made, gates, factors, terms


def _walk(weight: Array, factors: Array, gates: Array, terms: Array, w_hr: Array | None,
          absent: dict[int, int]) -> None:
    """Compute the gates, the terms of the cells, the cells and the states, step by step."""
    width, ready = terms.shape[1] // 3 if w_hr is None else len(w_hr), weight.nbytes > CACHED_WEIGHT_BYTES
    states, every, arriving = factors[:, -width:], gates[:-1, : len(weight)], factors
    if ready:
        np.matmul(weight[:, :-width], factors[:-1, :-width], every)
        weight, arriving = np.ascontiguousarray(weight[:, -width:]), states
    multiply, add, exp, tanh, divide, times = np.multiply, np.add, np.exp, np.tanh, np.divide, weight.dot
    product, raw, one = np.empty_like(every[0]), np.empty_like(gates[0, len(weight):]), np.ones((), weight.dtype)
    lines, parts, size = in_lines(gates), in_lines(terms), raw.size
    walk = zip(every, arriving, lines[:, : 3 * size], lines[:, 3 * size: 4 * size], lines[:, size: 3 * size],
               lines[:, 3 * size:], lines[1:, 4 * size:], lines[:, :size], parts[:, : 2 * size], parts[:, :size],
               parts[:, size: 2 * size], parts[:, 2 * size:], in_lines(states)[1:])
    for step, (gate, column, sigmoids, new, scales, scaled, cell, output, both, added, kept, shown,
               after) in enumerate(walk):
        if ready:
            times(column, product)
            add(gate, product, gate)
        else:
            times(column, gate)
        exp(sigmoids, sigmoids)
        add(sigmoids, one, sigmoids)
        divide(one, sigmoids, sigmoids)
        tanh(new, new)
        multiply(scales, scaled, both)
        add(kept, added, cell)
        tanh(cell, shown)
        if w_hr is None:
            multiply(output, shown, after)
        else:
            multiply(output, shown, raw.reshape(-1))
            np.dot(w_hr, raw, after.reshape(states[0].shape))
        if step in absent:
            for series in (states, gates[:, len(weight):]):
                series[step + 1, :, absent[step]:] = series[step, :, absent[step]:]


def _slopes(gates: Array, terms: Array, raw: Array, slopes: Array, absent: dict[int, int]) -> Array:
    """Write the derivatives of the gates by what they were made of. Returns those of the cell by the state before its
    projection.

    They are the factors of the gradient of the state for the output gate, and of that of the cell for the other gates.
    The derivative of the cell by the cell before lies behind those of the gates.
    """
    gates, size = gates[:-1], raw.shape[1]
    factors, by_state = np.empty_like(gates), np.empty_like(raw)
    np.subtract(np.ones((), gates.dtype), gates, slopes)
    # 1 - s times the rest, for sigmoids and for t = tanh: there, 1 - t * t is (1 - t) * (1 + t). NumPy copies parts of
    # steps quickly, but computes quickly only with whole arrays.
    factors[:, :size] = raw
    factors[:, size: 3 * size] = terms[:, : 2 * size]
    np.add(gates[:, size: 2 * size], terms[:, :size], factors[:, 3 * size: 4 * size])
    factors[:, 4 * size:] = 0
    slopes *= factors
    slopes[:, 4 * size:] = gates[:, 2 * size: 3 * size]
    np.multiply(terms[:, 2 * size:], raw, by_state)
    np.subtract(gates[:, :size], by_state, by_state)
    for step, count in absent.items():
        slopes[step, : 4 * size, count:] = 0
        slopes[step, 4 * size:, count:] = 1
        by_state[step, :, count:] = 0
    return by_state


def lstm_layer_backward(g_out: Array, g_h: Array | None, g_c: Array | None, x: Array, w_ih: Array, w_hh: Array,
                        b_ih: Array, b_hh: Array, h: Array, c: Array, w_hr: Array | None, gates: Array, factors: Array,
                        terms: Array, sizes: Shape | None, reverse: bool, wanted: Any, *,
                        walk: Any = None) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero. `walk` computes the steps in place of `_walk_back`, if it is
    given.
    """
    absent, size, features = dict(ends(sizes, reverse)), c.shape[1], w_ih.shape[1]
    arriving = None if g_out is None else in_lines(features_first(g_out, sizes, reverse))
    g_h, g_c = incoming(g_h, factors[0, -h.shape[1]:]), incoming(g_c, terms[0, :size])
    back, slopes = np.ascontiguousarray(_inside(computed(w_hh)).T), np.empty_like(gates[:-1])
    walk = walk or _walk_back
    walked = walk(back, gates, factors, terms, slopes, g_h, g_c, arriving, computed(w_hr), absent)
    matrix, rows = columns(slopes[:, : 4 * size]), in_order(x, sizes, reverse)
    by_x = by_input(matrix, _inside(computed(w_ih)), rows, sizes, reverse) if wanted[0] else None
    joined = np.dot(matrix, columns(factors[:-1]).T)
    by_weights = [_outside(part) for part in (joined[:, :features], joined[:, -h.shape[1]:])]
    biases = [None if b_ih is None else _outside(joined[:, features]) for _ in range(2)]
    found = by_x, *by_weights, *biases, g_h.T, g_c.T
    return found if w_hr is None else (*found, _by_projection(walked[0], walked[1], absent))


def _walk_back(back: Array, gates: Array, factors: Array, terms: Array, slopes: Array, g_h: Array, g_c: Array,
               arriving: Array, w_hr: Array | None, absent: dict[int, int]) -> tuple[Array, list[Array]]:
    """Write the gradients of the products into `slopes`, step by step. `g_h` and `g_c` become those of the first states
    and cells.

    Returns the states before their projection, and the gradients of the states at each step, if they are projected.
    """
    project, arrived, features = None if w_hr is None else np.ascontiguousarray(w_hr.T), [], len(g_c)
    raw = factors[1:, -features:] if w_hr is None else gates[:-1, :features] * terms[:, 2 * features:]
    by_state, size = _slopes(gates, terms, raw, slopes, absent), g_c.size
    g_raw = g_h if project is None else np.empty_like(g_c)
    by_h, by_c, by_raw, spare = g_h.reshape(-1), g_c.reshape(-1), g_raw.reshape(-1), np.empty(size, g_c.dtype)
    multiply, add, times = np.multiply, np.add, back.dot
    lines, order = in_lines(slopes)[::-1], range(len(slopes) - 1, -1, -1)
    walk = zip(order, in_lines(by_state)[::-1], lines[:, :size], lines[:, size:].reshape(len(order), 4, size),
               lines[:, 4 * size:], slopes[::-1, : back.shape[1]], repeat(None) if arriving is None else arriving[::-1])
    for step, squashing, first, others, before, products, added in walk:
        if added is not None:
            add(by_h, added, by_h)
        if project is not None:
            arrived.append(g_h.copy())
            np.dot(project, g_h, g_raw)
        multiply(by_raw, squashing, spare)
        add(by_c, spare, by_c)
        multiply(first, by_raw, first)
        multiply(others, by_c, others)
        by_c = before
        passed = g_h[:, absent[step]:].copy() if step in absent else None
        times(products, g_h)
        if passed is not None:
            g_h[:, absent[step]:] = passed
    g_c.reshape(-1)[:] = by_c
    return raw, arrived[::-1]


def _by_projection(raw: Array, arrived: list[Array], absent: dict[int, int]) -> Array:
    """The gradient of the projection, from those of the states at each step."""
    for step, count in absent.items():
        raw[step, :, count:] = 0
    found: Array = np.dot(columns(np.stack(arrived)), columns(raw).T)
    return found
