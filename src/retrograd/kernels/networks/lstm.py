"""One layer of an LSTM in one direction, over whole sequences, and its gradients.

Inside, the gates lie in the order output, input, forget, cell: the three with a sigmoid first, and the three that the
gradient of the cell reaches last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .sequences import (
    Array,
    as_given,
    by_input,
    by_rows,
    columns,
    computed,
    ends,
    features_first,
    in_lines,
    in_order,
    incoming,
    input_products,
    parts_of,
    sigmoids_of,
    states_from,
    total_bias,
)

_INSIDE, _OUTSIDE = [3, 0, 1, 2], [1, 2, 3, 0]


def _arranged(weight: Any, order: list[int]) -> Any:
    """The rows of a weight or bias with the gates in another order."""
    if weight is None:
        return None
    return computed(weight).reshape(4, -1, *weight.shape[1:])[order].reshape(weight.shape)


def _for_exp(weight: Any) -> Any:
    """A weight or bias for the order inside, with the signs turned for the gates with a sigmoid, 1 / (1 + exp(-x))."""
    weight = _arranged(weight, _INSIDE)
    if weight is not None:
        sigmoids = weight[: 3 * len(weight) // 4]
        np.negative(sigmoids, sigmoids)
    return weight


def lstm_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, h: Array, c: Array, sizes: Any,
               reverse: Any) -> tuple[Array, ...]:
    """A layer whose states are not projected."""
    return projected_lstm_layer(x, w_ih, w_hh, b_ih, b_hh, h, c, None, sizes, reverse)


def projected_lstm_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, h: Array, c: Array, w_hr: Any,
                         sizes: Any, reverse: Any) -> tuple[Array, ...]:
    """The outputs, the last state, the last cell, and for the gradients: the gates, all states, all cells, tanh
    of the cells after each step.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step. The states are
    multiplied with `w_hr`, if there is one.
    """
    gates = input_products(in_order(x, sizes, reverse), _for_exp(w_ih), _for_exp(total_bias(b_ih, b_hh)))
    states, cells = states_from(h, len(gates)), states_from(c, len(gates))
    squashed = np.empty_like(cells[1:])
    weight, w_hr, one = _for_exp(w_hh), computed(w_hr), np.ones((), gates.dtype)
    product, raw, absent = np.empty_like(gates[0]), np.empty_like(cells[0]), dict(ends(sizes, reverse))
    added, spare = product.reshape(-1), raw.reshape(-1)
    steps = zip(gates.reshape(len(gates), -1), sigmoids_of(gates, 3, 4), *parts_of(gates, 4), states, states[1:],
                in_lines(cells), in_lines(cells)[1:], in_lines(squashed))
    for step, (every, sigmoids, output, input, forget, new, state, after, cell, next_cell, shown) in enumerate(steps):
        np.dot(weight, state, product)
        np.add(every, added, every)
        np.exp(sigmoids, sigmoids)
        np.add(sigmoids, one, sigmoids)
        np.reciprocal(sigmoids, sigmoids)
        np.tanh(new, new)
        np.multiply(forget, cell, next_cell)
        np.multiply(input, new, spare)
        np.add(next_cell, spare, next_cell)
        np.tanh(next_cell, shown)
        if w_hr is None:
            np.multiply(output, shown, after.reshape(-1))
        else:
            np.multiply(output, shown, spare)
            np.dot(w_hr, raw, after)
        if step in absent:
            for series in (states, cells):
                series[step + 1, :, absent[step]:] = series[step, :, absent[step]:]
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [result.astype(x.dtype, order="C", copy=False) for result in (outputs, states[-1].T, cells[-1].T)]
    return *made, gates, states, cells, squashed


def _slopes(gates: Array, cells: Array, squashed: Array, absent: dict[int, int]) -> tuple[Array, Array, Array]:
    """The derivatives of the gates by what they were made of, of the cell by the state, and by the cell before.

    They are the factors of the gradient of the state for the output gate, and of that of the cell for the other gates.
    """
    output, input, forget, new = gates.transpose(1, 0, 2, 3)
    slopes = np.empty_like(gates)
    sigmoids = slopes[:, :3]
    np.subtract(np.ones((), gates.dtype), gates[:, :3], sigmoids)
    np.multiply(sigmoids, gates[:, :3], sigmoids)
    for place, factor in enumerate((squashed, new, cells[:-1])):
        np.multiply(slopes[:, place], factor, slopes[:, place])
    np.multiply(input, 1 - new * new, slopes[:, 3])
    by_state = output * (1 - squashed * squashed)
    if absent:
        forget = forget.copy()
    for step, count in absent.items():
        slopes[step, :, :, count:] = 0
        by_state[step, :, count:] = 0
        forget[step, :, count:] = 1
    return slopes, by_state, forget


def lstm_layer_backward(g_out: Any, g_h: Any, g_c: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any,
                        h: Array, c: Array, w_hr: Any, gates: Array, states: Array, cells: Array,
                        squashed: Array, sizes: Any, reverse: Any, wanted: Any) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero.
    """
    absent, steps = dict(ends(sizes, reverse)), len(gates)
    slopes, by_state, forget = _slopes(gates.reshape(steps, 4, -1, gates.shape[2]), cells, squashed, absent)
    g_h, g_c, arrived = incoming(g_h, states[0]), incoming(g_c, cells[0]), []
    arriving = None if g_out is None else in_lines(features_first(g_out, sizes, reverse))
    back = np.ascontiguousarray(_arranged(w_hh, _INSIDE).T)
    project = None if w_hr is None else np.ascontiguousarray(computed(w_hr).T)
    flat, spare = slopes.reshape(gates.shape), np.empty(cells[0].size, cells.dtype)
    raw = g_h if project is None else np.empty_like(g_c)
    by_h, by_c, by_raw = g_h.reshape(-1), g_c.reshape(-1), raw.reshape(-1)
    lines = slopes.reshape(steps, 4, -1)
    walk = zip(range(steps - 1, -1, -1), in_lines(by_state)[::-1], lines[::-1, 0], lines[::-1, 1:],
               in_lines(forget)[::-1], flat[::-1])
    for step, squashing, first, others, kept, products in walk:
        if arriving is not None:
            np.add(by_h, arriving[step], by_h)
        if project is not None:
            arrived.append(g_h.copy())
            np.dot(project, g_h, raw)
        np.multiply(by_raw, squashing, spare)
        np.add(by_c, spare, by_c)
        np.multiply(first, by_raw, first)
        np.multiply(others, by_c, others)
        np.multiply(by_c, kept, by_c)
        passed = g_h[:, absent[step]:].copy() if step in absent else None
        np.dot(back, products, g_h)
        if passed is not None:
            g_h[:, absent[step]:] = passed
    slopes = _arranged(flat.transpose(1, 0, 2), _OUTSIDE).reshape(len(w_hh), -1)
    rows = in_order(x, sizes, reverse)
    by_x = by_input(slopes, w_ih, rows, sizes, reverse) if wanted[0] else None
    by_bias = None if b_ih is None else slopes.sum(1)
    found = by_x, *by_rows(slopes, states[:-1], rows), by_bias, by_bias, g_h.T, g_c.T
    return found if w_hr is None else (*found, _by_projection(gates, squashed, arrived[::-1], absent))


def _by_projection(gates: Array, squashed: Array, arrived: list[Array], absent: dict[int, int]) -> Array:
    """The gradient of the projection, from those of the states at each step."""
    made = gates.reshape(len(gates), 4, *squashed.shape[1:])[:, 0] * squashed
    for step, count in absent.items():
        made[step, :, count:] = 0
    found: Array = np.dot(columns(np.stack(arrived)), columns(made).T)
    return found
