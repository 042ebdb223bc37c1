"""torch.autograd: gradients, Functions, grad modes, Jacobians, checks. A name is imported when it is first used."""

import sys
from typing import TYPE_CHECKING

from ..foundations.names import inside, late
# These functions have the names of their files: an import of such a file alone must not put it in the function's place.
from .backward import _is_checkpoint_valid as _is_checkpoint_valid, backward as backward, grad as grad
from .gradcheck import gradcheck as gradcheck, gradgradcheck as gradgradcheck

torch = sys.modules[__name__.partition(".")[0]]              # in PyTorch, too, the module has this name
if TYPE_CHECKING:
    from ..tensors.recording.saved_values import SavedTensor as SavedTensor
    from . import (
        anomaly_mode as anomaly_mode, function as function, functional as functional, grad_mode as grad_mode,
        graph as graph, profiler as profiler, variable as variable)
    from .anomaly_mode import detect_anomaly as detect_anomaly, set_detect_anomaly as set_detect_anomaly
    from .function import Function as Function
    from .grad_mode import (
        enable_grad as enable_grad, enforce_grad_layout_policy as enforce_grad_layout_policy,
        inference_mode as inference_mode, no_grad as no_grad, set_grad_enabled as set_grad_enabled,
        set_multithreading_enabled as set_multithreading_enabled)
    from .profiler_activities import ProfilerActivity as ProfilerActivity, kineto_available as kineto_available
    from .variable import Variable as Variable

__all__ = ["Function", "ProfilerActivity", "SavedTensor", "Variable", "anomaly_mode", "backward", "detect_anomaly",
           "enable_grad", "enforce_grad_layout_policy", "forward_ad", "function", "functional", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "graph", "inference_mode", "kineto_available", "no_grad", "profiler",
           "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable"]
if not TYPE_CHECKING:                                        # a type checker reads the imports above
    _MODULES = ["anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler", "variable"]
    _MODES = ["enable_grad", "enforce_grad_layout_policy", "inference_mode", "no_grad", "set_grad_enabled",
              "set_multithreading_enabled"]
    _FILES = {
        "": " ".join(_MODULES), "anomaly_mode": "detect_anomaly set_detect_anomaly", "function": "Function",
        "grad_mode": " ".join(_MODES), "profiler_activities": "ProfilerActivity kineto_available",
        "variable": "Variable",
    }
    __getattr__, __dir__ = late(__name__, __all__, {
        **inside(_FILES, __name__),
        "SavedTensor": "tensors.recording.saved_values:SavedTensor"})
