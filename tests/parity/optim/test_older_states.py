"""States that older releases of PyTorch have saved are loaded: with fewer options, and with floats for tensors."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from comparing.optimizers import usual_optimizers
from comparing.same_text import same

# What a group of an old state may lack.
LACKING = {"modes": {"maximize", "capturable", "foreach", "differentiable", "fused"},
           "more": {"maximize", "capturable", "foreach", "differentiable", "fused", "amsgrad", "nesterov", "momentum",
                    "centered", "decoupled_weight_decay"}, "nothing": set[str]()}


def told(t: Any, name: str, lacking: set[str], numbers: bool) -> list[Any]:
    """Five steps, of which the last three are those of an optimizer that has loaded an old state."""
    t.manual_seed(3)
    p = t.nn.Parameter(t.randn(3, 2))
    optimizer = getattr(t.optim, name)([p], lr=0.1)

    def step(optimizer: Any) -> None:
        p.grad = p.detach().sin() + 0.1
        optimizer.step()

    step(optimizer)
    step(optimizer)
    state = copy.deepcopy(optimizer.state_dict())
    for group in state["param_groups"]:
        for option in lacking & {*group} - ({"momentum"} if name == "SGD" else set()):
            del group[option]
    for entry in state["state"].values():
        for key, value in entry.items() if numbers else ():
            if t.is_tensor(value) and value.dim() == 0:
                entry[key] = float(value)
    other = getattr(t.optim, name)([p])
    other.load_state_dict(state)
    found = []
    for _ in range(3):
        step(other)
        found.append([round(float(x), 4) for x in p.detach().flatten()])
    kinds = {key: str(getattr(value, "dtype", type(value))) for key, value in other.state[p].items()}
    return [*found, {key: value for key, value in sorted(other.param_groups[0].items()) if key != "params"}, kinds]


@pytest.mark.parametrize("name", usual_optimizers())
@pytest.mark.parametrize("lacking", LACKING)
@pytest.mark.parametrize("numbers", [False, True])
def test_a_state_is_loaded(name: str, lacking: str, numbers: bool) -> None:
    same(lambda t: told(t, name, LACKING[lacking], numbers))
