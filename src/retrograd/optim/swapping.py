"""Run an optimizer for a while on other parameters and another state."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


@contextmanager
def swap_in_optimizer_params_and_state(optimizer: Optimizer, swapin_parameters: Mapping[str, Any],
                                       swapin_optim_state: Mapping[str, Any]) -> Iterator[None]:
    """Inside the block, the optimizer has other parameters and another state; afterwards its own again.

    `swapin_parameters` are tensors by their names, in the order of the optimizer's parameters. `swapin_optim_state` has
    the form of `optimizer.state_dict()`. Its tensors are used, not copied. Raises RuntimeError for another form.

    >>> import retrograd as torch
    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.)
    >>> other = torch.zeros(1)
    >>> other.grad = torch.ones(1)
    >>> with torch.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, optimizer.state_dict()):
    ...     optimizer.step()
    >>> other, optimizer.param_groups[0]["params"][0].item()
    (tensor([-1.]), 1.0)
    """
    state, groups = (swapin_optim_state.get(name) for name in ("state", "param_groups"))
    if not isinstance(state, dict):
        raise RuntimeError("swap_in_optimizer_params_and_state requires swapin_optim_state['state'] to be a dict "
                           f"mapping packed parameter ids to per-param state dicts, got {type(state).__name__}.")
    numbers = [number for group in groups or () for number in group["params"]]
    if len(numbers) != len(swapin_parameters) or len(groups or ()) != len(optimizer.param_groups):
        raise RuntimeError("swap_in_optimizer_params_and_state requires as many parameters and groups as the optimizer "
                           f"has, got {len(swapin_parameters)} parameters and {len(groups or ())} groups.")
    tensors = dict(zip(numbers, swapin_parameters.values(), strict=True))
    own = optimizer.param_groups, optimizer.state
    optimizer.param_groups = [{**group, "params": [tensors[number] for number in group["params"]]}
                              for group in groups or ()]
    optimizer.state = defaultdict(dict, {tensors[number]: dict(values) for number, values in state.items()})
    try:
        yield
    finally:
        optimizer.param_groups, optimizer.state = own
