"""torch.autograd: gradients, Functions, grad modes, Jacobians, checks."""

from typing import TYPE_CHECKING

from ..names import missing
from ..tensors.recording.saved_values import SavedTensor
from . import anomaly_mode, function, functional, grad_mode, graph, profiler, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .grad_mode import (
    enable_grad, enforce_grad_layout_policy, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled)
from .gradcheck import gradcheck, gradgradcheck
from .profiler_activities import ProfilerActivity, kineto_available
from .variable import Variable

__all__ = ["Function", "ProfilerActivity", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly",
           "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "graph", "inference_mode", "kineto_available", "no_grad", "profiler",
           "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]
if not TYPE_CHECKING:
    __getattr__ = missing(__name__, __all__, modules=["forward_ad"])
