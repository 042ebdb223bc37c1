"""One layer of a plain recurrent network in one direction, over whole sequences, and its gradients."""

from __future__ import annotations

from functools import partial
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
    in_order,
    incoming,
    input_products,
    states_from,
    total_bias,
)


def _relu(x: Array, out: Array) -> None:
    np.maximum(x, x.dtype.type(0), out=out)


def rnn_layer(activation: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any, h: Array, sizes: Any,
              reverse: Any) -> tuple[Array, ...]:
    """The outputs, the last state, and for the gradients: all states.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step.
    """
    inputs = input_products(in_order(x, sizes, reverse), computed(w_ih), total_bias(b_ih, b_hh))
    states, weight, absent = states_from(h, len(inputs)), computed(w_hh), dict(ends(sizes, reverse))
    product = np.empty_like(states[0])
    for step, arriving in enumerate(inputs):
        state, after = states[step], states[step + 1]
        np.dot(weight, state, product)
        np.add(arriving, product, product)
        activation(product, after)
        if step in absent:
            after[:, absent[step]:] = state[:, absent[step]:]
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [np.array(result, x.dtype, order="C") for result in (outputs, states[-1].T)]
    return *made, states


def rnn_layer_backward(slope: Any, g_out: Any, g_h: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Any, b_hh: Any,
                       h: Array, states: Array, sizes: Any, reverse: Any, wanted: Any) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero. `slope` computes the derivative of the activation by its result.
    """
    slopes, absent = slope(states[1:]), dict(ends(sizes, reverse))
    for step, count in absent.items():
        slopes[step, :, count:] = 0
    arriving = None if g_out is None else features_first(g_out, sizes, reverse)
    g_h, back = incoming(g_h, states[0]), np.ascontiguousarray(computed(w_hh).T)
    for step in range(len(slopes) - 1, -1, -1):
        if arriving is not None:
            np.add(g_h, arriving[step], g_h)
        np.multiply(slopes[step], g_h, slopes[step])
        passed = g_h[:, absent[step]:].copy() if step in absent else None
        np.dot(back, slopes[step], g_h)
        if passed is not None:
            g_h[:, absent[step]:] = passed
    by_product, rows = columns(slopes), in_order(x, sizes, reverse)
    by_x = by_input(by_product, w_ih, rows, sizes, reverse) if wanted[0] else None
    by_bias = None if b_ih is None else by_product.sum(1)
    return by_x, *by_rows(by_product, states[:-1], rows), by_bias, by_bias, g_h.T


def _tanh_slope(state: Array) -> Array:
    return 1 - state * state


def _relu_slope(state: Array) -> Array:
    return (state > 0).astype(state.dtype)


rnn_tanh_layer, rnn_relu_layer = partial(rnn_layer, np.tanh), partial(rnn_layer, _relu)
rnn_tanh_layer_backward = partial(rnn_layer_backward, _tanh_slope)
rnn_relu_layer_backward = partial(rnn_layer_backward, _relu_slope)
