"""Averages of parameters, `torch.optim.swa_utils`: their definitions, and the schedule that goes with them."""

from __future__ import annotations

import math

import pytest

import retrograd as torch
from retrograd import nn
from retrograd.optim.swa_utils import (
    SWALR,
    AveragedModel,
    get_ema_avg_fn,
    get_ema_multi_avg_fn,
    get_swa_multi_avg_fn,
    update_bn,
)


def averaged(average: AveragedModel, model: nn.Linear, values: list[float]) -> list[float]:
    found = []
    for value in values:
        nn.init.constant_(model.weight, value)
        average.update_parameters(model)
        found.append(average.module.weight.item())
    return found


def test_each_value_has_the_same_weight() -> None:
    for options in ({}, {"multi_avg_fn": get_swa_multi_avg_fn()}):
        model = nn.Linear(1, 1, bias=False)
        assert averaged(AveragedModel(model, **options), model, [1, 3, 8]) == pytest.approx([1, 2, 4])


def test_exponential_averages() -> None:
    for options in ({"avg_fn": get_ema_avg_fn(0.75)}, {"multi_avg_fn": get_ema_multi_avg_fn(0.75)}):
        model = nn.Linear(1, 1, bias=False)
        assert averaged(AveragedModel(model, **options), model, [1, 5, 2]) == pytest.approx([1, 2, 2])


def test_the_copy_is_independent_and_counts() -> None:
    model = nn.BatchNorm1d(2)
    average, with_buffers = AveragedModel(model), AveragedModel(model, use_buffers=True)
    assert [*average.state_dict()] == ["n_averaged", "module.weight", "module.bias", "module.running_mean",
                                       "module.running_var", "module.num_batches_tracked"]
    for value in (2.0, 4.0):
        model.get_buffer("running_mean").fill_(value)
        average.update_parameters(model)
        with_buffers.update_parameters(model)
    assert average.module.running_mean.tolist() == [4.0, 4.0]
    assert with_buffers.module.running_mean.tolist() == [3.0, 3.0]
    assert average.n_averaged.item() == 2
    assert average(torch.ones(3, 2)).shape == (3, 2)


def test_integers_are_averaged_towards_zero() -> None:
    average = torch.tensor([10, 1])
    get_ema_multi_avg_fn(0.5)([average], [torch.tensor([5, 4])], 1)
    assert average.tolist() == [7, 2]


def test_statistics_are_means_over_all_batches() -> None:
    model = nn.Sequential(nn.BatchNorm1d(1)).eval()
    update_bn([torch.tensor([[0.0], [2.0]]), (torch.tensor([[4.0], [6.0]]), "label")], model)
    layer = model[0]
    assert (layer.running_mean.item(), layer.running_var.item(), layer.momentum) == (3.0, 2.0, 0.1)
    assert not model.training


def test_rates_move_to_the_last_one() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    schedule = SWALR(optimizer, 0.2, anneal_epochs=4)
    rates = []
    for _ in range(6):
        optimizer.step()
        schedule.step()
        rates += schedule.get_last_lr()
    assert rates == pytest.approx([0.6 + 0.4 * math.cos(math.pi * min(k, 4) / 4) for k in range(1, 7)])
    with pytest.warns(UserWarning, match="please use `get_last_lr"):
        schedule.get_lr()


def test_what_is_refused() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))])
    for options, message in (({"anneal_strategy": "none"}, "anneal_strategy must be one of 'cos' or 'linear', inst"),
                             ({"anneal_epochs": 1.5}, "anneal_epochs must be equal or greater than 0, got 1.5")):
        with pytest.raises(ValueError, match=message):
            SWALR(optimizer, 0.1, **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Invalid decay value 2 provided"):
        get_ema_avg_fn(2)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn should be provided"):
        AveragedModel(nn.Linear(1, 1), avg_fn=get_ema_avg_fn(), multi_avg_fn=get_ema_multi_avg_fn())
