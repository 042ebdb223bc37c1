"""Makes ``import torch`` and ``import torch.X`` mean this package, in the running interpreter.

A finder in front of all others answers for ``torch`` and everything below it with the modules of this package
themselves: the same objects, so classes are identical and nothing is imported twice. It works on module names
alone, and must not know what is in the modules.
"""

import importlib
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, TracebackType
from typing import Self

from retrograd.names import PACKAGE, hint


class Installed:
    """What `as_torch` returns: ``undo()`` takes it back, and so does the end of a ``with`` block.

    Pickling it, and reading the pickle, installs the finder in the reading process: a spawned child needs that.
    """

    def __init__(self, finder: "_Finder | None") -> None:
        self._finder = finder

    def undo(self) -> None:
        """Take the finder out again; a program that was led here already keeps what it has imported."""
        if self._finder not in sys.meta_path:
            return
        sys.meta_path.remove(self._finder)
        for name in [name for name in sys.modules if _is_torch(name)]:
            del sys.modules[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.undo()

    def __reduce__(self) -> tuple[object, tuple[()]]:
        return as_torch, ()

    def __repr__(self) -> str:
        return f"<`import torch` means {PACKAGE}; undo() takes it back>"


def as_torch() -> Installed:
    """From now on ``import torch`` means retrograd in this interpreter. Call it before anything imports torch."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return Installed(None)  # whoever installed it takes it back
    other = sys.modules.get("torch")
    if other is not None and other is not sys.modules[PACKAGE]:
        raise RuntimeError(
            f"another torch has been imported already, from {getattr(other, '__file__', None) or 'no file'}. "
            f"Call {PACKAGE}.as_torch() before anything imports torch: in a notebook, restart the kernel and make "
            "it the first cell."
        )
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return Installed(finder)


class _Finder:
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        if not _is_torch(fullname):
            return None
        own = _own(fullname)
        if own in sys.modules or find_spec(own) is not None:
            # Not a subclass of importlib.abc.Loader: importing that takes as long as a tenth of NumPy.
            return ModuleSpec(fullname, _Alias())  # type: ignore[arg-type]
        # A program may ask whether a module exists (importlib.util.find_spec): that is no error. An import is.
        if sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return None
        parent, _, name = fullname.rpartition(".")
        near = hint(parent, name, _modules_in(_own(parent)), modules=True)
        raise ModuleNotFoundError(f"No module named {fullname!r} in {PACKAGE}{near}", name=fullname)


class _Alias:
    """Loads a module of ours under torch's name by handing over the module itself."""

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave the making of the module that is thrown away to the import system."""

    def exec_module(self, module: ModuleType) -> None:
        # The import system takes what stands in sys.modules afterwards. Handing the module over in create_module
        # instead would let it overwrite our module's __spec__.
        sys.modules[module.__name__] = importlib.import_module(_own(module.__name__))


def _is_torch(name: str) -> bool:
    return name == "torch" or name.startswith("torch.")


def _own(name: str) -> str:
    return PACKAGE + name.removeprefix("torch")


def _modules_in(package: str) -> set[str]:
    """The public names of a package's own modules, on disk or made by hand."""
    names = {found.name for found in pkgutil.iter_modules(getattr(sys.modules[package], "__path__", []))}
    names.update(name.removeprefix(f"{package}.") for name in sys.modules if name.startswith(f"{package}."))
    return {name for name in names if "." not in name and not name.startswith("_")}
