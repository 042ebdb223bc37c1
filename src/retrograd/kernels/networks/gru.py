"""One layer of a GRU in one direction, over whole sequences, and its gradients.

The gates are reset, update and new. Inside, the state's product for the new gate lies before them. So the first three
of the four are what the state is multiplied for, and the last three what the input is multiplied for.
"""

from __future__ import annotations

from itertools import repeat
from typing import Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from .sequences import (
    as_given,
    by_input,
    columns,
    computed,
    ends,
    features_first,
    in_lines,
    in_order,
    incoming,
    inputs_of,
    joined_weight,
    states_from,
)


def _outside(weight: Array) -> Array:
    """The rows of a weight of the state as they lie outside, where those of the new gate are the last."""
    size = len(weight) // 3
    return np.concatenate((weight[size:], weight[:size]))


def gru_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Array, b_hh: Array, h: Array, sizes: Shape | None, reverse: Any,
              *, walk: Any = None) -> tuple[Array, ...]:
    """The outputs, the last state, and for the gradients: the gates after the state's product, all states with the 1
    of the bias.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step. `walk` computes
    the steps in place of `_walk`, if it is given.
    """
    of_input, outside, (batch, size) = joined_weight(w_ih, b_ih), joined_weight(b_hh, w_hh), h.shape
    of_state = np.empty_like(outside)
    of_state[:size] = outside[2 * size:]
    np.negative(outside[: 2 * size], of_state[size:])            # for 1 / (1 + exp(-x))
    np.negative(of_input[: 2 * size], of_input[: 2 * size])
    inputs = inputs_of(in_order(x, sizes, reverse), b_ih is not None)
    factors = states_from(h, len(inputs), b_ih is not None)
    gates, states = np.empty((len(inputs), 4 * size, batch), factors.dtype), factors[:, -size:]
    (walk or _walk)(of_input, of_state, inputs, factors, gates, dict(ends(sizes, reverse)))
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [np.array(result, x.dtype, order="C") for result in (outputs, states[-1].T)]
    return *made, gates, factors


def _walk(of_input: Array, of_state: Array, inputs: Array, factors: Array, gates: Array,
          absent: dict[int, int]) -> None:
    """Compute the gates and the states, step by step."""
    inputs, size = in_lines(np.matmul(of_input, inputs)), gates.shape[1] // 4
    add, subtract, multiply, exp, tanh, divide = np.add, np.subtract, np.multiply, np.exp, np.tanh, np.divide
    states, lines, times, one = factors[:, -size:], in_lines(gates), of_state.dot, np.ones((), gates.dtype)
    line, kept = lines.shape[1] // 4, np.empty_like(states[0]).reshape(-1)
    walk = zip(factors, gates[:, : 3 * size], lines[:, :line], lines[:, line: 3 * line],
               lines[:, line: 2 * line], lines[:, 2 * line: 3 * line], lines[:, 3 * line:], inputs[:, : 2 * line],
               inputs[:, 2 * line:], in_lines(states), in_lines(states)[1:])
    for step, (column, products, product, sigmoids, reset, update, new, for_sigmoids, for_new, state,
               after) in enumerate(walk):
        times(column, products)
        add(sigmoids, for_sigmoids, sigmoids)
        exp(sigmoids, sigmoids)
        add(sigmoids, one, sigmoids)
        divide(one, sigmoids, sigmoids)
        multiply(reset, product, new)
        add(new, for_new, new)
        tanh(new, new)
        subtract(state, new, kept)
        multiply(kept, update, kept)
        add(kept, new, after)
        if step in absent:
            states[step + 1, :, absent[step]:] = states[step, :, absent[step]:]


def gru_layer_backward(g_out: Array, g_h: Array | None, x: Array, w_ih: Array, w_hh: Array, b_ih: Array | None,
                       b_hh: Array | None, h: Array, gates: Array, factors: Array, sizes: Shape | None, reverse: Any,
                       wanted: Any, *, walk: Any = None) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero. `walk` computes the steps in place of `_walk_back`, if it is
    given.
    """
    size, rows = h.shape[1], in_order(x, sizes, reverse)
    arriving = None if g_out is None else in_lines(features_first(g_out, sizes, reverse))
    slopes, g_h, back = np.empty_like(gates), incoming(g_h, factors[0, -size:]), np.empty((size, 3 * size), gates.dtype)
    back[:, :size], back[:, size:] = w_hh[2 * size:].T, w_hh[: 2 * size].T
    (walk or _walk_back)(back, gates, factors, slopes, g_h, arriving, dict(ends(sizes, reverse)))
    by_products = columns(slopes)
    by_x = by_input(by_products[size:], computed(w_ih), rows, sizes, reverse) if wanted[0] else None
    by_w_ih = np.dot(by_products[size:], rows.reshape(-1, rows.shape[2]))
    by_state = np.dot(by_products[: 3 * size], columns(factors[:-1]).T)
    found = by_x, by_w_ih, _outside(by_state[:, -size:])
    if b_ih is None:
        return *found, None, None, g_h.T
    one = by_state[:, 0]
    return *found, np.concatenate((one[size:], by_products[3 * size:].sum(1))), _outside(one), g_h.T


def _slopes(gates: Array, states: Array, slopes: Array) -> None:
    """Write the derivatives of the state after each step by the products that its gates were made from."""
    line = slopes.shape[1] // 4
    product, reset, update, new = [gates[:, i * line: (i + 1) * line] for i in range(4)]
    by_product, by_reset, by_update, by_new = [slopes[:, i * line: (i + 1) * line] for i in range(4)]
    np.subtract(np.ones((), gates.dtype), gates, slopes)
    np.multiply(by_new, by_update, by_new)
    np.add(new, np.ones((), gates.dtype), by_product)            # 1 - n * n is (1 - n) * (1 + n)
    np.multiply(by_new, by_product, by_new)
    np.multiply(by_new, reset, by_product)
    np.multiply(by_reset, by_product, by_reset)
    np.multiply(by_reset, product, by_reset)
    np.multiply(by_update, update, by_update)
    np.multiply(by_update, states - new, by_update)


def _walk_back(back: Array, gates: Array, factors: Array, slopes: Array, g_h: Array, arriving: Array,
               absent: dict[int, int]) -> None:
    """Write the gradients of the products into `slopes`, step by step. `g_h` becomes that of the first states."""
    steps, size = len(gates), len(back)
    lines, updates = in_lines(slopes), gates[:, 2 * size: 3 * size]
    _slopes(in_lines(gates), in_lines(factors[:-1, -size:]), lines)
    updates = updates.copy() if absent else updates
    for step, count in absent.items():
        slopes[step, :, count:] = 0
        updates[step, :, count:] = 1
    by_h, passed, multiply, add, times = g_h.reshape(-1), np.empty_like(g_h), np.multiply, np.add, back.dot
    other = passed.reshape(-1)
    walk = zip(lines.reshape(steps, 4, -1)[::-1], slopes[::-1, : 3 * size], in_lines(updates)[::-1],
               repeat(None) if arriving is None else arriving[::-1])
    for slope, products, update, added in walk:
        if added is not None:
            add(by_h, added, by_h)
        multiply(slope, by_h, slope)
        times(products, passed)
        multiply(by_h, update, by_h)
        add(by_h, other, by_h)
