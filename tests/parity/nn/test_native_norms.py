"""All results of `native_group_norm`, `native_layer_norm` and `native_batch_norm`: gradients, tangents and batches."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.all_modes import alike, outcome

CALLS = {
    "group": "t.native_group_norm(x, w, b, 2, 4, 3, 2, 1e-5)",
    "group alone": "t.native_group_norm(x, None, None, 2, 4, 3, 2, 1e-5)",
    "layer": "t.native_layer_norm(x.transpose(1, 2), (4,), w, b, 1e-5)",
    "batch": "t.native_batch_norm(x, w, b, None, None, True, 0.1, 1e-5)",
    "evaluating": "t.native_batch_norm(x, w, b, b.detach(), w.detach() ** 2, False, 0.1, 1e-5)"}
MODES = ("value", "vjp", "jvp", "jvp of vjp", "vmap", "vmap of vjp", "vmap of jvp")


def _given() -> dict[str, Any]:
    drawn = np.random.default_rng(0)
    return {"x": drawn.normal(size=(2, 4, 3)), "w": drawn.normal(size=4), "b": drawn.normal(size=4)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", ["", "[0]", "[1]", "[2]", "[:2]", "[1:]", "[::2]"])
@pytest.mark.parametrize("call", CALLS)
def test_derivatives_of_all_results(call: str, part: str, mode: str) -> None:
    theirs, ours = (outcome(t, CALLS[call] + part, _given(), mode) for t in (torch, retrograd))
    assert alike(theirs, ours), (theirs, ours)


@pytest.mark.parametrize("wanted", list(product((False, True), repeat=3)))
@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("call", CALLS)
def test_which_results_require_grad(call: str, place: int, wanted: tuple[bool, ...]) -> None:
    def seen(t: Any) -> Any:
        names = {"t": t, **{name: t.tensor(value, requires_grad=grad)
                            for (name, value), grad in zip(_given().items(), wanted, strict=True)}}
        out: Any = eval(CALLS[call], names)[place]
        if not out.requires_grad:
            return None, out.is_leaf, out.output_nr
        gradients = t.autograd.grad(out.sum(), [x for x, grad in zip((names[n] for n in "xwb"), wanted, strict=True)
                                                if grad], allow_unused=True)
        return out.grad_fn.name(), out.is_leaf, out.output_nr, [g is None for g in gradients]

    assert seen(retrograd) == seen(torch)


STATISTICS = {
    "evaluating": "F.batch_norm(x, m, v, w, b, False)", "alone": "F.batch_norm(x, m, v, None, None, False)",
    "training": "(F.batch_norm(x, m, v, w, b, True), m * 1, v * 1)",
    "native": "t.native_batch_norm(x, w, b, m, v, True, 0.1, 1e-5)",
    "native evaluating": "t.native_batch_norm(x, w, b, m, v, False, 0.1, 1e-5)",
    "instances": "F.instance_norm(x, m, v, w, b, False)",
    "instances training": "(F.instance_norm(x, m, v, w, b, True), m * 1, v * 1)"}


@pytest.mark.parametrize("mode", ["vjp", "jvp", "jvp of vjp", "vmap of jvp"])
@pytest.mark.parametrize("moving", ["x", "m", "v", "mv", "xm", "xv", "wm", "bv", "wbmv", "xwbmv", "w", "wb"])
@pytest.mark.parametrize("call", STATISTICS)
def test_tangents_of_running_statistics(call: str, moving: str, mode: str) -> None:
    def found(t: Any) -> Any:
        given = {**_given(), "m": np.linspace(-1, 1, 4), "v": np.linspace(0.5, 1, 4)}
        return outcome(t, STATISTICS[call], given, mode, list(moving))

    theirs, ours = found(torch), found(retrograd)
    assert alike(theirs, ours), (theirs, ours)
