"""Devices by name: the CPU, where everything is computed; `meta`, without memory; others raise an error."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

from ..foundations.errors import kind_of, noted

# PyTorch's device types, in its order. Programs may name types that are not available here.
KINDS = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
         "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")
_SPEC = re.compile(r"([a-z]+)(?::(0|[1-9]\d*))?\Z")

# It has PyTorch's name of the type, so Python's errors about its attributes are the errors about PyTorch's devices.
_SLOTTED = type("torch.device", (), {"__slots__": ()})()


class device:
    """A place for memory: `device("cpu")`, `device("cuda", 0)`, `device("cuda:0")`.

    >>> device("cpu")
    device(type='cpu')

    Raises RuntimeError for an invalid device name, and for a number if there is no accelerator.
    """

    __module__ = "retrograd"                                 # where programs find it
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            kind, number = type.type, type.index
        elif isinstance(type, int) and not isinstance(type, bool):
            kind, number = "cuda", _checked_accelerator(_checked_index(type))
        else:
            kind, number = _parsed(type)
            if index is not None:
                if number is not None:
                    raise RuntimeError("type (string) must not include an index because index was passed explicitly: "
                                       f"{type}")
                number = _checked_index(index)
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", number)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        setattr(_SLOTTED, name, value)                       # raises

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return device, (self.type, self.index)

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


def _parsed(name: Any) -> tuple[str, int | None]:
    """The type and the index in a name such as "cuda:1". Raises RuntimeError for other names, TypeError for no name."""
    if not isinstance(name, str):
        raise TypeError(f"device() received an invalid combination of arguments - got ({kind_of(name)}), but expected "
                        "one of:\n * (torch.device device)\n      didn't match because some of the arguments have "
                        f"invalid types: (!{kind_of(name)}!)\n * (str type, int index = -1)\n")
    if not name:
        raise RuntimeError("Device string must not be empty")
    match = _SPEC.match(name)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{name}'")
    if match[1] not in KINDS:
        raise RuntimeError(f"Expected one of {', '.join(KINDS)} device type at start of device string: {match[1]}")
    return match[1], None if match[2] is None else int(match[2])


def _checked_index(index: Any) -> int:
    """The index of a device. Raises TypeError for other types than int, RuntimeError for negative numbers."""
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(f"device(): argument 'index' (position 2) must be int, not {kind_of(index)}")
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return index


def _checked_accelerator(index: int) -> int:
    """The index of an accelerator. Raises RuntimeError if there is none."""
    if not cuda_count():
        raise noted(
            RuntimeError("Cannot access accelerator device when none is available."),
            because=f"the number {index} names an accelerator")
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
