"""torch.autograd.profiler_util: the classes of a profile's events, by the name of PyTorch's module."""

from __future__ import annotations

from .profiler_events import FormattedTimesMixin, FunctionEvent, FunctionEventAvg, Interval, Kernel
from .profiler_report import EventList

__all__ = ["EventList", "FormattedTimesMixin", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]
