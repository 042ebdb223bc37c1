"""Object code on disk, in the user's folder for caches, so that another process finds it.

A file is named by what it was made of: the kernel, the layout class, the sources of the compiler, the version of LLVM,
the processor and the C library, whose functions the code calls. It holds the plan of the function and its object code,
and a sum over both. A file that is damaged counts as absent. A file is written under another name and then renamed, so
several processes may write at once. `RETROGRAD_CACHE` names another folder; if it is empty, nothing is kept.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ...version import retrograd
from ..native.compiling import compiling
from ..native.host import binding, host, library

VARIABLE = "RETROGRAD_CACHE"
_PACKAGE = Path(__file__).parents[2]
# The folders whose files decide what the machine code of a kernel is.
_SOURCES = ("compilation/eager", "compilation/native", "compilation/passes", "compilation/program", "ops", "kernels")
_HEAD = b"retrograd object code\n"


def folder() -> Path | None:
    """The folder of the files, or None if nothing is kept."""
    said = os.environ.get(VARIABLE)
    if said is not None:
        return Path(said) if said else None
    if sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA", "")
    elif sys.platform == "darwin":
        home = "~/Library/Caches"
    else:
        home = os.environ.get("XDG_CACHE_HOME", "") or "~/.cache"
    found = Path(os.path.expanduser(home)) / "retrograd"
    return found if found.is_absolute() else None


@cache
def _made_by() -> str:
    """What decides the machine code beside the kernel: sources, LLVM, the processor, the C library."""
    stamps = hashlib.sha256()
    for part in _SOURCES:
        for file in sorted((_PACKAGE / part).rglob("*.py")):
            found = file.stat()
            stamps.update(f"{file.name} {found.st_size} {found.st_mtime_ns}\n".encode())
    with compiling:
        llvm = binding()
        processor = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()} {host()}"
    return f"{retrograd} {stamps.hexdigest()} {llvm.llvm_version_info} {processor} {library()}"


def _file(key: str) -> Path | None:
    where = folder()
    return None if where is None else where / f"{hashlib.sha256(f'{key} {_made_by()}'.encode()).hexdigest()[:40]}.o"


def kept(key: str) -> tuple[Any, bytes] | None:
    """What was kept under a key, if it is there and whole."""
    file = _file(key)
    try:
        content = b"" if file is None else file.read_bytes()
    except OSError:
        return None
    head, body = content[:len(_HEAD) + 32], content[len(_HEAD) + 32:]
    if head != _HEAD + hashlib.sha256(body).digest():
        return None
    plan, _, code = body.partition(b"\n")
    return json.loads(plan), code


def keep(key: str, plan: Any, code: bytes) -> None:
    """Keep a plan and object code under a key, if there is a place for them."""
    file = _file(key)
    if file is None:
        return
    body = json.dumps(plan).encode() + b"\n" + code
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_HEAD + hashlib.sha256(body).digest() + body)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise
    except OSError:
        return
