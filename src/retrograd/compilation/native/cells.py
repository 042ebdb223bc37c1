"""What a step of each recurrent layer computes in machine code: the formulas of the kernels in `kernels/networks`."""

from __future__ import annotations

from collections.abc import Callable

from .elementary import exp, tanh
from .lanes import Lanes, maximum, select
from .recurrent import Cell, Rows, Walk


def _arrived(g: Rows, arriving: list[Rows]) -> Lanes:
    """The gradient of the state after a step, with that of the output, if there is one."""
    total = g[0]
    for array in arriving:
        total = total + array[0]
    return total


# Plain recurrent layers

def _plain(activation: Callable[[Lanes], Lanes], slope: Callable[[Lanes], Lanes]) -> Cell:
    """The cell with this activation. `slope` is the derivative of the activation by its result."""

    def forward(walk: Walk) -> None:
        steps = walk.steps
        of_input, of_state, inputs, states = walk.rows(0, 0, steps.inputs * steps.batch, walk.line)
        walk.product(of_input.start, inputs.start, states.after.start, steps.size, steps.inputs)
        walk.product(of_state.start, states.start, states.after.start, steps.size, steps.size, more=True)

        def formulas() -> None:
            states.after[0] = activation(states.after[0])

        walk.lanes(formulas)

    def backward(walk: Walk) -> None:
        steps = walk.steps
        back, states, slopes, g_h, *arriving = walk.rows(0, walk.line, walk.line, 0, walk.line)

        def formulas() -> None:
            slopes[0] = slope(states.after[0]) * _arrived(g_h, arriving)

        walk.lanes(formulas)
        walk.product(back.start, slopes.start, g_h.start, steps.size, steps.size)

    return Cell(forward, 4, backward, 4)


RNN_TANH = _plain(tanh, lambda state: 1.0 - state * state)
RNN_RELU = _plain(lambda x: maximum(x, 0.0), lambda state: select(state > 0.0, 1.0, state.like(0.0)))


# GRU

def _gru(walk: Walk) -> None:
    """The gates, from the products of the input and of the state, and from the gates the state."""
    steps, states = walk.steps, walk.steps.size + walk.steps.bias
    of_input, of_state, inputs, factors, gates = walk.rows(
        0, 0, steps.inputs * steps.batch, states * steps.batch, 4 * walk.line)
    of_sigmoids = walk.at(of_state.start, steps.size * states)
    walk.product(of_input.start, inputs.start, gates.line(1), 3 * steps.size, steps.inputs)
    walk.product(of_state.start, factors.start, gates.line(0), steps.size, states)
    walk.product(of_sigmoids, factors.start, gates.line(1), 2 * steps.size, states, more=True)

    def formulas() -> None:
        reset, update = [1.0 / (exp(gates[i]) + 1.0) for i in (1, 2)]
        new = tanh(gates[3] + reset * gates[0])
        for i, value in enumerate((reset, update, new), 1):
            gates[i] = value
        factors.after[-1] = (factors[-1] - new) * update + new

    walk.lanes(formulas)


def _gru_back(walk: Walk) -> None:
    """The gradients of the products that the gates were made from, and of the state before."""
    steps = walk.steps
    back, gates, factors, slopes, g_h, *arriving = walk.rows(
        0, 4 * walk.line, (steps.size + steps.bias) * steps.batch, 4 * walk.line, 0, walk.line)

    def formulas() -> None:
        product, reset, update, new = [gates[i] for i in range(4)]
        h = _arrived(g_h, arriving)
        by_new = (1.0 - new) * (1.0 - update) * (new + 1.0)
        by_product = by_new * reset
        by_reset = (1.0 - reset) * by_product * product
        by_update = (1.0 - update) * update * (factors[-1] - new)
        for i, by in enumerate((by_product, by_reset, by_update, by_new)):
            slopes[i] = by * h
        g_h[0] = h * update

    walk.lanes(formulas)
    walk.product(back.start, slopes.start, g_h.start, steps.size, 3 * steps.size, more=True)


GRU = Cell(_gru, 5, _gru_back, 5)


# LSTM

def _lstm(walk: Walk) -> None:
    """The gates, and from the gates the terms of the cell, the cell and the state."""
    steps = walk.steps
    count = steps.inputs + steps.size
    weight, factors, gates, terms = walk.rows(0, count * steps.batch, 5 * walk.line, 3 * walk.line)
    walk.product(weight.start, factors.start, gates.start, 4 * steps.size, count)

    def formulas() -> None:
        output, enters, stays = [1.0 / (exp(gates[i]) + 1.0) for i in range(3)]
        new, cell = tanh(gates[3]), gates[4]
        added, kept = enters * new, stays * cell
        cell = kept + added
        shown = tanh(cell)
        for rows, values in ((gates, (output, enters, stays, new)), (terms, (added, kept, shown))):
            for i, value in enumerate(values):
                rows[i] = value
        gates.after[4] = cell
        factors.after[-1] = output * shown

    walk.lanes(formulas)


def _lstm_back(walk: Walk) -> None:
    """The gradients of the products that the gates were made from, and of the state and the cell before."""
    steps = walk.steps
    back, gates, factors, terms, slopes, g_h, g_c, *arriving = walk.rows(
        0, 5 * walk.line, (steps.inputs + steps.size) * steps.batch, 3 * walk.line, 5 * walk.line, 0, 0, walk.line)

    def formulas() -> None:
        output, enters, stays, new = [gates[i] for i in range(4)]
        added, kept, shown = [terms[i] for i in range(3)]
        h, state = _arrived(g_h, arriving), factors.after[-1]
        c = g_c[0] + h * (output - shown * state)
        slopes[0] = (1.0 - output) * state * h
        for i, (gate, factor) in enumerate(((enters, added), (stays, kept), (new, enters + added)), 1):
            slopes[i] = (1.0 - gate) * factor * c
        g_c[0] = stays * c

    walk.lanes(formulas)
    walk.product(back.start, slopes.start, g_h.start, steps.size, 4 * steps.size)


LSTM = Cell(_lstm, 4, _lstm_back, 7)
