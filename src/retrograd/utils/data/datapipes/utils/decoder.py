"""Decoders of files by the endings of their names: texts, numbers, JSON, pickles and tensors."""

from __future__ import annotations

import io
import json
import os.path
import pickle
from collections.abc import Callable
from typing import Any

from .....serialization import load
from .common import StreamWrapper

__all__ = ["Decoder", "basichandlers", "extension_extract_fn", "handle_extension"]


def basichandlers(extension: str, data: bytes) -> Any:
    """The contents of a file of text, numbers, JSON, pickle or tensors, by its ending; None for other endings."""
    if extension in ("txt", "text", "transcript"):
        return data.decode("utf-8")
    if extension in ("cls", "cls2", "class", "count", "index", "inx", "id"):
        try:
            return int(data)
        except ValueError:
            return None
    if extension in ("json", "jsn"):
        return json.loads(data)
    if extension in ("pyd", "pickle"):
        return pickle.loads(data)
    if extension == "pt":
        return load(io.BytesIO(data))
    return None


def handle_extension(extensions: str, f: Callable[[Any], Any]) -> Callable[[str, Any], Any]:
    """A handler that decodes files with one of these endings by ``f``. Spaces stand between the endings."""
    endings = [ending.split(".") for ending in extensions.lower().split()]

    def handle(extension: str, data: Any) -> Any:
        parts = extension.lower().split(".")
        return f(data) if any(parts[-len(ending):] == ending for ending in endings) else None

    return handle


def extension_extract_fn(pathname: str) -> str:
    """The ending of a file name, without the dot."""
    return os.path.splitext(pathname)[1].removeprefix(".")


class Decoder:
    """Decodes pairs of a path and a stream, or a dict of such, by the first handler that does not return None.

    A handler is a function of the ending of the name and of the data. The data stay as they are if no handler knows
    them.
    """

    def __init__(self, *handler: Callable[[str, Any], Any],
                 key_fn: Callable[[str], str] = extension_extract_fn) -> None:
        self.handlers = list(handler)
        self.key_fn = key_fn

    def add_handler(self, *handler: Callable[[str, Any], Any] | None) -> None:
        """Add handlers after the present ones."""
        self.handlers.extend(one for one in handler if one)

    @staticmethod
    def _is_stream_handle(data: Any) -> bool:
        inner = data.file_obj if isinstance(data, StreamWrapper) else data
        return isinstance(inner, io.BufferedIOBase | io.RawIOBase)

    def decode1(self, key: str, data: Any) -> Any:
        """The decoded data of one file. ``key`` is the ending of its name."""
        if not data:
            return data
        data = data.read() if Decoder._is_stream_handle(data) else data
        for handler in self.handlers:
            found = handler(key, data)
            if found is not None:
                return found
        return data

    def decode(self, data: Any) -> dict[str, Any]:
        """The decoded files by their paths."""
        found: dict[str, Any] = {}
        for path, value in [data] if isinstance(data, tuple) else data.items():
            if path.startswith("__"):
                if isinstance(value, bytes):
                    value = value.decode("utf-8")
                found[path] = value
                continue
            found[path] = self.decode1(self.key_fn(path), value)
            if Decoder._is_stream_handle(value):
                value.close()
        return found

    def __call__(self, data: Any) -> dict[str, Any]:
        return self.decode(data)
