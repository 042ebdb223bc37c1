"""torch._C._nn: functions of `torch.nn.functional`, under the path of PyTorch's compiled core."""

from typing import Any

from ..nn import functional


def __getattr__(name: str) -> Any:
    return getattr(functional, name)
