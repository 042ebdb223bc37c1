"""Options of optimizers, good ones and bad ones: what an optimizer shows, or the error, is PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd

OPTIMIZERS = ("SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "Rprop", "ASGD",
              "LBFGS", "SparseAdam", "Adafactor", "Muon")
NAN = float("nan")
OPTIONS: list[Callable[[Any], dict[str, Any]]] = [
    *[lambda t, lr=lr: {"lr": lr} for lr in (-1, 0, 1, NAN, "a", None)],
    lambda t: {"lr": t.tensor(0.1)}, lambda t: {"lr": t.tensor([0.1])}, lambda t: {"lr": t.tensor([0.1, 0.2])},
    *[lambda t, betas=betas: {"betas": betas} for betas in ((1.0, 0.9), (0.9,), 0.9, (0.5, NAN), ("a", 0.5), (0.9, 1))],
    lambda t: {"betas": (t.tensor(0.9), t.tensor(0.5))}, lambda t: {"betas": (t.tensor(0.9), 0.5)},
    *[lambda t, name=name, value=value: {name: value} for name in ("weight_decay", "eps", "momentum", "alpha", "rho",
                                                                   "momentum_decay", "lr_decay", "lambd")
      for value in (-1, NAN, 2, "a")],
    *[lambda t, name=name: {name: True} for name in ("foreach", "fused", "capturable", "differentiable", "maximize",
                                                     "amsgrad", "nesterov", "centered", "other")],
    lambda t: {"fused": True, "foreach": True}, lambda t: {"fused": True, "differentiable": True},
    lambda t: {"momentum": 0.9, "nesterov": True}, lambda t: {"momentum": 1, "nesterov": True, "dampening": 1},
    lambda t: {"etas": (0.5, 0.2)}, lambda t: {"etas": (0.5,)}, lambda t: {"step_sizes": (1, 0)},
]


def outcome(package: Any, name: str, options: Callable[[Any], dict[str, Any]]) -> Any:
    """The text of an optimizer with these options, or the error."""
    try:
        return repr(getattr(package.optim, name)([package.nn.Parameter(package.ones(2, 2))], **options(package)))
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_options(name: str) -> None:
    found = [outcome(retrograd, name, options) for options in OPTIONS]
    assert found == [outcome(torch, name, options) for options in OPTIONS]
