"""`meta` as the device of new tensors: `with torch.device("meta")`, and `torch.set_default_device("meta")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...foundations.devices import Chosen, device as Device, on_meta
from ..recording.overriding import local
from ..state.dispatch import DISPATCH

# The functions that make tensors of nothing but their arguments.
_MAKERS = frozenset((
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty", "empty_permuted", "empty_strided",
    "eye", "fftfreq", "full", "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "ones", "rand",
    "randint", "randn", "randperm", "range", "rfftfreq", "scalar_tensor", "tensor", "tril_indices", "triu_indices",
    "zeros"))


class DefaultDevice:
    """A mode that names the device to each function that makes tensors, if the call names none."""

    def __init__(self, place: Device) -> None:
        self.place = place

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in _MAKERS and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": self.place}
        return func(*args, **kwargs)


def enter(place: Device) -> Callable[[], None]:
    """Make new tensors on this device. Returns the function that ends this."""
    before, mode, thread = Chosen.device, DefaultDevice(place), local.thread
    Chosen.device, thread.modes = place, [*thread.modes, mode]
    DISPATCH.watch(1)

    def leave() -> None:
        Chosen.device, thread.modes = before, [other for other in thread.modes if other is not mode]
        DISPATCH.watch(-1)

    return leave


_default: list[Callable[[], None]] = []


def choose(place: Device) -> None:
    """Make new tensors on this device from now on."""
    while _default:
        _default.pop()()
    if on_meta(place):
        _default.append(enter(place))
