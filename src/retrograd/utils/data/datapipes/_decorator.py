"""Decorators of data pipes: the name as a method, checks of arguments and samples, and a warning of random order."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, get_args, get_origin, get_type_hints

from .datapipe import IterDataPipe, MapDataPipe


class functional_datapipe:
    """Decorate a class of pipes: all pipes get a method of this name that makes a pipe of the class.

    >>> from retrograd.utils.data.datapipes.iter import IterableWrapper
    >>> @functional_datapipe("doubled")
    ... class Doubled(IterDataPipe):
    ...     def __init__(self, source):
    ...         self.source = source
    ...     def __iter__(self):
    ...         for sample in self.source:
    ...             yield 2 * sample
    >>> list(IterableWrapper([1, 2]).doubled())
    [2, 4]
    """

    def __init__(self, name: str, enable_df_api_tracing: bool = False) -> None:
        self.name, self.enable_df_api_tracing = name, enable_df_api_tracing

    def __call__(self, cls: Any) -> Any:
        kind = MapDataPipe if isinstance(cls, type) and issubclass(cls, MapDataPipe) else IterDataPipe
        kind.register_datapipe_as_function(self.name, cls, self.enable_df_api_tracing)
        return cls


class _State:
    """The switches of this module, for the whole program."""

    determinism = False
    validation = True


class guaranteed_datapipes_determinism:
    """A context in which pipes that are marked by `non_deterministic` raise TypeError when they are made."""

    def __init__(self) -> None:
        self.prev, _State.determinism = _State.determinism, True

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _State.determinism = self.prev


class non_deterministic:
    """Mark a class of pipes whose samples come in no certain order.

    Instead of the class, the argument may be a function of the arguments of the class. The function says whether the
    order is uncertain for these arguments.
    """

    def __init__(self, arg: Any) -> None:
        self.cls: Any = None
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError("Only `IterDataPipe` can be decorated with `non_deterministic`, but "
                                f"{arg.__name__} is found")
            self.cls = arg
        elif isinstance(arg, Callable):  # type: ignore[arg-type]
            self.deterministic_fn = arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args: Any, **options: Any) -> Any:
        if self.cls is not None:
            if _State.determinism:
                raise TypeError(self._refusal("non-deterministic"))
            return self.cls(*args, **options)
        if not (isinstance(args[0], type) and issubclass(args[0], IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {args[0].__name__} is found")
        self.cls = args[0]
        return self.deterministic_wrapper_fn

    def _refusal(self, what: str) -> str:
        return (f"{self.cls.__name__} is {what}, but you set 'guaranteed_datapipes_determinism'. You can turn off "
                "determinism for this DataPipe if that is acceptable for your application")

    def deterministic_wrapper_fn(self, *args: Any, **options: Any) -> Any:
        """Make a pipe, if its arguments allow it."""
        uncertain = self.deterministic_fn(*args, **options)
        if not isinstance(uncertain, bool):
            raise TypeError("deterministic_fn of `non_deterministic` decorator is required to return a boolean value, "
                            f"but {type(uncertain)} is found")
        if _State.determinism and uncertain:
            raise TypeError(self._refusal("non-deterministic with the inputs"))
        return self.cls(*args, **options)


def argument_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function: an argument whose hint is a class of pipes must be a pipe, or TypeError is raised."""
    signature = inspect.signature(f)
    hints = get_type_hints(f)

    @wraps(f)
    def checked(*args: Any, **options: Any) -> Any:
        for name, value in signature.bind(*args, **options).arguments.items():
            hint = hints.get(name)
            if isinstance(hint, type) and issubclass(hint, IterDataPipe) and not isinstance(value, IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(value)}")
        return f(*args, **options)

    return checked


class runtime_validation_disabled:
    """A context in which `runtime_validation` checks nothing."""

    def __init__(self) -> None:
        self.prev, _State.validation = _State.validation, False

    def __enter__(self) -> None:
        pass

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _State.validation = self.prev


def runtime_validation(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `__iter__` of a pipe: each sample must have the type in ``Iterator[type]``; if not, RuntimeError."""
    if getattr(f, "__name__", "") != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")
    hint = get_type_hints(f).get("return")
    expected = get_args(hint)[0] if get_args(hint) else object
    plain = get_origin(expected) or expected

    @wraps(f)
    def __iter__(self: Any) -> Iterator[Any]:
        for sample in f(self):
            if _State.validation and isinstance(plain, type) and not isinstance(sample, plain):
                raise RuntimeError(f"Expected an instance as subtype of {expected}, but found {sample}({type(sample)})")
            yield sample

    return __iter__
