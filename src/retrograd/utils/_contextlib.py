"""Blocks that are decorators, too. A decorated generator is in its block only while it runs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Generator
from typing import Any


def context_decorator(ctx: Any, func: Callable[..., Any]) -> Any:
    """The function `func` with each call in a block `ctx()`. `ctx` is a block itself, or a function that makes one.

    Raises RuntimeError for a class, and AssertionError for a block that can be called.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous "
            "which interface to use.  If you intended to pass a context manager factory, rewrite your call as "
            "context_decorator(lambda: ctx()); if you intended to pass a context manager directly, rewrite your call "
            "as context_decorator(lambda: ctx)")
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have "
            "the context manager applied; additionally, decorating a class at definition-site will prevent use of the "
            "identifier as a conventional type.  To specify which methods to decorate, decorate each of them "
            "individually.")
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isgeneratorfunction(func):
        return _wrap_generator(make, func)

    @functools.wraps(func)
    def decorate_context(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return decorate_context


def _wrap_generator(make: Callable[[], Any], func: Callable[..., Any]) -> Any:
    """The generator function with each step of a generator in a block of its own."""
    @functools.wraps(func)
    def generator_context(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        inner = func(*args, **kwargs)
        try:
            with make():
                value = inner.send(None)
            while True:
                try:
                    request = yield value
                except GeneratorExit:
                    with make():
                        inner.close()
                    raise
                except BaseException as error:
                    with make():
                        value = inner.throw(error)
                else:
                    with make():
                        value = inner.send(request)
        except StopIteration as end:
            return end.value

    return generator_context


class _DecoratorContextManager:
    """A block that is a decorator, too. Each call of the function has a block of its own, which `clone` makes."""

    def __call__(self, orig_func: Any) -> Any:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        raise NotImplementedError

    def clone(self) -> Any:
        """Another block of the same kind."""
        return type(self)()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """A block without options. The class itself is a decorator."""

    def __new__(cls, orig_func: Any = None) -> Any:
        made = super().__new__(cls)
        return made if orig_func is None else made(orig_func)
