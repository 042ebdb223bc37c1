"""Steps with `differentiable=True` and `capturable=True` against PyTorch: values, and gradients through the steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import as_array, compare

LIBRARIES = (torch, retrograd)
# The names of options that are tensors of which gradients are computed.
CASES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("SGD", {}, ("lr",)), ("SGD", {}, ()), ("SGD", {"momentum": 0.9, "weight_decay": 0.1, "maximize": True}, ("lr",)),
    ("SGD", {"momentum": 0.9, "nesterov": True}, ("lr", "weight_decay")), ("SGD", {"weight_decay": 0.2}, ()),
    ("SGD", {"momentum": 0.5, "dampening": 0.3}, ("weight_decay",)), ("Adam", {}, ("lr",)), ("Adam", {}, ()),
    ("Adam", {"amsgrad": True, "weight_decay": 0.1}, ("lr",)), ("Adam", {"maximize": True}, ("lr", "betas")),
    ("Adam", {"eps": 1e-2}, ("weight_decay", "betas")), ("AdamW", {}, ("lr",)), ("AdamW", {"amsgrad": True}, ()),
    ("AdamW", {}, ("lr", "betas", "weight_decay")), ("RMSprop", {"momentum": 0.5}, ()), ("Adadelta", {}, ()),
    ("Rprop", {}, ()), ("Adagrad", {"weight_decay": 0.1}, ()), ("NAdam", {}, ()), ("RAdam", {}, ()), ("Adamax", {}, ()),
    ("ASGD", {}, ()), ("NAdam", {}, ("lr",)), ("RAdam", {}, ("lr",)), ("ASGD", {}, ("lr",)),
    ("RAdam", {"betas": (0.5, 0.6), "weight_decay": 0.1, "decoupled_weight_decay": True}, ("lr",))]
VALUES: dict[str, Any] = {"lr": 0.1, "weight_decay": 0.2, "betas": (0.7, 0.8)}


def unrolled(library: Any, name: str, options: dict[str, Any], wanted: tuple[str, ...], dtype: str) -> list[Any]:
    """The values after three steps, and the gradients of a loss there by the first values and by the options."""
    kind = getattr(library, dtype)
    tensors: list[Any] = [library.tensor([0.4, -1.2, 2.0]).to(kind).requires_grad_()]
    chosen = dict(options)
    for option in wanted:
        values = np.atleast_1d(VALUES[option])
        made = [library.tensor(value, dtype=library.float64, requires_grad=True) for value in values]
        chosen[option] = tuple(made) if option == "betas" else made[0]
        tensors += made
    p = tensors[0].clone()
    optimizer = getattr(library.optim, name)([p], **{"lr": 0.1, **chosen}, differentiable=True)
    data, found = library.tensor([0.3, 0.5, -0.7]).to(kind), []
    for step in range(3):
        loss = ((p * data).abs() ** 3).sum() + (p * (step + 1)).abs().square().sum()
        p.grad, = library.autograd.grad(loss, p, create_graph=True)
        optimizer.step()
        found.append(as_array(p.detach()).copy())
    found += [as_array(value.detach()) for value in optimizer.state[p].values()]
    gradients = library.autograd.grad(p.abs().square().sum(), tensors, allow_unused=True)
    return [*found, *(None if g is None else as_array(g.detach()) for g in gradients)]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize(("name", "options", "wanted"), CASES)
def test_gradients_through_steps(name: str, options: dict[str, Any], wanted: tuple[str, ...], dtype: str) -> None:
    outcomes = []
    for library in LIBRARIES:
        try:
            outcomes.append(unrolled(library, name, options, wanted, dtype))
        except RuntimeError as error:                        # a formula that writes over a value that the graph saved
            outcomes.append([str(error).partition(":")[0]])
    assert len(outcomes[0]) == len(outcomes[1]), outcomes
    for theirs, ours in zip(*outcomes, strict=True):
        if theirs is None or isinstance(theirs, str):
            assert ours == theirs
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9)


def step_of(name: str, leaf: bool = True, dtype: str = "float32", device: str = "cpu", **options: Any) -> Any:
    def case(library: Any) -> Any:
        p = library.nn.Parameter(library.ones(2, dtype=getattr(library, dtype), device=device))
        optimizer = getattr(library.optim, name)([p if leaf else p * 2], **options)
        p.grad = library.ones_like(p)
        return optimizer.step()

    return case


def step_with_learned_rate(name: str, differentiable: bool = True, **options: Any) -> Any:
    def case(library: Any) -> Any:
        p, lr = library.ones(2, requires_grad=True), library.tensor(0.1, requires_grad=True)
        p = p.clone() if differentiable else p
        optimizer = getattr(library.optim, name)([p], lr=lr, differentiable=differentiable, **options)
        optimizer.step()                                     # without a gradient, nothing is refused
        p.grad = library.ones(2)
        optimizer.step()
        return p

    return case


def step_of_lbfgs(library: Any) -> Any:
    p = library.ones(2, requires_grad=True)

    def closure() -> Any:
        p.grad = p.detach() * 2
        return (p * p).sum()

    return library.optim.LBFGS([p], lr=library.tensor(0.1, requires_grad=True)).step(closure)


REFUSED = [
    *(step_with_learned_rate(name) for name in ("Adadelta", "Adagrad", "Adamax", "RMSprop", "Rprop")),
    step_with_learned_rate("RMSprop", momentum=0.5), step_with_learned_rate("Rprop", differentiable=False),
    *(step_with_learned_rate(name, foreach=True) for name in ("NAdam", "RAdam", "ASGD", "Adamax")), step_of_lbfgs,
    *(step_of(name, capturable=True, foreach=foreach) for name in ("Adam", "AdamW") for foreach in (None, True, False)),
    *(step_of(name, differentiable=True) for name in ("SGD", "Adam", "AdamW")),
    step_of("Adam", capturable=True, differentiable=True), step_of("Adam", betas=(0, 0.9)),
    step_of("SGD", leaf=False), step_of("SGD", fused=True, differentiable=True, leaf=False),
    step_of("Adam", fused=True, differentiable=True), step_of("Adagrad", fused=True, differentiable=True),
    *(step_of(name, dtype="complex64", fused=True) for name in ("SGD", "Adam", "AdamW", "Adagrad")),
    step_of("SGD", device="meta", fused=True), step_of("Adam", device="meta", fused=True),
    lambda t: t.optim.Adam([t.nn.Parameter(t.ones(2))], betas=(t.tensor(0.9), 0.9)),
    lambda t: t.optim.Adam([t.nn.Parameter(t.ones(2))], betas=(t.tensor(0.9), t.tensor([0.9, 0.8]))),
    lambda t: t.optim.Adam([t.nn.Parameter(t.ones(2))], betas=(t.tensor(0.9), t.tensor(0.9)), foreach=True)]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: Any) -> None:
    compare(case)


def test_the_gradient_of_a_rate_in_the_first_step_of_nadam() -> None:
    found = []
    for library in LIBRARIES:
        p = library.tensor([1.0, -2.0], dtype=library.float64, requires_grad=True).clone()
        lr = library.tensor(0.1, dtype=library.float64, requires_grad=True)
        optimizer = library.optim.NAdam([p], lr=lr, differentiable=True)
        p.grad = library.tensor([0.5, 2.0], dtype=library.float64)
        optimizer.step()
        (p * library.tensor([1.0, 3.0])).sum().backward()
        found.append(lr.grad.item())
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_a_fused_step_is_not_asked_for_graphs() -> None:
    for library in LIBRARIES:
        assert step_of("Adam", capturable=True, fused=True)(library) is None
