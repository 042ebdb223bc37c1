"""torch.hub: models that a folder offers through its `hubconf.py`, and files of numbers from the network.

Repositories are read from a local folder. Nothing is fetched from GitHub: clone a repository, and name its folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from .foundations.names import missing
from .serialization.loading import load as load_file

__all__ = ["HASH_REGEX", "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_HUBCONF = "hubconf.py"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_BLOCK = 128 * 1024


class _Bar:
    """Stands for the bars of the package tqdm, if it is not installed: it passes on what a program reads, and shows
    nothing.
    """

    def __init__(self, iterable: Any = (), *args: Any, **options: Any) -> None:
        self.iterable = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.iterable)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *error: object) -> None:
        """Does nothing."""

    def update(self, n: float = 1) -> None:
        """Does nothing."""

    close = set_description = set_postfix = write = update


tqdm: Any = import_module("tqdm").tqdm if find_spec("tqdm") else _Bar


class _Folder:
    """Where files from the network are kept, if a program has set the folder."""

    chosen: str | None = None


def get_dir() -> str:
    """The folder for files from the network: `set_dir`, or `hub` in $TORCH_HOME, or in the user's cache for torch."""
    return str(Path(_get_torch_home(), "hub")) if _Folder.chosen is None else _Folder.chosen


def _get_torch_home() -> str:
    """The folder of torch in the user's cache, or $TORCH_HOME."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keep files from the network in this folder."""
    _Folder.chosen = str(Path(d).expanduser())


# Repositories


def load(repo_or_dir: str, model: str, *args: Any, source: str = "github", trust_repo: bool | str | None = "check",
         force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any) -> Any:
    """Call the function `model` of the folder's `hubconf.py`, and return what the function returns.

    `source` must be "local". Raises ValueError for a name that is no string, and RuntimeError if the function or a
    package of the list `dependencies` is missing.
    """
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        _refuse_github(repo_or_dir)
    return _entry(_hubconf(repo_or_dir), model)(*args, **kwargs)


def list(github: str, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: bool | str | None = "check", verbose: bool = True) -> NoReturn:
    """PyTorch lists the models of a repository on GitHub. This function raises RuntimeError."""
    _refuse_github(github)


def help(github: str, model: str, force_reload: bool = False, skip_validation: bool = False,
         trust_repo: bool | str | None = "check") -> NoReturn:
    """PyTorch shows the text of a model of a repository on GitHub. This function raises RuntimeError."""
    _refuse_github(github)


def _refuse_github(github: str) -> NoReturn:
    raise RuntimeError(f"retrograd fetches no repository from GitHub. Clone {github} into a folder, and call "
                       "torch.hub.load(folder, model, source='local').")


def _hubconf(folder: str) -> ModuleType:
    """The module `hubconf` of a folder. While the module is imported, the folder is on the path of modules."""
    spec = spec_from_file_location(_HUBCONF, Path(folder) / _HUBCONF)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{folder} has no {_HUBCONF}")
    module = module_from_spec(spec)
    with _first_on_path(folder):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _entry(hubconf: ModuleType, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    absent = [name for name in getattr(hubconf, "dependencies", ()) if find_spec(name) is None]
    if absent:
        raise RuntimeError(f"Missing dependencies: {', '.join(absent)}")
    function = getattr(hubconf, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return function  # type: ignore[no-any-return]  # callable, as tested


# Files from the network


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Write what a URL gives into the file `dst`. The file appears only if it is whole.

    `hash_prefix` is the beginning of the SHA-256 of the file. Raises RuntimeError if it differs. There is no bar of
    progress.
    """
    target = Path(dst).expanduser()
    request = Request(url, headers={"User-Agent": "torch.hub"})  # the program names the URL
    with urlopen(request) as response, \
            tempfile.NamedTemporaryFile(dir=target.parent, prefix=f"{target.name}.", delete=False) as partial:
        found = hashlib.sha256()
        try:
            while block := response.read(_BLOCK):
                partial.write(block)
                found.update(block)
            partial.close()
            if hash_prefix is not None and not found.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{found.hexdigest()}")')
            shutil.move(partial.name, target)
        finally:
            Path(partial.name).unlink(missing_ok=True)


def load_state_dict_from_url(url: str, model_dir: str | None = None, map_location: Any = None, progress: bool = True,
                             check_hash: bool = False, file_name: str | None = None,
                             weights_only: bool = False) -> dict[str, Any]:
    """What `torch.load` reads from the file of a URL. The file is fetched once and kept in `model_dir`.

    With `check_hash`, the name of the file must have the form `name-<beginning of the SHA-256>.ext`.
    """
    folder = Path(model_dir or Path(get_dir()) / "checkpoints")
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / (file_name or Path(urlparse(url).path).name)
    if not kept.exists():
        sys.stderr.write(f'Downloading: "{url}" to {kept}\n')
        named = HASH_REGEX.search(kept.name) if check_hash else None
        download_url_to_file(url, str(kept), named.group(1) if named else None, progress)
    return load_file(str(kept), map_location=map_location, weights_only=weights_only)  # type: ignore[no-any-return]

