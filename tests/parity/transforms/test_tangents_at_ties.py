"""Tangents where the rule of the gradient does not say the tangent: at ties, at nan, at kinks, of norms of zeros."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import retrograd
from comparing.all_modes import alike, outcome

NAN, INF = math.nan, math.inf
X = np.array([1, 1, 2, NAN, NAN, 1, 0.0, -0.0, INF, INF, -INF, 3, 5])
Y = np.array([1, 2, 1, NAN, 1, NAN, -0.0, 0.0, INF, 1, -INF, NAN, 5])
PAIRS = (
    "t.fmax(x, y)", "t.fmin(x, y)", "t.maximum(x, y)", "t.minimum(x, y)", "t.max(x, y)", "t.min(x, y)",
    "t.clamp(x, min=y)", "t.clamp(x, max=y)", "t.clamp(x, y, y + 1)", "t.clamp(x, y.flip(0), y)", "t.clamp_min(x, y)",
    "t.clamp_max(x, y)", "t.clamp(x, 0.0, 1.0)", "t.fmax(x, y[:1])", "t.maximum(x[:, None], y)",
    "t.clamp(x, y[:1], y[1:2])", "F.prelu(x, y[:1])", "t.maximum(x.detach(), y)", "t.fmin(x, y.detach())",
    "x / y", "y / x", "x.detach() / y", "x / y.detach()", "(x * 0 + 2).div_(y)", "t.polar(x, y)",
    "t.polar(x, y.detach())", "t.polar(x.detach(), y)", "x.clone().clamp_(min=y)", "t.clamp(x.detach(), y)",
    "t.clamp(x, y.detach(), y + 1)")
ROWS = {
    "nan": [NAN, 1, 2], "nans": [1, NAN, NAN], "ties": [2, -2, 2], "zeros": [0, 0, 0], "numbers": [1, 2, -3],
    "extremes tie": [1, 1, 3], "infinite": [INF, INF, 1], "one": [1.0], "signed zeros": [-0.0, 0, 1]}
OF_ROWS = (
    "x.max()", "x.min()", "t.median(x)", "t.nanmedian(x)", "x.amax()", "x.amin(0)",
    *[f"t.renorm(t.stack([x, x * 2]), {p}, {dim}, 1.0)" for p in (1, 2, 3, 1.5, 0.5, "float('inf')") for dim in (0, 1)],
    *[f"t.dist(x, {other}, {p})" for p in (1, 2, 3, 1.5) for other in ("x.flip(0)", "x", "x + 1")],
    *[f"t.norm(x, {p})" for p in (1, 2, 3, 1.5)])


@pytest.mark.parametrize("mode", ["value", "vjp", "jvp", "vmap of jvp"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("call", PAIRS)
def test_tangents_of_pairs(call: str, dtype: str, mode: str) -> None:
    given = {"x": X.astype(dtype), "y": Y.astype(dtype)}
    theirs, ours = (outcome(t, call, given, mode) for t in (torch, retrograd))
    assert alike(theirs, ours), (theirs, ours)


@pytest.mark.parametrize("mode", ["value", "vjp", "jvp", "vmap of jvp"])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("call", OF_ROWS)
def test_tangents_of_rows(call: str, name: str, mode: str) -> None:
    theirs, ours = (outcome(t, call, {"x": np.array(ROWS[name], float)}, mode) for t in (torch, retrograd))
    assert alike(theirs, ours), (theirs, ours)
