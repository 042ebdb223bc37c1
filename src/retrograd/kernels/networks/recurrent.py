"""One layer of a plain recurrent network in one direction, over whole sequences, and its gradients."""

from __future__ import annotations

from functools import partial
from itertools import pairwise, repeat
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
    total_bias,
)


def _relu(x: Array, out: Array) -> None:
    np.maximum(x, x.dtype.type(0), out=out)


def rnn_layer(activation: Any, x: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None, h: Array,
              sizes: Shape | None, reverse: bool, *, walk: Any = None) -> tuple[Array, ...]:
    """The outputs, the last state, and for the gradients: all states.

    `x` is (steps, batch, features), or packed rows with `sizes`, the number of sequences at each step. `walk` computes
    the steps in place of `_walk`, if it is given.
    """
    bias, walk = total_bias(b_ih, b_hh), walk or partial(_walk, activation)
    inputs = inputs_of(in_order(x, sizes, reverse), bias is not None)
    states = states_from(h, len(inputs), False)
    walk(joined_weight(w_ih, bias), np.ascontiguousarray(computed(w_hh)), inputs, states, dict(ends(sizes, reverse)))
    outputs = as_given(states[1:].transpose(0, 2, 1), sizes, reverse)
    made = [np.array(result, x.dtype, order="C") for result in (outputs, states[-1].T)]
    return *made, states


def _walk(activation: Any, of_input: Array, of_state: Array, inputs: Array, states: Array,
          absent: dict[int, int]) -> None:
    """Compute the states, step by step."""
    np.matmul(of_input, inputs, states[1:])
    product, add, times = np.empty_like(states[0]), np.add, of_state.dot
    for step, (state, after) in enumerate(pairwise(states)):
        times(state, product)
        add(after, product, after)
        activation(after, after)
        if step in absent:
            states[step + 1, :, absent[step]:] = states[step, :, absent[step]:]


def rnn_layer_backward(slope: Any, g_out: Array, g_h: Array | None, x: Array, w_ih: Array, w_hh: Array, b_ih: Array,
                       b_hh: Array, h: Array, states: Array, sizes: Shape | None, reverse: bool, wanted: Any, *,
                       walk: Any = None) -> tuple[Any, ...]:
    """The gradients of the tensors that a layer was given, in their order. `wanted` says which of them are needed.

    The gradients of results that are None are zero. `slope` computes the derivative of the activation by its result.
    `walk` computes the steps in place of `_walk_back`, if it is given.
    """
    slopes, g_h, rows = np.empty_like(states[1:]), incoming(g_h, states[0]), in_order(x, sizes, reverse)
    arriving = None if g_out is None else in_lines(features_first(g_out, sizes, reverse))
    back, walk = np.ascontiguousarray(computed(w_hh).T), walk or partial(_walk_back, slope)
    walk(back, states, slopes, g_h, arriving, dict(ends(sizes, reverse)))
    by_product = columns(slopes)
    by_x = by_input(by_product, computed(w_ih), rows, sizes, reverse) if wanted[0] else None
    by_w_ih = np.dot(by_product, rows.reshape(-1, rows.shape[2]))
    by_bias = (None, None) if b_ih is None else (bias := by_product.sum(1), bias.copy())   # a program may write to one
    return by_x, by_w_ih, np.dot(by_product, columns(states[:-1]).T), *by_bias, g_h.T


def _walk_back(slope: Any, back: Array, states: Array, slopes: Array, g_h: Array, arriving: Array,
               absent: dict[int, int]) -> None:
    """Write the gradients of the products into `slopes`, step by step. `g_h` becomes that of the first states."""
    slopes[...] = slope(states[1:])
    for step, count in absent.items():
        slopes[step, :, count:] = 0
    by_h, times, order = g_h.reshape(-1), back.dot, range(len(slopes) - 1, -1, -1)
    walk = zip(order, slopes[::-1], in_lines(slopes)[::-1], repeat(None) if arriving is None else arriving[::-1])
    for step, products, line, added in walk:
        if added is not None:
            np.add(by_h, added, by_h)
        np.multiply(line, by_h, line)
        passed = g_h[:, absent[step]:].copy() if step in absent else None
        times(products, g_h)
        if passed is not None:
            g_h[:, absent[step]:] = passed


def _tanh_slope(state: Array) -> Array:
    return 1 - state * state


def _relu_slope(state: Array) -> Array:
    return (state > 0).astype(state.dtype)


rnn_tanh_layer, rnn_relu_layer = partial(rnn_layer, np.tanh), partial(rnn_layer, _relu)
rnn_tanh_layer_backward = partial(rnn_layer_backward, _tanh_slope)
rnn_relu_layer_backward = partial(rnn_layer_backward, _relu_slope)
