"""The functions that have no op of their own, and how an open profile sees their calls.

These functions are composed of operators, or make a tensor without an operator. Reporting each call would cost time
while no profile is open. Another function cannot take their place, because users may hold the function itself. So while
a profile is open in any thread, the function's code is exchanged; the function keeps its identity.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeGuard

from ..modes import local
from ..tensors.tensor import Tensor
from .function import Function

_ROOT = __name__.partition(".")[0]
# PyTorch's name, followed by `=` and the function's own name if the two differ.
TENSOR_FUNCTIONS = """
    matmul matmul=__matmul__ reshape reshape_as view_as expand_as flatten unflatten ravel contiguous to item detach
    outer inner tensordot einsum chain_matmul chunk tensor_split hsplit vsplit hstack vstack dstack column_stack
    diff gradient trapezoid trapz cumulative_trapezoid quantile nanquantile nanmean sum_to_size histogramdd
    take_along_dim ones zeros empty full eye ones_like zeros_like empty_like full_like new_zeros new_ones new_empty
    new_full scalar_tensor arange linspace logspace rand randn randint randperm rand_like randn_like randint_like"""
NN_FUNCTIONS = """
    linear bilinear dropout mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy
    binary_cross_entropy_with_logits cross_entropy_loss=cross_entropy nll_loss_nd=nll_loss cosine_similarity
    pairwise_distance one_hot"""

Naming = Callable[[tuple[Any, ...]], str]


class Exchanged(NamedTuple):
    """A function whose code is exchanged, and its own code and defaults."""

    function: FunctionType
    code: CodeType
    keyword_defaults: dict[str, Any] | None


_exchanged: list[Exchanged] = []
_open = 0
_lock = threading.Lock()


def watch() -> None:
    """Let the functions report to the observer of the calling thread. `unwatch` undoes this."""
    global _open
    with _lock:
        _open += 1
        if _open == 1:
            for function, naming in [*functions()]:
                _exchanged.append(Exchanged(function, function.__code__, function.__kwdefaults__))
                # In this order, and below in the reverse order, because other threads may call the function in between.
                function.__kwdefaults__ = {**(function.__kwdefaults__ or {}), "__watched": _watched(function, naming)}
                function.__code__ = _stand_in.__code__


def unwatch() -> None:
    """Give the functions their code back, unless another profile is open."""
    global _open
    with _lock:
        _open -= 1
        if _open == 0:
            for function, code, keyword_defaults in _exchanged:
                function.__code__ = code
                function.__kwdefaults__ = keyword_defaults
            _exchanged.clear()


def functions() -> Iterator[tuple[FunctionType, Naming]]:
    """The watched functions, each once, with the function that names a call by its arguments."""
    package, nn_functional = sys.modules[_ROOT], sys.modules.get(f"{_ROOT}.nn.functional")
    yield Function.__dict__["apply"].__func__, lambda args: str(args[0].__name__)
    found: set[Any] = set()
    for names, places in ((TENSOR_FUNCTIONS, (Tensor, package)), (NN_FUNCTIONS, (nn_functional,))):
        for entry in names.split():
            shown, _, name = entry.partition("=")
            for place in places:
                function = getattr(place, name or shown, None)
                if _is_exchangeable(function) and function not in found:
                    found.add(function)
                    yield function, _always(f"aten::{shown}")
    optim = sys.modules.get(f"{_ROOT}.optim")
    classes = [] if optim is None else [optim.Optimizer]
    for cls in classes:
        classes += cls.__subclasses__()
        for method in ("step", "zero_grad"):
            function = cls.__dict__.get(method)
            function = getattr(function, "__wrapped__", function)       # a step is wrapped in its hooks
            if _is_exchangeable(function):
                yield function, _of_optimizer(method)


def _is_exchangeable(function: Any) -> TypeGuard[FunctionType]:
    """Whether it is a Python function without closure variables, which would be part of its code."""
    return isinstance(function, FunctionType) and function.__closure__ is None


def _always(name: str) -> Naming:
    return lambda args: name


def _of_optimizer(method: str) -> Naming:
    return lambda args: f"Optimizer.{method}#{type(args[0]).__name__}.{method}"


def _stand_in(*args: Any, __watched: Callable[..., Any], **kwargs: Any) -> Any:
    """The code of a watched function. It finds the function to call among its keyword defaults."""
    return __watched(*args, **kwargs)


def _watched(function: FunctionType, naming: Naming) -> Callable[..., Any]:
    """A wrapper that calls the function with its own code, and tells the observer of this thread, if there is one."""
    original = FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__)
    original.__kwdefaults__ = function.__kwdefaults__

    def watched(*args: Any, **kwargs: Any) -> Any:
        observer = local.thread.observer
        if observer is None:
            return original(*args, **kwargs)
        event = observer.enter(naming(args), observer.shapes_of(args))
        try:
            return original(*args, **kwargs)
        finally:
            observer.leave(event)

    return watched
