"""Branches, loops and calls in parallel as functions, which PyTorch's compiler needs. Here they are Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .foundations.futures import Future
from .foundations.names import missing

__all__ = ["cond", "fork", "wait", "while_loop"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """`true_fn(*operands)` if `pred` holds, else `false_fn(*operands)`.

    >>> import retrograd as torch
    >>> torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(2),))
    tensor([2., 2.])
    """
    return (true_fn if pred else false_fn)(*operands)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """The values after the loop `while cond_fn(*values): values = body_fn(*values)`, which starts with the inputs.

    >>> import retrograd as torch
    >>> torch.while_loop(lambda i: i < 3, lambda i: (i + 1,), (torch.tensor(0),))
    (tensor(3),)
    """
    values = carried_inputs
    while cond_fn(*values):
        values = body_fn(*values)
        if isinstance(values, list):
            values = tuple(values)
    return values


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Call the function at once. Returns a future with the result, for `wait`."""
    future: Future[Any] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: Future[Any]) -> Any:
    """The result of the call that `fork` made."""
    return future.wait()
