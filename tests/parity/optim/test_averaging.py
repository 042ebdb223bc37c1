"""Averages of parameters, `torch.optim.swa_utils`, against PyTorch: values, states, texts, rates and errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing.against_torch import as_array, compare

LIBRARIES = (torch, retrograd)
AVERAGES: dict[str, Any] = {
    "equal weights": lambda s: {}, "a function": lambda s: {"avg_fn": s.get_swa_avg_fn()},
    "exponential": lambda s: {"avg_fn": s.get_ema_avg_fn(0.7)}, "lists": lambda s: {
        "multi_avg_fn": s.get_swa_multi_avg_fn()}, "exponential lists": lambda s: {
        "multi_avg_fn": s.get_ema_multi_avg_fn(0.7)}, "on the way": lambda s: {
        "avg_fn": lambda average, value, count: (average * count + value) / (count + 1)}}


def model_of(library: Any) -> Any:
    library.manual_seed(3)
    nn = library.nn
    return nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 2).double())


def moved(library: Any, name: str, use_buffers: bool) -> list[Any]:
    """The state, the text, and whether gradients are recorded, after four updates of an averaged model."""
    model, swa = model_of(library), library.optim.swa_utils
    average = swa.AveragedModel(model, use_buffers=use_buffers, **AVERAGES[name](swa))
    found: list[Any] = [str(average), [*average.state_dict()]]
    for step in range(4):
        try:
            average.update_parameters(model)
        except RuntimeError as error:                         # integers cannot be averaged in lists
            return [*found, str(error).partition(".")[0]]
        with library.no_grad():
            for i, p in enumerate(model.parameters()):
                p.add_(library.ones_like(p), alpha=0.1 * (step + i))
            model[1].running_mean.add_(0.3)
            model[1].num_batches_tracked.add_(3)
        found += [as_array(value).copy() for value in average.state_dict().values()]
        found += [str(value.dtype) for value in average.state_dict().values()]
        found += [p.requires_grad for p in average.parameters()]
    again = swa.AveragedModel(model_of(library), use_buffers=use_buffers)
    again.load_state_dict(average.state_dict())
    again.update_parameters(model)
    return [*found, *(as_array(value) for value in copy.deepcopy(again).state_dict().values())]


def assert_alike(name: str, theirs: list[Any], ours: list[Any]) -> None:
    for a, b in zip(ours, theirs, strict=True):
        if isinstance(b, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7, err_msg=name)
        else:
            assert str(a).replace("retrograd", "torch") == str(b)


@pytest.mark.parametrize("use_buffers", [False, True])
@pytest.mark.parametrize("name", AVERAGES)
def test_averages_update_for_update(name: str, use_buffers: bool) -> None:
    assert_alike(name, *(moved(library, name, use_buffers) for library in LIBRARIES))


def test_the_functions_alone() -> None:
    for name in ("get_swa_multi_avg_fn", "get_ema_multi_avg_fn"):
        for dtype in ("float32", "float64", "complex64", "int64"):
            for count in (3, "tensor"):
                found = []
                for library in LIBRARIES:
                    kind = getattr(library, dtype)
                    averages, values = library.tensor([1, 5, 9]).to(kind), library.tensor([4, -7, 23]).to(kind)
                    update = getattr(library.optim.swa_utils, name)()
                    outcome: Any
                    try:
                        update([averages], [values], library.tensor(3) if count == "tensor" else count)
                        outcome = as_array(averages)
                    except RuntimeError as error:
                        outcome = str(error).partition(".")[0]
                    found.append([outcome])
                assert_alike(f"{name} {dtype} {count}", *found)


def test_statistics_of_batches() -> None:
    found = []
    for library in LIBRARIES:
        model = library.optim.swa_utils.AveragedModel(model_of(library).float()).eval()
        batches = [library.randn(5, 3) for _ in range(3)]
        library.optim.swa_utils.update_bn([batches[0], (batches[1], 1), [batches[2]]], model)
        layer = model.module[1]
        found.append([as_array(layer.running_mean), as_array(layer.running_var), layer.num_batches_tracked.item(),
                      layer.momentum, model.training])
        library.optim.swa_utils.update_bn([1], library.nn.Linear(1, 1))
    assert_alike("update_bn", *found)


def course(library: Any, **options: Any) -> list[Any]:
    """Rates of nine epochs, the state, and the rate of a loaded schedule."""
    groups = [{"params": [library.nn.Parameter(library.ones(1))], "lr": rate} for rate in (0.5, 0.1)]
    optimizer = library.optim.SGD(groups)
    schedule = library.optim.swa_utils.SWALR(optimizer, **options)
    found: list[Any] = []
    for _ in range(9):
        found.append(np.array(schedule.get_last_lr()))
        optimizer.step()
        schedule.step()
    found.append(sorted(schedule.state_dict()))
    again = library.optim.swa_utils.SWALR(optimizer, swa_lr=3)
    again.load_state_dict(pickle.loads(pickle.dumps(schedule.state_dict())))
    again.step()
    return [*found, np.array(again.get_last_lr()), again.anneal_func(0.3), sorted(optimizer.param_groups[0])]


@pytest.mark.parametrize("options", [
    {"swa_lr": 0.05}, {"swa_lr": [0.05, 0.3], "anneal_epochs": 4}, {"swa_lr": 0.05, "anneal_epochs": 0},
    {"swa_lr": 0.05, "anneal_epochs": 5, "anneal_strategy": "linear"}])
def test_rates_epoch_for_epoch(options: dict[str, Any]) -> None:
    assert_alike("SWALR", *(course(library, **options) for library in LIBRARIES))


def optimizer_of(library: Any) -> Any:
    return library.optim.SGD([library.nn.Parameter(library.ones(1))])


REFUSED: list[Any] = [
    lambda t: t.optim.swa_utils.get_ema_avg_fn(1.5), lambda t: t.optim.swa_utils.get_ema_multi_avg_fn(-0.1),
    lambda t: t.optim.swa_utils.AveragedModel(t.nn.Linear(1, 1), avg_fn=max, multi_avg_fn=max),
    lambda t: t.optim.swa_utils.SWALR(optimizer_of(t), [0.1, 0.2]),
    lambda t: t.optim.swa_utils.SWALR(optimizer_of(t), 0.1, anneal_strategy="none"),
    lambda t: t.optim.swa_utils.SWALR(optimizer_of(t), 0.1, anneal_epochs=-1),
    lambda t: t.optim.swa_utils.SWALR(optimizer_of(t), 0.1, anneal_epochs=1.5)]


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: Any) -> None:
    compare(case)
