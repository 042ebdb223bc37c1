"""torch._C._nn: functions of `torch.nn.functional`, under the path of PyTorch's compiled core."""

from typing import Any

from ..foundations.devices import device
from ..nn import functional
from ..nn.modules.module.conversion import target


def __getattr__(name: str) -> Any:
    return getattr(functional, name)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[device | None, Any, bool, Any]:
    """The device, the dtype, whether to wait, and the memory format that the arguments of `Module.to` name."""
    place, dtype, memory_format = target(*args, **kwargs)
    place = getattr(args[0], "device", place) if args else place
    non_blocking = kwargs.get("non_blocking", any(arg is True for arg in args[1:]))
    return None if place is None else device(place), dtype, non_blocking, memory_format
