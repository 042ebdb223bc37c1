"""What a profile can watch, and the names of PyTorch's profilers of other devices."""

from __future__ import annotations

from collections import defaultdict
from enum import Enum
from typing import ClassVar, NoReturn

from ..foundations.errors import noted


class ProfilerActivity(Enum):
    """What a profile can watch. The only activity that is there is that of the CPU."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5

    def __int__(self) -> int:
        return self.value


class DeviceType(Enum):
    """PyTorch's numbers of the kinds of devices."""

    CPU = 0
    CUDA = 1
    MKLDNN = 2
    OPENGL = 3
    OPENCL = 4
    IDEEP = 5
    HIP = 6
    FPGA = 7
    MAIA = 8
    XLA = 9
    Vulkan = 10
    Metal = 11
    XPU = 12
    MPS = 13
    Meta = 14
    HPU = 15
    VE = 16
    Lazy = 17
    IPU = 18
    MTIA = 19
    PrivateUse1 = 20

    def __int__(self) -> int:
        return self.value


def supported_activities() -> set[ProfilerActivity]:
    """The activities that a profile can watch: that of the CPU."""
    return {ProfilerActivity.CPU}


def kineto_available() -> bool:
    """True: a profile can always be made."""
    return True


class KinetoStepTracker:
    """Counts the steps of training loops. If several parts count, the step is that of the fastest part.

    >>> from retrograd.autograd.profiler import KinetoStepTracker
    >>> before = KinetoStepTracker.current_step()
    >>> KinetoStepTracker.increment_step("loop") - before
    1
    """

    _current_step = 0
    _step_dict: ClassVar[dict[str, int]] = defaultdict(int)

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Begin to count the steps of a part of the program, from the current step on."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget a part of the program. The answer is whether it was known."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step of a part of the program, and return the current step."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        cls._current_step = max(cls._current_step, *cls._step_dict.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """The current step."""
        return cls._current_step


class emit_itt:
    """PyTorch marks operators for Intel's VTune. Here the block runs unmarked."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self) -> emit_itt | None:
        return self if self.enabled else None

    def __exit__(self, *error: object) -> None:
        pass


class emit_nvtx(emit_itt):
    """PyTorch marks operators for Nvidia's tools. An enabled block raises AssertionError: there is no CUDA."""

    def __enter__(self) -> emit_itt | None:
        if self.enabled:
            raise noted(AssertionError("Torch not compiled with CUDA enabled"),
                        because="retrograd computes on the CPU", instead="use torch.autograd.profiler.profile")
        return None


def load_nvprof(path: str) -> NoReturn:
    """PyTorch reads a profile that nvprof wrote. This function raises RuntimeError."""
    raise RuntimeError("retrograd does not read profiles of nvprof. Use torch.autograd.profiler.profile.")
