"""torch._vmap_internals: `vmap` as it was before `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0,
          allow_none_pass_through: bool = False) -> Callable[..., Any]:
    """`torch.vmap`."""
    return torch.vmap(func, in_dims, out_dims)


vmap = _vmap
