"""torch.nn.utils.init: a module without first values."""

from __future__ import annotations

import inspect
from typing import Any

from ...tensors.arguments.generator import get_rng_state, set_rng_state
from ..modules.module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A module of this class, made with these arguments, whose parameters and buffers have memory but no values.

    No random numbers are drawn for the module. Raises RuntimeError if the class is no module, or takes no `device`.

    >>> import retrograd as torch
    >>> torch.nn.utils.skip_init(torch.nn.Linear, 3, 2)
    Linear(in_features=3, out_features=2, bias=True)
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    state = get_rng_state()
    try:
        module = module_cls(*args, **kwargs)
    finally:
        set_rng_state(state)
    return module.to_empty(device=device)
