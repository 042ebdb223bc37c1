"""Modules and tensors that are sent to devices which are not there: PyTorch's results and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import retrograd

MODULES: dict[str, Callable[[Any], Any]] = {
    "no tensors": lambda t: t.nn.ReLU(), "parameters": lambda t: t.nn.Linear(1, 1),
    "a buffer": lambda t: t.nn.BatchNorm1d(1, affine=False),
    "an absent buffer": lambda t: t.nn.BatchNorm1d(1, affine=False, track_running_stats=False)}
PLACES: dict[str, Callable[[Any], Any]] = {
    "none": lambda t: None, "cpu": lambda t: "cpu", "cpu:0": lambda t: "cpu:0", "cuda": lambda t: "cuda",
    "cuda:1": lambda t: t.device("cuda", 1), "xpu:7": lambda t: "xpu:7", "0": lambda t: 0,
    "-1": lambda t: -1, "unknown": lambda t: "foo", "no text": lambda t: "", "mtia": lambda t: "mtia"}
METHODS = ("cuda", "xpu", "ipu", "mtia")


def tried(call: Callable[[], Any]) -> Any:
    """What a call returns, as text, or its error."""
    try:
        return str(call())
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("module", MODULES)
def test_devices_of_modules(module: str, place: str) -> None:
    def outcomes(package: Any) -> list[Any]:
        make = MODULES[module]
        found = [tried(lambda method=method: getattr(make(package), method)(PLACES[place](package)))
                 for method in ("to", *METHODS)]
        return [*found, tried(lambda: make(package).to(PLACES[place](package), package.float64))]

    assert outcomes(retrograd) == outcomes(torch)


@pytest.mark.parametrize("place", PLACES)
def test_devices_of_tensors(place: str) -> None:
    def outcomes(package: Any) -> list[Any]:
        methods = [tried(lambda method=method: getattr(package.ones(1), method)(PLACES[place](package)))
                   for method in METHODS]
        return [*methods, tried(lambda: package.device(PLACES[place](package))),
                tried(lambda: package.ones(1, device=PLACES[place](package)))]

    assert outcomes(retrograd) == outcomes(torch)
