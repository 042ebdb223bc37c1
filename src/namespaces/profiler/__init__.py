"""torch.profiler: what ran, how often, and for how long, in the steps that a schedule chooses."""

from typing import TYPE_CHECKING

from ..autograd.profiler import record_function
from ..autograd.profiler_activities import DeviceType, ProfilerActivity, kineto_available
from ..foundations.names import missing
from . import profiler
from .profiler import (
    ExecutionTraceObserver, ProfilerAction, _KinetoProfile as _KinetoProfile, profile, schedule, supported_activities,
    tensorboard_trace_handler)

__all__ = ["profile", "schedule", "supported_activities", "tensorboard_trace_handler", "ProfilerAction",
           "ProfilerActivity", "kineto_available", "DeviceType", "record_function", "ExecutionTraceObserver"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, [*__all__, "profiler"])
