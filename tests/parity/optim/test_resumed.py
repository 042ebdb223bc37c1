"""A checkpoint of either package goes on in the other, with the same losses, rates and results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import retrograd
from comparing import resumed

STEPS = 4
pytestmark = pytest.mark.filterwarnings("ignore")


def interrupted(before: Any, after: Any, seed: int) -> list[list[float]]:
    """What a program says whose first half runs in one library, and whose second half in another."""
    training = resumed.begun(before, seed)
    first = resumed.run(training, STEPS)
    return [first, resumed.run(resumed.resumed(after, seed, resumed.saved(training)), STEPS)]


def not_interrupted(seed: int) -> list[list[float]]:
    training = resumed.begun(retrograd, seed)
    return [resumed.run(training, STEPS), resumed.run(training, STEPS)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(80))
def test_a_program_that_is_resumed_goes_on_as_before(seed: int) -> None:
    expected = interrupted(torch, torch, seed)
    found = {"resumed": interrupted(retrograd, retrograd, seed), "from PyTorch": interrupted(torch, retrograd, seed),
             "into PyTorch": interrupted(retrograd, torch, seed),
             "not interrupted": not_interrupted(seed)}
    for name, said in found.items():
        for place, (ours, theirs) in enumerate(zip(said, expected)):
            np.testing.assert_allclose(ours, theirs, rtol=2e-3 * 5 ** place, atol=2e-3 * 5 ** place, err_msg=name)
