"""One layer of a GRU in one direction, over whole sequences, and its gradients.

The gates are reset, update and new. The products of the state lie after one another in this order. So the first three
of the slopes reset, update, product of the state for new, new belong to the recurrent weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .sequences import (
    Array,
    as_given,
    by_input,
    columns,
    computed,
    ends,
    features_first,
    in_order,
    incoming,
    input_products,
    states_from,
)


def _for_exp(weight: Any) -> Any:
    """A weight or bias with the signs turned for the gates with a sigmoid, 1 / (1 + exp(-x))."""
    if weight is None:
        return None
    weight = np.array(computed(weight))
    sigmoids = weight[: 2 * len(weight) // 3]
    np.negative(sigmoids, sigmoids)
    return weight


def gru_layer(x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, h: Array, sizes: Any,
              reverse: Any) -> tuple[Array, ...]:
    """The outputs, the last state, and for the gradients: the gates, the state's part of the new gate, all states.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step.
    """
    gates = input_products(in_order(x, sizes, reverse), _for_exp(w_ih), _for_exp(b_ih))
    steps, (batch, size) = len(gates), h.shape
    states, weight = states_from(h, steps), _for_exp(w_hh)
    bias = None if b_hh is None else np.repeat(_for_exp(b_hh)[:, None], batch, 1)
    absent, one, kept = dict(ends(sizes, reverse)), gates.dtype.type(1), np.empty_like(states[0])
    products, apart = np.empty_like(gates), gates.reshape(steps, 3, size, batch)
    for step, (product, part, sigmoids) in enumerate(zip(products, apart, gates[:, : 2 * size])):
        state, after = states[step], states[step + 1]
        np.dot(weight, state, product)
        if bias is not None:
            np.add(product, bias, product)
        np.add(sigmoids, product[: 2 * size], sigmoids)
        np.exp(sigmoids, sigmoids)
        np.add(sigmoids, one, sigmoids)
        np.reciprocal(sigmoids, sigmoids)
        reset, update, new = part
        np.multiply(reset, product[2 * size:], kept)
        np.add(new, kept, new)
        np.tanh(new, new)
        np.subtract(state, new, kept)
        np.multiply(kept, update, kept)
        np.add(kept, new, after)
        if step in absent:
            after[:, absent[step]:] = state[:, absent[step]:]
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [np.array(result, x.dtype, order="C") for result in (outputs, states[-1].T)]
    return *made, gates, products[:, 2 * size:], states


def gru_layer_backward(g_out: Any, g_h: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, h: Array,
                       gates: Array, products: Array, states: Array, sizes: Any, reverse: Any,
                       wanted: Any) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero.
    """
    steps, size, batch = products.shape
    reset, update, new = gates.reshape(steps, 3, size, batch).transpose(1, 0, 2, 3)
    slopes = np.empty((steps, 4, size, batch), gates.dtype)
    np.multiply(1 - update, 1 - new * new, slopes[:, 3])
    np.multiply(slopes[:, 3], reset, slopes[:, 2])
    np.multiply((states[:-1] - new) * update, 1 - update, slopes[:, 1])
    np.multiply(slopes[:, 2] * products, 1 - reset, slopes[:, 0])
    absent = dict(ends(sizes, reverse))
    update = update.copy() if absent else update
    for step, count in absent.items():
        slopes[step, :, :, count:] = 0
        update[step, :, count:] = 1
    arriving = None if g_out is None else features_first(g_out, sizes, reverse)
    g_h, kept = incoming(g_h, states[0]), np.empty_like(states[0])
    back, flat = np.ascontiguousarray(computed(w_hh).T), slopes.reshape(steps, 4 * size, batch)[:, : 3 * size]
    for step in range(steps - 1, -1, -1):
        if arriving is not None:
            np.add(g_h, arriving[step], g_h)
        np.multiply(slopes[step], g_h, slopes[step])
        np.dot(back, flat[step], kept)
        np.multiply(g_h, update[step], g_h)
        np.add(g_h, kept, g_h)
    by_gate, rows = slopes.transpose(1, 2, 0, 3), in_order(x, sizes, reverse)
    by_state = by_gate[:3].reshape(3 * size, -1)
    by_product = by_gate[[0, 1, 3]].reshape(3 * size, -1)
    by_x = by_input(by_product, w_ih, rows, sizes, reverse) if wanted[0] else None
    by_w_ih = np.dot(by_product, rows.reshape(-1, rows.shape[2]))
    biases = (None, None) if b_ih is None else (by_product.sum(1), by_state.sum(1))
    return by_x, by_w_ih, np.dot(by_state, columns(states[:-1]).T), *biases, g_h.T
