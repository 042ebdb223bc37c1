"""What the kernels of recurrent layers share: sequences in the order of their steps, states, and gradients of weights.

The layers compute with features first: a state is (features, batch), so that a product with the recurrent weight makes
the gates one after the other in memory. Packed sequences are padded for this. At a step at which a sequence is absent,
its state stays, and its gradient passes through. A backward layer is a forward layer on sequences in reverse.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...foundations.dtypes import F16, F32, Array

Sizes = tuple[int, ...] | None


def computed(x: Array | None) -> Any:
    """The array in the type that the layers compute in: float32 for float16, and else its own."""
    return x.astype(F32) if x is not None and x.dtype == F16 else x


def present(sizes: tuple[int, ...]) -> Array:
    """Which elements of the batch are there at each step of packed sequences: (steps, batch)."""
    inside: Array = np.arange(sizes[0]) < np.array(sizes)[:, None]
    return inside


def padded(rows: Array, sizes: tuple[int, ...], steps: int, fill: Any) -> Array:
    """Packed rows as (steps, batch, …), filled up with `fill` where a sequence has ended."""
    out = np.full((steps, sizes[0], *rows.shape[1:]), fill, rows.dtype)
    out[: len(sizes)][present(sizes)] = rows
    return out


def packed(x: Array, sizes: tuple[int, ...], batch_first: bool) -> Array:
    """The rows of (steps, batch, …), or of (batch, steps, …), that belong to a sequence."""
    x = x.swapaxes(0, 1) if batch_first else x
    rows: Array = x[: len(sizes)][present(sizes)]
    return rows


def in_order(x: Array, sizes: Sizes, reverse: bool) -> Array:
    """(steps, batch, features) in the order in which the layer takes the steps."""
    x = computed(x if sizes is None else padded(x, sizes, len(sizes), 0))
    return x[::-1] if reverse else x


def features_first(x: Array, sizes: Sizes, reverse: bool) -> Array:
    """`in_order`, as (steps, features, batch)."""
    return np.ascontiguousarray(in_order(x, sizes, reverse).transpose(0, 2, 1))


def as_given(x: Array, sizes: Sizes, reverse: bool) -> Array:
    """(steps, batch, features) in the order of computation as the sequences were given: the reverse of `in_order`."""
    x = x[::-1] if reverse else x
    return x if sizes is None else packed(x, sizes, False)


def ends(sizes: Sizes, reverse: bool) -> Iterator[tuple[int, int]]:
    """Each step at which sequences are absent, in the order of computation, with the number of those present."""
    if sizes is not None:
        counts = sizes[::-1] if reverse else sizes
        for step, count in enumerate(counts):
            if count < sizes[0]:
                yield step, count


def joined_weight(*parts: Any) -> Array:
    """One weight for the products of what the parts are multiplied with: (gates * features, factors).

    The weights stand in the order of the factors, the bias as the weight of 1.
    """
    columns = [part[:, None] if part.ndim == 1 else part for part in map(computed, parts) if part is not None]
    return np.concatenate(columns, 1)


def factors_of(x: Array, bias: Array, first: Array) -> Array:
    """What the joined weight is multiplied with at each step: (steps + 1, factors, batch).

    The states follow the first in the course of the computation.
    """
    steps, batch, features = x.shape
    width = first.shape[1]
    factors = np.empty((steps + 1, features + (bias is not None) + width, batch), x.dtype)
    factors[:-1, :features] = x.transpose(0, 2, 1)
    factors[-1, :features] = 0
    if bias is not None:
        factors[:, features] = 1
    factors[0, -width:] = first.T
    return factors


def inputs_of(x: Array, one: bool) -> Array:
    """The input as what a weight is multiplied with at each step, with 1 behind it if a bias needs `one`."""
    steps, batch, features = x.shape
    inputs = np.empty((steps, features + one, batch), x.dtype)
    inputs[:, :features], inputs[:, features:] = x.transpose(0, 2, 1), 1
    return inputs


def states_from(first: Array, steps: int, one: bool) -> Array:
    """Room for the states before and after each step, with the first. Before each is 1 if a bias needs `one`."""
    batch, features = first.shape
    states = np.empty((steps + 1, one + features, batch), computed(first).dtype)
    states[:, :one], states[0, one:] = 1, first.T
    return states


def total_bias(b_ih: Array | None, b_hh: Array | None) -> Any:
    """The sum of the biases, or None."""
    return None if b_ih is None else computed(b_ih) + computed(b_hh)


def in_lines(x: Array) -> Array:
    """(steps, features, batch) with one line for each step: NumPy computes quickest with one dimension."""
    return x.reshape(len(x), -1)


def gates_apart(x: Array, count: int) -> list[Array]:
    """The gates of one step, from (batch, gates * features), each in memory of its own."""
    return [np.ascontiguousarray(part) for part in np.split(x, count, 1)]


def incoming(g: Array | None, like: Array) -> Array:
    """The gradient of a last state, as an array of (features, batch) that may be written to."""
    return np.zeros_like(like) if g is None else np.array(g.T, like.dtype, order="C")


def columns(x: Array) -> Array:
    """(steps, features, batch) as the matrix (features, steps * batch). A line of the batch moves as one element."""
    steps, features, batch = x.shape
    if not x.size:
        return np.empty((features, steps * batch), x.dtype)
    whole = x.view(np.dtype((np.void, batch * x.itemsize)))[:, :, 0]
    found: Array = np.ascontiguousarray(whole.T).view(x.dtype)
    return found


def by_input(slopes: Array, weight: Array, rows: Array, sizes: Sizes, reverse: bool) -> Array:
    """The gradient of the input, whose rows in the order of computation are given, from those of the products:
    (features, rows).
    """
    return as_given(np.dot(slopes.T, weight).reshape(rows.shape), sizes, reverse)
