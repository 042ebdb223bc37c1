"""Pipes that list, open, read and decode files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from typing import Any

from .....foundations.errors import warn
from .._decorator import functional_datapipe
from .._length import no_length
from ..datapipe import IterDataPipe
from ..utils.common import (
    get_file_binaries_from_pathnames,
    get_file_pathnames_from_root,
    validate_pathname_binary_tuple,
)
from ..utils.decoder import Decoder, basichandlers, extension_extract_fn
from .utils import IterableWrapperIterDataPipe

__all__ = ["FileListerIterDataPipe", "FileOpenerIterDataPipe", "RoutedDecoderIterDataPipe", "StreamReaderIterDataPipe"]


@functional_datapipe("list_files")
class FileListerIterDataPipe(IterDataPipe[str]):
    """The paths of the files in a folder, in several, or in the folders of a pipe (as a method: ``list_files``).

    ``masks`` are patterns of names. ``recursive`` goes into the folders below, and ``abspath`` gives whole paths.
    """

    def __init__(self, root: str | Sequence[str] | IterDataPipe[str] = ".", masks: str | list[str] = "", *,
                 recursive: bool = False, abspath: bool = False, non_deterministic: bool = False,
                 length: int = -1) -> None:
        super().__init__()
        roots = [root] if isinstance(root, str) else root
        self.datapipe: Any = roots if isinstance(roots, IterDataPipe) else IterableWrapperIterDataPipe(roots)
        self.masks, self.recursive, self.abspath = masks, recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self) -> Iterator[str]:
        for path in self.datapipe:
            yield from get_file_pathnames_from_root(path, self.masks, self.recursive, self.abspath,
                                                    self.non_deterministic)

    def __len__(self) -> int:
        if self.length == -1:
            raise no_length(self)
        return self.length


@functional_datapipe("open_files")
class FileOpenerIterDataPipe(IterDataPipe[Any]):
    """Opens files: pairs of the path and the stream (as a method: ``open_files``)."""

    def __init__(self, datapipe: Iterable[str], mode: str = "r", encoding: str | None = None,
                 length: int = -1) -> None:
        super().__init__()
        self.datapipe, self.mode, self.encoding, self.length = datapipe, mode, encoding, length
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")

    def __iter__(self) -> Iterator[Any]:
        yield from get_file_binaries_from_pathnames(self.datapipe, self.mode, self.encoding)

    def __len__(self) -> int:
        if self.length == -1:
            raise no_length(self)
        return self.length


@functional_datapipe("read_from_stream")
class StreamReaderIterDataPipe(IterDataPipe[Any]):
    """Reads streams: pairs of the path and the contents, whole or in parts of ``chunk`` bytes.

    As a method its name is ``read_from_stream``.
    """

    def __init__(self, datapipe: Any, chunk: int | None = None) -> None:
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self) -> Iterator[Any]:
        for name, stream in self.datapipe:
            while part := stream.read(self.chunk):
                yield name, part
            if hasattr(stream, "close"):
                stream.close()


@functional_datapipe("routed_decode")
class RoutedDecoderIterDataPipe(IterDataPipe[Any]):
    """Decodes opened files by the endings of their names (as a method: ``routed_decode``)."""

    def __init__(self, datapipe: Any, *handlers: Callable[..., Any],
                 key_fn: Callable[[str], str] = extension_extract_fn) -> None:
        super().__init__()
        self.datapipe = datapipe
        self.decoder = Decoder(*(handlers or (basichandlers,)), key_fn=key_fn)
        warn("`RoutedDecoderIterDataPipe()` and its functional API `.routed_decode()` are deprecated since 1.12 and "
             "will be removed in 1.13.\nSee https://github.com/pytorch/data/issues/163 for details.", FutureWarning)

    def add_handler(self, *handler: Callable[..., Any]) -> None:
        """Add handlers after the present ones."""
        self.decoder.add_handler(*handler)

    def __iter__(self) -> Iterator[Any]:
        for data in self.datapipe:
            path = data[0]
            validate_pathname_binary_tuple(data)
            yield path, self.decoder(data)[path]

    def __len__(self) -> int:
        if isinstance(self.datapipe, Sized):
            return len(self.datapipe)
        raise no_length(self)
