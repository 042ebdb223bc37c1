"""Devices by name: the CPU, where everything is computed; `meta`, without memory; others raise an error."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

from ..foundations.errors import invalid_combination, kind_of, noted
from .sealed import Fixed, Sealed

# PyTorch's device types, in its order. Programs may name types that are not available here.
KINDS = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
         "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")
_SPEC = re.compile(r"([a-z]+)(?::(0|[1-9]\d*))?\Z")


class device(Fixed, metaclass=Sealed):
    """A place for memory: `device("cpu")`, `device("cuda", 0)`, `device("cuda:0")`.

    >>> import retrograd as torch
    >>> torch.device("cpu")
    device(type='cpu')

    Raises RuntimeError for an invalid device name, and for a number if there is no accelerator.
    """

    __module__ = "retrograd"                                 # where programs find it
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, *args: Any, **named: Any) -> None:
        if len(args) + len(named) == 1 and not (named and "device" not in named and type(named.get("type")) is not str):
            kind, number = _named(args[0] if args else next(iter(named.values())))
        else:
            kind, number = _with_index(args, named)
        self.type, self.index = kind, number

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        return (self.type, self.index) == (other.type, other.index)

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self) -> device:
        """`with device("cpu"):` makes new tensors on the CPU, and `with device("meta"):` makes meta tensors.

        Raises AssertionError for another device.
        """
        if not on_meta(self):
            checked(self)
        if on_meta(self) or Chosen.device != CPU:
            Chosen.entered.append(Meta.tools().enter(META if on_meta(self) else CPU))
        else:
            Chosen.entered.append(None)
        return self

    def __exit__(self, *error: object) -> None:
        """Make new tensors again on the device of before."""
        leave = Chosen.entered.pop()
        if leave is not None:
            leave()


_WAYS = ("(torch.device device)", "(str type, int index = -1)")


def _named(place: Any) -> tuple[str, int | None]:
    """The type and the index of a device that one argument names. Raises TypeError for an argument of another type."""
    if isinstance(place, device):
        return place.type, place.index
    if isinstance(place, str):
        return _parsed(place)
    if isinstance(place, int) and not isinstance(place, bool):
        if place < 0:
            raise RuntimeError("Device index must not be negative")
        raise noted(
            RuntimeError("Cannot access accelerator device when none is available."),
            because=f"the number {place} names an accelerator")
    kind = kind_of(place)
    if isinstance(place, list):
        kind = f"list of [{', '.join([kind_of(each) for each in place])}]"
    wrong = f"{_WAYS[0]}\n      didn't match because some of the arguments have invalid types: (!{kind}!)"
    raise invalid_combination("device", (place,), {}, wrong, _WAYS[1])


def _with_index(args: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, int | None]:
    """The type and the index of a device from the arguments `type` and `index`. Raises TypeError for others."""
    if len(args) + len(named) < 2 or len(args) > 2:
        wrong = "".join([f"\n      didn't match because some of the keywords were incorrect: {key}" for key in named])
        raise invalid_combination("device", args, named, _WAYS[0] + wrong, _WAYS[1])
    if not args and "type" not in named:
        raise TypeError('device() missing 1 required positional arguments: "type"')
    given = {**dict(zip(("type", "index"), args)), **named}
    for position, name in enumerate(("type", "index"), 1):
        if name in named and position <= len(args):
            raise TypeError(f"device() got multiple values for argument '{name}'")
    for name in given.keys() - {"type", "index"}:
        raise TypeError(f"device() got an unexpected keyword argument '{name}'")
    name, index = given["type"], given["index"]
    if not isinstance(name, str):
        place = " (position 1)" * bool(args)
        raise TypeError(f"device(): argument 'type'{place} must be str, not {kind_of(name)}")
    kind, number = _parsed(name)
    if index is None:
        return kind, number
    if number is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {name}")
    return kind, _checked_index(index, " (position 2)" * (len(args) > 1))


def _parsed(name: str) -> tuple[str, int | None]:
    """The type and the index in a name such as "cuda:1". Raises RuntimeError for other names."""
    if not name:
        raise RuntimeError("Device string must not be empty")
    match = _SPEC.match(name)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{name}'")
    if match[1] not in KINDS:
        raise RuntimeError(f"Expected one of {', '.join(KINDS)} device type at start of device string: {match[1]}")
    return match[1], None if match[2] is None else int(match[2])


def _checked_index(index: Any, place: str) -> int:
    """The index of a device. Raises TypeError for other types than int, RuntimeError for negative numbers."""
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(f"device(): argument 'index'{place} must be int, not {kind_of(index)}")
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


CPU = device("cpu")
# What a function that is asked for a device takes.
DeviceLike = device | str | int
META = device("meta")


class Meta:
    """What makes tensors on the device `meta`. It stands in a higher layer, and `wiring` says where."""

    tools: ClassVar[Callable[[], ModuleType]]


class Chosen:
    """The device of new tensors, and for each `with device(...)` that is entered the function that ends it, or None."""

    device = CPU
    entered: ClassVar[list[Callable[[], None] | None]] = []


def on_meta(place: Any) -> bool:
    """Whether this is the device of tensors without memory, or its name."""
    return place[:4] == "meta" if type(place) is str else type(place) is device and place.type == "meta"


@cache
def cuda_count() -> int:
    """The number of GPUs that CuPy can use, or 0 without CuPy."""
    from importlib.util import find_spec  # imported here, since few programs ask

    if find_spec("cupy") is None:
        return 0
    cupy = importlib.import_module("cupy")
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:          # CuPy is installed, but no driver
        return 0


_ON_CPU = "retrograd computes on the CPU"


def checked(spec: str | device | int | None) -> device:
    """The requested device. Raises PyTorch's error if this build does not have the device."""
    if spec is None:
        return CPU
    place = device(spec)
    if place.type not in ("cpu", "cuda", "meta"):
        if place.type == "xpu":
            raise noted(AssertionError("Torch not compiled with XPU enabled"), because=_ON_CPU)
        if place.type == "mtia":
            raise noted(
                AssertionError("Torch not compiled with MTIA enabled. Ensure you have `import "
                               "mtia.host_runtime.torch_mtia.dynamic_library` in your python src file and include "
                               "`//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"),
                because=_ON_CPU)
        raise noted(RuntimeError(f"PyTorch is not linked with support for {place.type} devices"), because=_ON_CPU)
    if place.type == "meta":
        raise NotImplementedError("This function does not know the device 'meta': make the tensor on the CPU, and move "
                                  "it with .to('meta').")
    if place.type != "cpu":
        raise noted(AssertionError("Torch not compiled with CUDA enabled"), because=_ON_CPU,
                    instead="choose the device with 'cuda' if torch.cuda.is_available() else 'cpu'")
    return CPU
