"""torch.fx._symbolic_trace: the tracer's functions."""

from __future__ import annotations

from typing import Any

from ..foundations.names import refused, refused_class

__all__ = ["Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]

Tracer = refused_class("torch.fx.Tracer")
symbolic_trace = refused("torch.fx.symbolic_trace")


def wrap(fn_or_name: Any) -> Any:
    """The function, or its name, as it is. Raises RuntimeError for anything else."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def is_fx_tracing() -> bool:
    """Whether the program is being traced: no."""
    return False


def is_fx_symbolic_tracing() -> bool:
    """Whether the program is being traced: no."""
    return False
