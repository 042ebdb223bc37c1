"""Whether operations are recorded, per thread: no_grad, enable_grad, set_grad_enabled, inference_mode.

Each is a context manager and a decorator (of functions and of generator functions).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeVar, overload

from ..foundations.errors import noted, warn
from ..foundations.modes import local

F = TypeVar("F", bound=Callable[..., Any])


def is_grad_enabled() -> bool:
    """Whether grad mode is on in this thread: operations are recorded, except inside of `inference_mode`."""
    thread = local.thread
    return thread.enabled if thread.inference else thread.grad


def _enable(mode: bool) -> None:
    thread = local.thread
    if thread.inference:
        thread.enabled = mode
    else:
        thread.grad = mode


def is_inference_mode_enabled() -> bool:
    """Whether this thread is inside `inference_mode`."""
    return local.thread.inference


class _Mode:
    """A switch of this thread: set on entry, restored on exit, even after an exception. A mode may be entered again.

    Most modes switch grad mode, and give that back.
    """

    def __init__(self) -> None:
        self._before: list[Any] = []

    def _switch(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> None:
        self._before.append(is_grad_enabled())
        self._switch()

    def __exit__(self, *error: object) -> None:
        _enable(self._before.pop())

    def clone(self) -> _Mode:
        """A new context manager of the same kind. Each call of a decorated function has its own."""
        return type(self)()

    def __call__(self, orig_func: F) -> F:
        if inspect.isclass(orig_func):
            warn("Decorating classes is deprecated and will be disabled in future versions. You "
                 "should only decorate functions or methods. To preserve the current behavior of "
                 "class decoration, you can directly decorate the `__init__` method and nothing else.", FutureWarning)
        if inspect.isgeneratorfunction(orig_func):
            return _decorated_generator(self, orig_func)

        @functools.wraps(orig_func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return orig_func(*args, **kwargs)

        return inside  # type: ignore[return-value]


def _decorated_generator(mode: _Mode, function: Callable[..., Any]) -> Any:
    """A generator function for which the mode holds while the generator runs, but not between its values."""

    @functools.wraps(function)
    def inside(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        generator = function(*args, **kwargs)
        resume: Callable[[], Any] = functools.partial(next, generator)
        while True:
            try:
                with mode.clone():
                    value = resume()
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield value
            except GeneratorExit:
                with mode.clone():
                    generator.close()
                raise
            except BaseException as error:
                resume = functools.partial(generator.throw, error)
            else:
                resume = functools.partial(generator.send, sent)

    return inside


class _Bare(_Mode):
    """A mode without arguments, which may decorate without parentheses."""

    @overload
    def __new__(cls, orig_func: None = None) -> _Bare: ...
    @overload
    def __new__(cls, orig_func: F) -> F: ...  # type: ignore[misc]
    def __new__(cls, orig_func: Any = None) -> Any:
        if orig_func is None:
            return super().__new__(cls)
        return cls()(orig_func)


class no_grad(_Bare):
    """Operations inside are not recorded: their results require no grad.

    >>> import retrograd as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     y = x * 2
    >>> y.requires_grad
    False
    """

    def __init__(self) -> None:
        super().__init__()

    def _switch(self) -> None:
        _enable(False)


class enable_grad(_Bare):
    """Operations inside are recorded, even inside `no_grad`, but not inside `inference_mode`."""

    def _switch(self) -> None:
        _enable(True)


class set_grad_enabled(_Mode):
    """Switch recording on or off: as a call at once, as a context manager until the end of the block."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        if not isinstance(mode, bool):
            raise noted(
                TypeError("set_grad_enabled(): argument 'enabled' (position 1) must be bool, "
                          f"not {type(mode).__name__}"), "tensors#set-grad-enabled-takes-a-bool")
        self.mode = mode
        self._called = is_grad_enabled()
        _enable(mode)

    def _switch(self) -> None:
        self._before[-1] = self._called
        _enable(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> _Mode:
        """A new context manager that sets the same mode."""
        return type(self)(self.mode)

    def __call__(self, function: F) -> F:
        _enable(self._called)                                # decorating does not set the mode
        return super().__call__(function)


class inference_mode(_Mode):
    """Like `no_grad`, but tensors made inside stay outside of autograd for good."""

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def __enter__(self) -> None:
        thread = local.thread
        self._before.append((thread.grad, thread.inference, thread.enabled))
        self._switch()

    def __exit__(self, *error: object) -> None:
        thread = local.thread
        thread.grad, thread.inference, thread.enabled = self._before.pop()

    def _switch(self) -> None:
        thread = local.thread
        thread.inference, thread.enabled = self.mode, False
        thread.grad = not self.mode

    def clone(self) -> _Mode:
        """A new context manager of the same mode."""
        return type(self)(self.mode)


class _Ignored(_Mode):
    """A setting that is accepted, and that changes nothing."""

    def __init__(self, value: bool) -> None:
        super().__init__()
        self._value = value

    def _switch(self) -> None:
        """Change nothing."""

    def clone(self) -> _Mode:
        """A new context manager with the same value."""
        return type(self)(self._value)


class set_multithreading_enabled(_Ignored):
    """Say whether a backward pass may use several threads. It always uses one."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)


class enforce_grad_layout_policy(_Ignored):
    """Say whether gradients are laid out like their tensors, where PyTorch can choose."""

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)
