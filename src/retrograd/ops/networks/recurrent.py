"""Layers of recurrent networks in one direction, each as one operator for whole sequences.

One joint rule makes all gradients of a layer, since they share the walk back through the steps. For arrays the rule
calls a kernel. For tensors the rule is a composition of other operators, step by step, which computes the states again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import Array, Shape
from ...kernels.networks import gru as gru_kernels, lstm as lstm_kernels, recurrent as rnn_kernels, sequences
from ...kernels.networks.sequences import present
from ..choosing import choose
from ..framework import Op, composed, linear, operator
from ..indexing.indexing import select, slice_
from ..joining import cat, stack
from ..linalg.adjoints import conjugate
from ..reductions import sum_dim
from ..shape import transpose
from .activations import relu, sigmoid

if TYPE_CHECKING:
    from ..values import Value

# PyTorch writes the padded rows group by group, into a view each time.
pad_packed: Op = operator("pad_packed_sequence", sequences.padded, node="CopySlices", tensors=1,
                          rows=lambda g, sizes: pack_padded(g, sizes, False))


def _padded(g: Value, x_shape: Shape, sizes: Shape, batch_first: bool) -> Any:
    padded = pad_packed(g, sizes, x_shape[1 if batch_first else 0], 0)
    return transpose(padded, 0, 1) if batch_first else padded


pack_padded: Op = linear("pack_padded_sequence", sequences.packed, tensors=1, x=_padded)

# The gates of a cell. PyTorch's parts share memory, but no program sees them.
gates_apart: Op = linear("unsafe_split", sequences.gates_apart, outputs="*", tensors=1, x=lambda g: cat(g, 1))


# The vocabulary of the compositions

def _start(x: Value, sizes: Shape | None, reverse: bool) -> tuple[Any, Any, Any]:
    """The input as (steps, batch, features), the steps in the order of the layer, and who is present at each step.

    There are no masks of those present if all sequences are present at all steps.
    """
    masks = None
    if sizes is not None:
        x, masks = pad_packed(x, sizes, len(sizes), 0), present(sizes)[:, :, None]
    order = range(x.shape[0])
    return x, order[::-1] if reverse else order, masks


def _kept(masks: Array | None, step: int, new: Value, old: Value | float) -> Any:
    """The new value for the sequences that are present, and the old one for the others."""
    return new if masks is None else choose(masks[step], new, old)


def _products(x: Value, w_ih: Value, b_ih: Value | None) -> Any:
    """The products of the inputs of all steps with the input weight."""
    return _plus(np.matmul(x, transpose(w_ih, 0, 1)), b_ih)


def _arriving(g: Value | None, sizes: Shape | None) -> Any:
    """The gradient of the outputs, with a step in each row."""
    return g if g is None or sizes is None else pad_packed(g, sizes, len(sizes), 0)


def _in_rows(parts: Sequence[Value], reverse: bool) -> Any:
    """Values for the steps in the order of the layer as one array, in the order of time."""
    return stack(parts[::-1] if reverse else parts, 0)


def _gradients(slopes: Any, by_state: Any, states: Sequence[Value], x: Value, w_ih: Value, bias: Value | None,
               sizes: Shape | None, reverse: bool) -> tuple[Any, ...]:
    """The gradients of the input, the weights and the biases, from those of the products at each step.

    `slopes` are those of the products of the input, and `by_state` those of the products of the state, which a walk
    back found. `states` are those before each step.
    """
    slopes, by_state = _in_rows(slopes[::-1], reverse), _in_rows(by_state[::-1], reverse)
    by_x = np.matmul(slopes, w_ih)
    if sizes is not None:
        by_x = pack_padded(by_x, sizes, False)
    biases = (None, None) if bias is None else (_over_rows(slopes), _over_rows(by_state))
    return by_x, _outer(slopes, x), _outer(by_state, _in_rows(states, reverse)), *biases


def _over_rows(x: Value) -> Any:
    return sum_dim(x, (0, 1), False, None)


def _outer(slopes: Value, x: Value) -> Any:
    """The sum of the outer products of all rows."""
    return np.matmul(transpose(np.reshape(slopes, (-1, slopes.shape[2])), 0, 1), np.reshape(x, (-1, x.shape[2])))


def _gates(x: Value, count: int) -> list[Any]:
    """The parts of the last dimension."""
    size = x.shape[-1] // count
    return [slice_(x, x.ndim - 1, i * size, (i + 1) * size, 1) for i in range(count)]


def _conjugates(*values: Value | None) -> list[Any]:
    """The conjugates of what a gradient is computed from. Of what is real or absent, the value itself."""
    return [value if value is None else conjugate(value) for value in values]


def _plus(x: Value, y: Value | None) -> Any:
    return y if x is None else x if y is None else x + y


def _through(x: Value, weight: Value, bias: Value | None) -> Any:
    return _plus(np.matmul(x, transpose(weight, 0, 1)), bias)


# Plain recurrent layers

def _rnn_gradients(activation: Callable[[Value], Value],
                   slope: Callable[[Value], Value]) -> Callable[..., tuple[Any, ...]]:
    """The composition for a layer with this activation. `slope` is the derivative of the activation by its result."""

    def gradients(g_out: Value | None, g_h: Value | None, x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None,
                  b_hh: Value | None, h: Value, states: Value, sizes: Shape | None, reverse: bool,
                  wanted: Sequence[bool]) -> tuple[Any, ...]:
        x, order, masks = _start(x, sizes, reverse)
        products, before, after = _products(x, w_ih, b_ih), [], []
        for step in order:
            before += [h]
            after += [activation(select(products, 0, step) + _through(h, w_hh, b_hh))]
            h = _kept(masks, step, after[-1], h)
        arriving, slopes = _arriving(g_out, sizes), []
        g = np.zeros_like(h) if g_h is None else g_h
        for step, made in zip(order[::-1], after[::-1]):
            g = g if arriving is None else g + select(arriving, 0, step)
            slopes += [_kept(masks, step, g * slope(made), 0.0)]
            g = _kept(masks, step, np.matmul(slopes[-1], w_hh), g)
        return *_gradients(slopes, slopes, before, x, w_ih, b_ih, sizes, reverse), g

    return gradients


def _rnn(backward: Op) -> Callable[..., Any]:
    """The joint rule of a layer."""

    def rule(g: Sequence[Value | None], wanted: Sequence[bool], x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None,
             b_hh: Value | None, h: Value, states: Value, sizes: Shape | None, reverse: bool) -> Any:
        return backward(*g[:2], *_conjugates(x, w_ih, w_hh, b_ih, b_hh, h, states), sizes, reverse, wanted)

    return rule


rnn_tanh_layer_backward = composed("rnn_tanh_layer_backward", rnn_kernels.rnn_tanh_layer_backward,
                                   _rnn_gradients(np.tanh, lambda made: 1.0 - made * made), tensors=9)
rnn_relu_layer_backward = composed("rnn_relu_layer_backward", rnn_kernels.rnn_relu_layer_backward,
                                   _rnn_gradients(relu, np.sign), tensors=9)
rnn_tanh_layer = operator("rnn_tanh_layer", rnn_kernels.rnn_tanh_layer, tensors=6, node="RnnTanhBackward0",
                          outputs="out last states", differentiable="out last", unfilled=True,
                          joint=_rnn(rnn_tanh_layer_backward))
rnn_relu_layer = operator("rnn_relu_layer", rnn_kernels.rnn_relu_layer, tensors=6, node="RnnReluBackward0",
                          outputs="out last states", differentiable="out last", unfilled=True,
                          joint=_rnn(rnn_relu_layer_backward))


# GRU

def _gru_gradients(g_out: Value | None, g_h: Value | None, x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None,
                   b_hh: Value | None, h: Value, gates: Value, factors: Value, sizes: Shape | None, reverse: bool,
                   wanted: Sequence[bool]) -> tuple[Any, ...]:
    x, order, masks = _start(x, sizes, reverse)
    inputs, before, made = _products(x, w_ih, b_ih), [], []
    for step in order:
        reset_x, update_x, new_x = _gates(select(inputs, 0, step), 3)
        reset_h, update_h, new_h = _gates(_through(h, w_hh, b_hh), 3)
        reset, update = sigmoid(reset_x + reset_h), sigmoid(update_x + update_h)
        new = np.tanh(new_x + reset * new_h)
        before += [h]
        made += [(h, reset, update, new, new_h)]
        h = _kept(masks, step, new + update * (h - new), h)
    arriving, by_input, by_state = _arriving(g_out, sizes), [], []
    g = np.zeros_like(h) if g_h is None else g_h
    for step, (h, reset, update, new, new_h) in zip(order[::-1], made[::-1]):
        g = g if arriving is None else g + select(arriving, 0, step)
        by_new = _kept(masks, step, g * (1.0 - update) * (1.0 - new * new), 0.0)
        by_update = _kept(masks, step, g * (h - new) * (update * (1.0 - update)), 0.0)
        by_reset = by_new * new_h * (reset * (1.0 - reset))
        by_input += [cat((by_reset, by_update, by_new), 1)]
        by_state += [cat((by_reset, by_update, by_new * reset), 1)]
        g = _kept(masks, step, g * update + np.matmul(by_state[-1], w_hh), g)
    return *_gradients(by_input, by_state, before, x, w_ih, b_ih, sizes, reverse), g


def _gru(g: Sequence[Value | None], wanted: Sequence[bool], x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None,
         b_hh: Value | None, h: Value, gates: Value, factors: Value, sizes: Shape | None, reverse: bool) -> Any:
    saved = _conjugates(x, w_ih, w_hh, b_ih, b_hh, h, gates, factors)
    return gru_layer_backward(*g[:2], *saved, sizes, reverse, wanted)


gru_layer_backward = composed("gru_layer_backward", gru_kernels.gru_layer_backward, _gru_gradients, tensors=10)
gru_layer = operator("gru_layer", gru_kernels.gru_layer, tensors=6, node="GruBackward0",
                     outputs="out last gates factors", differentiable="out last", unfilled=True, joint=_gru)


# LSTM

def _lstm_steps(order: Sequence[int], masks: Array | None, products: Value, w_hh: Value, b_hh: Value | None, h: Value,
                c: Value, w_hr: Value | None) -> list[Any]:
    """What each step computes: the states and cells before it, the gates, the squashed cell, the state of all cells."""
    steps = []
    for step in order:
        input, forget, new, output = _gates(select(products, 0, step) + _through(h, w_hh, b_hh), 4)
        input, forget, new, output = sigmoid(input), sigmoid(forget), np.tanh(new), sigmoid(output)
        cell = forget * c + input * new
        squashed = np.tanh(cell)
        raw = output * squashed
        steps += [(h, c, input, forget, new, output, squashed, raw)]
        state = raw if w_hr is None else np.matmul(raw, transpose(w_hr, 0, 1))
        h, c = _kept(masks, step, state, h), _kept(masks, step, cell, c)
    return steps


def _lstm_gradients(g_out: Value | None, g_h: Value | None, g_c: Value | None, x: Value, w_ih: Value, w_hh: Value,
                    b_ih: Value | None, b_hh: Value | None, h: Value, c: Value, w_hr: Value | None, gates: Value,
                    factors: Value, terms: Value, sizes: Shape | None, reverse: bool,
                    wanted: Sequence[bool]) -> tuple[Any, ...]:
    x, order, masks = _start(x, sizes, reverse)
    steps = _lstm_steps(order, masks, _products(x, w_ih, b_ih), w_hh, b_hh, h, c, w_hr)
    arriving, slopes, by_projected = _arriving(g_out, sizes), [], []
    g_h = np.zeros_like(h) if g_h is None else g_h
    g_c = np.zeros_like(c) if g_c is None else g_c
    for step, (_, cell, input, forget, new, output, squashed, _) in zip(order[::-1], steps[::-1]):
        g_h = g_h if arriving is None else g_h + select(arriving, 0, step)
        g_state = _kept(masks, step, g_h, 0.0)
        by_projected += [g_state]
        g_raw = g_state if w_hr is None else np.matmul(g_state, w_hr)
        g_cell = _kept(masks, step, g_c, 0.0) + g_raw * output * (1.0 - squashed * squashed)
        slopes += [cat((
            g_cell * new * (input * (1.0 - input)), g_cell * cell * (forget * (1.0 - forget)),
            g_cell * input * (1.0 - new * new), g_raw * squashed * (output * (1.0 - output))), 1)]
        g_h = _kept(masks, step, np.matmul(slopes[-1], w_hh), g_h)
        g_c = _kept(masks, step, g_cell * forget, g_c)
    found = _gradients(slopes, slopes, [step[0] for step in steps], x, w_ih, b_ih, sizes, reverse)
    if w_hr is None:
        return *found, g_h, g_c
    raw = _in_rows([step[-1] for step in steps], reverse)
    return *found, g_h, g_c, _outer(_in_rows(by_projected[::-1], reverse), raw)


def _lstm(g: Sequence[Value | None], wanted: Sequence[bool], x: Value, w_ih: Value, w_hh: Value, b_ih: Value | None,
          b_hh: Value | None, h: Value, c: Value, gates: Value, factors: Value, terms: Value, sizes: Shape | None,
          reverse: bool) -> Any:
    saved = _conjugates(x, w_ih, w_hh, b_ih, b_hh, h, c, None, gates, factors, terms)
    return lstm_layer_backward(*g[:3], *saved, sizes, reverse, wanted)


def _projected_lstm(g: Sequence[Value | None], wanted: Sequence[bool], x: Value, w_ih: Value, w_hh: Value,
                    b_ih: Value | None, b_hh: Value | None, h: Value, c: Value, w_hr: Value, gates: Value,
                    factors: Value, terms: Value, sizes: Shape | None, reverse: bool) -> Any:
    saved = _conjugates(x, w_ih, w_hh, b_ih, b_hh, h, c, w_hr, gates, factors, terms)
    return lstm_layer_backward(*g[:3], *saved, sizes, reverse, wanted)


lstm_layer_backward = composed("lstm_layer_backward", lstm_kernels.lstm_layer_backward, _lstm_gradients, tensors=14)
# PyTorch has a node for a whole sequence only here.
lstm_layer = operator("lstm_layer", lstm_kernels.lstm_layer, tensors=7, node="MkldnnRnnLayerBackward0",
                      outputs="out last last_cell gates factors terms", differentiable="out last last_cell",
                      unfilled=True, joint=_lstm)
projected_lstm_layer = operator(
    "projected_lstm_layer", lstm_kernels.projected_lstm_layer, tensors=8, node="MkldnnRnnLayerBackward0",
    outputs="out last last_cell gates factors terms", differentiable="out last last_cell", unfilled=True,
    joint=_projected_lstm)
