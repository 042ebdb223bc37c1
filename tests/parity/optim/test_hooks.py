"""Hooks, states and copies of optimizers against PyTorch: what is called when, what is shared, what is restored."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import compare
from comparing.optimizers import usual_optimizers

LIBRARIES = (torch, retrograd)
NAMES = usual_optimizers()


def leaf(library: Any) -> Any:
    return library.nn.Parameter(library.ones(2))


def stepped(library: Any, optimizer: Any) -> list[Any]:
    p = optimizer.param_groups[0]["params"][0]
    p.grad = library.tensor([1.0, -2.0])
    optimizer.step()
    return p.tolist()  # type: ignore[no-any-return]


def calls(library: Any) -> list[Any]:
    """The order in which hooks of all kinds run, and what states contain that they change."""
    module, found = importlib.import_module(f"{library.__name__}.optim.optimizer"), []
    optimizer = library.optim.SGD([leaf(library)], lr=0.5, momentum=0.5)

    def seen(name: str, result: Any = None) -> Any:
        def hook(o: Any, *args: Any) -> Any:
            found.append((name, o is optimizer, len(args)))
            return result

        return hook

    handles = [module.register_optimizer_step_pre_hook(seen("every pre")),
               module.register_optimizer_step_post_hook(seen("every post"))]
    optimizer.register_step_pre_hook(seen("own pre"))
    optimizer.register_step_post_hook(seen("own post"))
    for kind in ("state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post"):
        register = getattr(optimizer, f"register_{kind}_hook")
        register(seen(f"{kind} second"))
        register(seen(f"{kind} first"), prepend=True)
        register(seen("removed")).remove()
    found += stepped(library, optimizer)
    for handle in handles:
        handle.remove()
    found += stepped(library, optimizer)
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(
        lambda o, state: {**state, "param_groups": [{**state["param_groups"][0], "lr": 7}]})
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    return [*found, sorted(state), state["param_groups"][0]["lr"], optimizer.param_groups[0]["lr"]]


def test_the_order_of_hooks() -> None:
    assert calls(retrograd) == calls(torch)


def test_a_loaded_state_shares_tensors() -> None:
    for library in LIBRARIES:
        first, second = (library.optim.Adam([p]) for p in (leaf(library), leaf(library)))
        stepped(library, first)
        state = first.state_dict()
        second.load_state_dict(state)
        assert all(value is state["state"][0][name] for name, value in next(iter(second.state.values())).items())
        third = library.optim.Adam([leaf(library).double()], differentiable=True)
        third.load_state_dict(state)
        kinds = [str(value.dtype).partition(".")[2] for value in next(iter(third.state.values())).values()]
        assert kinds == ["float32", "float64", "float64"]


def test_a_dictionary_becomes_the_group() -> None:
    for library in LIBRARIES:
        group = {"params": leaf(library), "lr": 0.5}
        optimizer = library.optim.SGD([group])
        assert optimizer.param_groups[0] is group
        assert sorted(group) == ["dampening", "differentiable", "foreach", "fused", "lr", "maximize", "momentum",
                                 "nesterov", "params", "weight_decay"]


@pytest.mark.parametrize("name", NAMES)
def test_copies_go_on(name: str) -> None:
    courses = []
    for library in LIBRARIES:
        optimizer = getattr(library.optim, name)([leaf(library)])
        schedule = library.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        stepped(library, optimizer)
        twin, parcel = copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))
        schedule.step()
        courses.append([*(stepped(library, o) for o in (optimizer, twin, parcel)), str(twin), str(parcel),
                        sorted(twin.__dict__.keys() & parcel.__dict__.keys() & {"defaults", "state", "param_groups"})])
        again = pickle.loads(pickle.dumps((schedule, optimizer)))
        again[0].step()
        courses[-1].append((again[1].param_groups[0]["lr"], again[0].optimizer is again[1]))
    np.testing.assert_allclose(courses[1][:3], courses[0][:3], rtol=1e-6)
    assert courses[1][3:] == courses[0][3:]


def bare(library: Any) -> Any:
    """An optimizer that does not call the constructor of its base class."""
    class Bare(library.optim.Optimizer):  # type: ignore[misc, name-defined]
        def __init__(self, params: Any) -> None:
            self.param_groups = [{"params": [*params], "lr": 0.5}]
            self.state: Any = {}
            self.defaults: Any = {}

        def step(self, closure: Any = None) -> Any:
            return "stepped"

    return Bare([leaf(library)])


REFUSED: list[Any] = [
    lambda t: t.optim.SGD([("a", leaf(t))]).add_param_group({"params": [leaf(t)]}),
    lambda t: t.optim.SGD([leaf(t)]).add_param_group({"params": [("a", leaf(t))]})]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: Any) -> None:
    compare(case)


def test_an_optimizer_without_its_base_class_constructor() -> None:
    for library in LIBRARIES:
        optimizer = bare(library)
        assert (optimizer.step(), str(optimizer)) == (
            "stepped", "Bare (\nParameter Group 0\n    lr: 0.5\n)")
        optimizer.zero_grad()
        with pytest.raises((AttributeError, TypeError)):
            optimizer.register_step_pre_hook(print)


def test_groups_that_come_during_a_schedule() -> None:
    def case(library: Any, name: str) -> Any:
        optimizer = library.optim.SGD([leaf(library)], lr=0.1)
        kinds = library.optim.lr_scheduler
        schedule = {"step": lambda: kinds.StepLR(optimizer, 1), "lambda": lambda: kinds.LambdaLR(optimizer, abs),
                    "cosine": lambda: kinds.CosineAnnealingLR(optimizer, 5),
                    "linear": lambda: kinds.LinearLR(optimizer)}[name]()
        stepped(library, optimizer)
        schedule.step()
        optimizer.add_param_group({"params": [leaf(library)], "lr": 1.0})
        try:
            schedule.step()
        except (ValueError, KeyError) as error:
            return type(error), [group["lr"] for group in optimizer.param_groups]
        return [group["lr"] for group in optimizer.param_groups]

    for name in ("step", "lambda", "cosine", "linear"):
        assert case(retrograd, name) == case(torch, name), name
