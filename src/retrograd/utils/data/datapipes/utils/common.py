"""Checks of the functions that pipes are given, and the files that pipes read."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import IOBase
from typing import Any, ClassVar

from .....foundations.errors import warn

__all__ = ["StreamWrapper", "get_file_binaries_from_pathnames", "get_file_pathnames_from_root", "match_masks",
           "validate_input_col", "validate_pathname_binary_tuple"]

_NAMED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def validate_input_col(fn: Callable[..., Any], input_col: Any) -> None:
    """Raise ValueError if ``fn`` cannot take as many arguments as there are columns in ``input_col``."""
    try:
        signature = inspect.signature(fn)
    except (ValueError, TypeError):                          # a function of an extension shows no signature
        return
    count = len(input_col) if isinstance(input_col, list | tuple) else 1
    given = [*signature.parameters.values()]
    whole = fn.func if isinstance(fn, functools.partial) else fn
    name = getattr(whole, "__name__", repr(whole))
    only_keyword = [p for p in given if p.kind is inspect.Parameter.KEYWORD_ONLY and p.default is p.empty]
    if only_keyword:
        raise ValueError(f"The function {name} takes {len(only_keyword)} non-default keyword-only parameters, which "
                         "is not allowed.")
    if len(given) < count and not any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in given):
        raise ValueError(f"The function {name} takes {len(given)} parameters, but {count} are required.")
    positional = [p for p in given if p.kind in _NAMED]
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in given):
        fits = count >= sum(p.default is p.empty for p in positional)
    else:
        fits = sum(p.default is p.empty for p in positional) <= count <= len(positional)
    if not fits:
        raise ValueError(f"The function {name} takes {len(positional)} positional parameters, but {count} are "
                         "required.")


def _check_unpickable_fn(fn: Any) -> None:
    """Warn of a lambda or of a function inside a function: they cannot be sent to a worker that is started anew."""
    if not callable(fn):
        raise TypeError(f"A callable function is expected, but {type(fn)} is provided.")
    while isinstance(fn, functools.partial):
        fn = fn.func
    if "<locals>" in getattr(fn, "__qualname__", ""):
        what = "Local"
    elif getattr(fn, "__name__", "") == "<lambda>":
        what = "Lambda"
    else:
        return
    warn(f"{what} function is not supported by pickle, please use regular python function or functools.partial "
         "instead.")


def match_masks(name: str, masks: str | list[str]) -> bool:
    """Whether a file name fits one of the patterns. An empty pattern fits all names."""
    return not masks or any(fnmatch.fnmatch(name, mask) for mask in ([masks] if isinstance(masks, str) else masks))


def get_file_pathnames_from_root(root: str, masks: str | list[str], recursive: bool = False, abspath: bool = False,
                                 non_deterministic: bool = False) -> Iterable[str]:
    """The paths of the files in a folder, in the order of their names; with ``recursive`` also in the folders below."""

    def refuse(error: OSError) -> None:
        warn(f"{error.filename} : {error.strerror}")
        raise error

    if os.path.isfile(root):
        path = os.path.abspath(root) if abspath else root
        if match_masks(os.path.basename(path), masks):
            yield path
        return
    for folder, below, files in os.walk(root, onerror=refuse):
        folder = os.path.abspath(folder) if abspath else folder
        if not non_deterministic:
            files.sort()
            below.sort()
        yield from (os.path.join(folder, name) for name in files if match_masks(name, masks))
        if not recursive:
            break


def get_file_binaries_from_pathnames(pathnames: Iterable[str], mode: str,
                                     encoding: str | None = None) -> Iterator[tuple[str, StreamWrapper]]:
    """Open files: pairs of the path and the stream."""
    for pathname in [pathnames] if not isinstance(pathnames, Iterable) else pathnames:
        if not isinstance(pathname, str):
            raise TypeError(f"Expected string type for pathname, but got {type(pathname)}")
        stream = open(pathname, {"b": "rb", "t": "r"}.get(mode, mode), encoding=encoding)  # noqa: SIM115
        yield pathname, StreamWrapper(stream)


def validate_pathname_binary_tuple(data: Any) -> None:
    """Raise TypeError for what is no pair of a path and a stream of bytes."""
    if not isinstance(data, tuple):
        raise TypeError(f"pathname binary data should be tuple type, but it is type {type(data)}")
    if len(data) != 2:
        raise TypeError(f"pathname binary stream tuple length should be 2, but got {len(data)}")
    if not isinstance(data[0], str):
        raise TypeError(f"pathname within the tuple should have string type pathname, but it is type {type(data[0])}")
    if not isinstance(data[1], IOBase | StreamWrapper):
        raise TypeError("binary stream within the tuple should have IOBase orits subclasses as type, but it is type "
                        f"{type(data[1])}")


class StreamWrapper:
    """A stream that is closed when it is no longer used. It has the attributes of the stream."""

    session_streams: ClassVar[dict[Any, int]] = {}
    debug_unclosed_streams: ClassVar[bool] = False

    def __init__(self, file_obj: Any, parent_stream: Any = None, name: str | None = None) -> None:
        if parent_stream is not None and not isinstance(parent_stream, StreamWrapper):
            raise RuntimeError(f"Parent stream should be StreamWrapper, {type(parent_stream)} was given")
        self.file_obj, self.parent_stream, self.name = file_obj, parent_stream, name
        self.closed, self.child_counter, self.close_on_last_child = False, 0, False
        if parent_stream is not None:
            parent_stream.child_counter += 1

    @classmethod
    def close_streams(cls, v: Any, depth: int = 0) -> None:
        """Close all streams in dicts, lists and tuples."""
        if isinstance(v, StreamWrapper):
            v.close()
        elif depth <= 10 and isinstance(v, dict | list | tuple):
            for value in v.values() if isinstance(v, dict) else v:
                cls.close_streams(value, depth + 1)

    def __getattr__(self, name: str) -> Any:
        if name == "file_obj":
            raise AttributeError(name)
        return getattr(self.file_obj, name)

    def close(self, *args: Any, **kwargs: Any) -> None:
        """Close the stream. The stream that it was made of is closed with its last part."""
        if self.closed:
            return
        parent = self.parent_stream
        if parent is not None:
            parent.child_counter -= 1
            if not parent.child_counter and parent.close_on_last_child:
                parent.close()
        with suppress(AttributeError):
            self.file_obj.close(*args, **kwargs)
        self.closed = True

    def autoclose(self) -> None:
        """Close the stream as soon as no part of it is in use."""
        self.close_on_last_child = True
        if not self.child_counter:
            self.close()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.file_obj)]

    def __del__(self) -> None:
        if "file_obj" in self.__dict__ and not self.closed:
            self.close()

    def __iter__(self) -> Iterator[Any]:
        yield from self.file_obj

    def __next__(self) -> Any:
        return next(self.file_obj)

    def __repr__(self) -> str:
        return f"StreamWrapper<{'' if self.name is None else f'{self.name},'}{self.file_obj!r}>"

    def __getstate__(self) -> Any:
        return self.file_obj

    def __setstate__(self, obj: Any) -> None:
        StreamWrapper.__init__(self, obj)
