"""torch.autograd.graph: nodes of the graph and edges to them, as users hold them, and hooks on several at once."""

from ..memory import memory_held
from ..mutation import allow_mutation_on_saved_tensors
from ..saved_tensors import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from .devices import (
    region_activation_memory_budget, set_override_stale_capture_stream, set_warn_on_accumulate_grad_stream_mismatch)
from .edges import GradientEdge, Node, get_gradient_edge, increment_version, register_multi_grad_hook
from ...foundations.names import hint_at_missing_names

__all__ = ["GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
           "get_gradient_edge", "increment_version", "memory_held", "region_activation_memory_budget",
           "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
           "set_override_stale_capture_stream", "set_warn_on_accumulate_grad_stream_mismatch"]

# Users find the classes in this module.
for _public in (GradientEdge, Node, save_on_cpu, saved_tensors_hooks):
    _public.__module__ = __name__

hint_at_missing_names(__name__)
