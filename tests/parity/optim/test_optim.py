"""Optimizers and schedules against PyTorch: the same parameters step for step, states, texts and errors."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import as_array, compare
from comparing.optimizers import usual_optimizers

LIBRARIES = (torch, retrograd)
SGD: list[dict[str, Any]] = [
    {}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True},
    {"weight_decay": 0.1}, {"maximize": True},
    {"momentum": 0.5, "weight_decay": 0.1, "maximize": True, "nesterov": True},
    {"foreach": True}, {"weight_decay": 0.1, "maximize": True}]
ADAM: list[dict[str, Any]] = [
    {}, {"betas": (0.3, 0.8)}, {"betas": (0.0, 0.9)}, {"eps": 1e-2}, {"weight_decay": 0.1}, {"amsgrad": True},
    {"maximize": True}, {"weight_decay": 0.1, "amsgrad": True, "maximize": True}, {"decoupled_weight_decay": True,
                                                                                  "weight_decay": 0.2}]
# The options of the optimizers whose step is a formula on tensors.
FORMULAS: dict[str, list[dict[str, Any]]] = {
    "Adadelta": [{}, {"rho": 0.5, "weight_decay": 0.1}, {"maximize": True}],
    "Adafactor": [{}, {"weight_decay": 0.1, "d": 2.0}, {"eps": (1e-3, 1e-2), "maximize": True, "beta2_decay": -0.5}],
    "Adagrad": [{}, {"lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.3}, {"maximize": True}],
    "Adamax": [{}, {"betas": (0.5, 0.7), "weight_decay": 0.1}, {"maximize": True}],
    "ASGD": [{}, {"t0": 2, "lambd": 0.1, "weight_decay": 0.1}, {"maximize": True}],
    "NAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True},
              {"momentum_decay": 0.1, "maximize": True}],
    "RAdam": [{}, {"weight_decay": 0.1}, {"weight_decay": 0.1, "decoupled_weight_decay": True},
              {"betas": (0.5, 0.6), "maximize": True}],
    "RMSprop": [{}, {"centered": True}, {"momentum": 0.9, "weight_decay": 0.1},
                {"momentum": 0.5, "centered": True, "maximize": True}],
    "Rprop": [{}, {"etas": (0.3, 1.7), "step_sizes": (0.001, 0.5)}, {"maximize": True}]}
CASES = [*(("SGD", options) for options in SGD), *(("Adam", options) for options in ADAM),
         *(("AdamW", options) for options in ADAM if "decoupled_weight_decay" not in options),
         *((name, options) for name, several in FORMULAS.items() for options in several)]
assert {name for name, _ in CASES} == {*usual_optimizers()}


def gradients(shape: tuple[int, ...], dtype: str, steps: int) -> list[np.ndarray[Any, Any]]:
    draws = np.random.default_rng(9)
    values = [draws.standard_normal(shape) for _ in range(steps)]
    if dtype.startswith("complex"):
        values = [v + 1j * draws.standard_normal(shape) for v in values]
    return [np.asarray(v).astype(dtype) for v in values]


def trace(library: Any, name: str, options: dict[str, Any], shape: tuple[int, ...], dtype: str) -> list[Any]:
    start, *grads = gradients(shape, dtype, 7)
    p = library.nn.Parameter(library.from_numpy(start.copy()))
    optimizer = getattr(library.optim, name)([p], lr=0.05, **options)
    found = []
    for g in grads:
        p.grad = library.from_numpy(g.copy())
        optimizer.step()
        found.append(as_array(p).copy())
        assert np.array_equal(as_array(p.grad), g)
    found += [as_array(v) for v in optimizer.state[p].values()]
    # Shrinking for decoupled weight decay is a write of its own in PyTorch.
    decoupled = options.get("decoupled_weight_decay") or name == "AdamW"
    return found if decoupled else [*found, p._version]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "float16"])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_parameters_step_for_step(name: str, options: dict[str, Any], dtype: str) -> None:
    if dtype.startswith("complex") and options.get("amsgrad"):
        return                                             # PyTorch takes the largest of complex numbers as of pairs
    close = {"float32": 2e-6, "float64": 1e-14, "complex128": 1e-14, "float16": 8e-3}[dtype]
    for shape in [(3, 4), (), (0,)]:
        if name == "Adafactor" and (dtype.startswith("complex") or shape == (0,)):
            continue                                       # both packages refuse these parameters
        for theirs, ours in zip(*(trace(library, name, options, shape, dtype) for library in LIBRARIES), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=close, atol=close)


@pytest.mark.parametrize(("name", "options"), [
    ("SGD", {"momentum": 0.9, "nesterov": True}), ("Adam", {"amsgrad": True})])
def test_parameters_that_are_changed_in_blocks(name: str, options: dict[str, Any]) -> None:
    traces = (trace(library, name, options, (300_001,), "float32") for library in LIBRARIES)
    for theirs, ours in zip(*traces, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6, atol=2e-6)


def test_training_takes_the_same_course() -> None:
    courses = []
    for library in LIBRARIES:
        library.manual_seed(1)
        net = library.nn.Sequential(library.nn.Linear(6, 20), library.nn.Tanh(), library.nn.Dropout(0.2),
                                    library.nn.Linear(20, 3))
        x, y = library.randn(32, 6), library.randint(0, 3, (32,))
        first = library.optim.AdamW(net.parameters(), lr=0.01)
        second = library.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
        losses = []
        for optimizer in (first, second):
            for _ in range(20):
                optimizer.zero_grad()
                loss = library.nn.functional.cross_entropy(net(x), y)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        courses.append(losses)
    np.testing.assert_allclose(courses[1], courses[0], rtol=1e-4)


def texts(library: Any) -> list[Any]:
    p, q = (library.nn.Parameter(library.ones(2)) for _ in range(2))
    found: list[Any] = []
    for make in (lambda: library.optim.SGD([p, q], lr=0.5, momentum=0.9), lambda: library.optim.Adam([p]),
                 lambda: library.optim.AdamW([{"params": [p], "lr": 0.1}, {"params": q, "amsgrad": True}], lr=0.3),
                 lambda: library.optim.SGD([("first", p), ("second", q)], lr=0.5)):
        optimizer = make()
        found += [repr(optimizer), str(optimizer.state_dict()), str(optimizer.defaults)]
        p.grad, q.grad = library.ones(2), None
        optimizer.step()
        found += [str(optimizer.state_dict()), repr(optimizer)]
        copy = make()
        copy.load_state_dict(optimizer.state_dict())
        found += [str(copy.state_dict())]
        copy.zero_grad()
        found += [p.grad, copy.step()]
    return found


def test_texts_and_states() -> None:
    for theirs, ours in zip(*(texts(library) for library in LIBRARIES), strict=True):
        # PyTorch notes in a loaded state that fused steps were not asked for.
        assert str(ours) == str(theirs).replace("'fused': False", "'fused': None")


def leaf(t: Any) -> Any:
    return t.nn.Parameter(t.ones(2))


def sparse_step(t: Any, with_gradient: bool) -> Any:
    p = leaf(t)
    p.grad = t.ones(2) if with_gradient else None
    return t.optim.SparseAdam([p]).step(lambda: 3)


REFUSED: list[Any] = [
    lambda t: t.optim.SGD([], lr=0.1), lambda t: t.optim.SGD(leaf(t), lr=0.1),
    lambda t: t.optim.SGD([leaf(t) * 2], lr=0.1),
    lambda t: t.optim.SGD([1], lr=0.1),
    lambda t: t.optim.SGD([{"params": {leaf(t)}}], lr=0.1), lambda t: t.optim.SGD([{}], lr=0.1),
    lambda t: t.optim.SGD([leaf(t)], lr=-1), lambda t: t.optim.SGD([leaf(t)], lr=1, momentum=-1),
    lambda t: t.optim.SGD([leaf(t)], lr=1, weight_decay=-1), lambda t: t.optim.SGD([leaf(t)], lr=1, nesterov=True),
    lambda t: t.optim.SGD([leaf(t)], lr=t.tensor([1.0, 2.0])), lambda t: t.optim.Adam([leaf(t)], lr=-1),
    lambda t: t.optim.SGD([leaf(t)], nesterov=True, momentum=0.9, dampening=0.1),
    lambda t: t.optim.Adam([leaf(t)], eps=-1),
    lambda t: t.optim.Adam([leaf(t)], betas=(1, 0.9)), lambda t: t.optim.Adam([leaf(t)], betas=(0.9, 1.0)),
    lambda t: t.optim.Adam([leaf(t)], weight_decay=-1), lambda t: t.optim.SGD([("a", leaf(t)), leaf(t)], lr=0.1),
    lambda t: t.optim.SGD([leaf(t)], foreach=True, fused=True), lambda t: t.optim.SGD("abc", lr=0.1),
    lambda t: t.optim.SGD([leaf(t)], differentiable=True, fused=True),
    lambda t: t.optim.Adam([leaf(t)], lr=t.tensor(0.1), foreach=True), lambda t: t.optim.SGD(3, lr=0.1),
    lambda t: t.optim.SGD([leaf(t)]).add_param_group(3),
    lambda t: t.optim.SGD([leaf(t)]).load_state_dict({"state": {}, "param_groups": []}),
    lambda t: t.optim.SGD([leaf(t)]).load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]}),
    *(lambda t, options=options: t.optim.SparseAdam([leaf(t)], **options)
      for options in ({"lr": 0}, {"eps": 0}, {"betas": (1.0, 0.9)}, {"betas": (0.9, -1)})),
    lambda t: t.optim.SparseAdam([leaf(t)], lr=t.tensor([0.1, 0.2])),
    lambda t: t.optim.SparseAdam([leaf(t), t.nn.Parameter(t.ones(2, dtype=t.complex64))]),
    lambda t: sparse_step(t, True),
    lambda t: t.optim.lr_scheduler.StepLR(3, 2),
    lambda t: t.optim.lr_scheduler.LambdaLR(t.optim.SGD([leaf(t)]), [abs, abs]),
]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: Any) -> None:
    compare(case)


def test_sparse_gradients() -> None:
    for library in LIBRARIES:
        assert sparse_step(library, False) == 3
        assert str(library.optim.SparseAdam([leaf(library)])) == (
            "SparseAdam (\nParameter Group 0\n    betas: (0.9, 0.999)\n    eps: 1e-08\n    lr: 0.001\n"
            "    maximize: False\n)")


def test_modules_have_their_names() -> None:
    for library in LIBRARIES:
        name = f"{library.__name__}.optim"
        assert importlib.import_module(f"{name}.adamw").AdamW is library.optim.AdamW
        assert library.optim.AdamW.__module__ == f"{name}.adamw"
        assert importlib.import_module(f"{name}.sparse_adam").SparseAdam is library.optim.SparseAdam
        assert hasattr(importlib.import_module(f"{name}.optimizer"), "ParamsT")


def test_a_parameter_in_two_groups_is_refused() -> None:
    def case(t: Any) -> Any:
        p = leaf(t)
        return t.optim.SGD([{"params": [p]}, {"params": [p]}])

    compare(case)


def test_a_schedule_before_the_optimizer_warns() -> None:
    said = []
    for library in LIBRARIES:
        schedule = library.optim.lr_scheduler.StepLR(library.optim.SGD([leaf(library)]), 2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            schedule.step()
        said.append(str(caught[0].message))
    assert said[0] == said[1]


def test_hooks_and_closures() -> None:
    seen: list[list[Any]] = []
    for library in LIBRARIES:
        p = leaf(library)
        optimizer = library.optim.SGD([p], lr=0.1)
        found: list[Any] = []
        before = optimizer.register_step_pre_hook(
            lambda o, args, kwargs, found=found: found.append(("pre", len(args), kwargs)))
        optimizer.register_step_post_hook(
            lambda o, args, kwargs, found=found: found.append(("post", len(args), kwargs)))

        def closure(library: Any = library, p: Any = p, optimizer: Any = optimizer, found: Any = found) -> Any:
            optimizer.zero_grad()
            loss = (p * p).sum()
            loss.backward()
            found.append(library.is_grad_enabled())
            return loss

        with library.no_grad():
            found.append(optimizer.step(closure).item())
        before.remove()
        found += [optimizer.step(closure).item(), p.tolist()]
        seen.append(found)
    assert str(seen[1]) == str(seen[0])
