"""Joining, splitting, repeating and rearranging. Each is linear, and its derivative takes apart what it put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import shape as kernels
from .framework import linear


def _parts(g: Any, xs_shape: Any, dim: Any) -> list[Any]:
    """For each operand its part of the cotangent; nothing for one of shape [0], which is passed over."""
    sizes = [0 if shape == (0,) and g.ndim != 1 else shape[dim] for shape in xs_shape]
    parts = split(g, tuple(sizes), dim)
    return [np.reshape(part, (0,)) if shape == (0,) else part for part, shape in zip(parts, xs_shape)]


cat = linear("cat", kernels.concatenate, variadic=True, domain="promote", xs=_parts)
stack = linear("stack", kernels.stack, variadic=True, domain="promote", xs=lambda g, dim: unbind(g, dim))

unbind = linear("unbind", kernels.unbind, view=True, outputs="*", x=lambda g, dim: stack(g, dim))
split = linear("split", kernels.split, view=True, outputs="*", x=lambda g, dim: cat(g, dim))
split_with_sizes = linear("split_with_sizes", kernels.split, view=True, outputs="*", x=lambda g, dim: cat(g, dim))

repeat = linear("repeat", kernels.repeat, x=lambda g, x_shape, repeats: sum_of_parts(g, x_shape, repeats))
sum_of_parts = linear("sum_of_parts", kernels.sum_of_parts, g=lambda g, repeats: repeat(g, repeats))

flip = linear("flip", kernels.flip, x=lambda g, dims: flip(g, dims))
roll = linear("roll", kernels.roll, x=lambda g, shifts, dims: roll(g, tuple([-n for n in shifts]), dims))
rot90 = linear("rot90", kernels.rot90, x=lambda g, k, dims: rot90(g, -k, dims))
tril = linear("tril", kernels.tril, x=lambda g, diagonal: tril(g, diagonal))
triu = linear("triu", kernels.triu, x=lambda g, diagonal: triu(g, diagonal))
