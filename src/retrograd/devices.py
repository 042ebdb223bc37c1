"""Devices by name: the CPU, where everything is computed, and other devices, which raise an error."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from typing import Any

# PyTorch's device types, in its order. Programs may name types that are not available here.
KINDS = ("cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
         "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone")
_SPEC = re.compile(r"([a-z]+)(?::(\d+))?\Z")


class device:
    """A place for memory: `device("cpu")`, `device("cuda", 0)`, `device("cuda:0")`.

    >>> device("cpu")
    device(type='cpu')

    Raises RuntimeError for an invalid device name.
    """

    __module__ = "retrograd"                                 # where programs find it
    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int):
            self.type, self.index = "cuda", type
            return
        match = _SPEC.match(type)
        if match is None:
            raise RuntimeError(f"Invalid device string: '{type}'")
        if match[1] not in KINDS:
            raise RuntimeError(f"Expected one of {', '.join(KINDS)} device type at start of device string: {match[1]}")
        self.type = match[1]
        self.index = index if match[2] is None else int(match[2])

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
        """`with device("cpu"):` makes new tensors on the CPU, as always. Raises AssertionError for another device."""
        checked(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: new tensors are on the CPU in any case."""


CPU = device("cpu")


@cache
def cuda_count() -> int:
    """The number of GPUs that CuPy can use, or 0 without CuPy."""
    if importlib.util.find_spec("cupy") is None:
        return 0
    cupy = importlib.import_module("cupy")
    try:
        return int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError:          # CuPy is installed, but no driver
        return 0


def checked(spec: str | device | int | None) -> device:
    """The requested device. Raises PyTorch's error if this build does not have the device."""
    if spec is None:
        return CPU
    if isinstance(spec, int):
        raise RuntimeError(f"Cannot access accelerator device when none is available. "
                           f"The number {spec} names an accelerator.")
    place = device(spec)
    if place.type not in ("cpu", "cuda", "meta"):
        if place.type == "xpu":
            raise AssertionError("Torch not compiled with XPU enabled: retrograd computes on the CPU.")
        raise RuntimeError(f"PyTorch is not linked with support for {place.type} devices: retrograd computes on the "
                           "CPU.")
    if place.type != "cpu":
        raise AssertionError(
            f"Torch not compiled with CUDA enabled: retrograd computes on the CPU; '{place}' is not available here. "
            "Choose the device with `'cuda' if torch.cuda.is_available() else 'cpu'`.")
    return CPU
