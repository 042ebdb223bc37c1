"""torch._dynamo.config: the switches of PyTorch's compiler. A program may set them, and they change nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

accumulated_cache_size_limit = accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = False
assume_static_by_default = automatic_dynamic_shapes = True
cache_size_limit = recompile_limit = 8
capture_dynamic_output_shape_ops = capture_scalar_outputs = False
disable = error_on_recompile = fail_on_recompile_limit_hit = False
dynamic_shapes = force_parameter_static_shapes = guard_nn_modules = inline_inbuilt_nn_modules = optimize_ddp = True
log_file_name: str | None = None
specialize_float = specialize_int = suppress_errors = verbose = False


@contextmanager
def patch(changes: dict[str, Any] | str | None = None, value: Any = None, **more: Any) -> Iterator[None]:
    """A context, or a decorator, in which switches have other values. A switch is given by name, or in a dict."""
    module = sys.modules[__name__]
    named = {changes: value} if isinstance(changes, str) else changes or {}
    before = {name: getattr(module, name) for name in {**named, **more}}
    vars(module).update(named, **more)
    try:
        yield
    finally:
        vars(module).update(before)
