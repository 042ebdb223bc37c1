"""Let ``import torch`` and ``import torch.X`` mean this package in the running interpreter.

A finder before all others answers for ``torch`` and everything below it with the modules of this package themselves.
They are the same objects, so classes are identical and nothing is imported twice. The finder works on module names
alone. It also answers for ``functorch``, which is installed with PyTorch.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, Self

from retrograd.foundations.errors import noted
from retrograd.foundations.names import PACKAGE, contents, instead, nearest, reached
from retrograd.version import __version__

# The packages that PyTorch installs, and where they are here.
_PLACES = {"torch": PACKAGE, "functorch": f"{PACKAGE}._functorch.functorch"}


class Installed:
    """The result of `as_torch`. ``undo()`` removes the finder, and so does the end of a ``with`` block."""

    def __init__(self, finder: "_Finder | None", children: Any = None) -> None:
        self._finder, self._children = finder, children

    def undo(self) -> None:
        """Remove the finder. A program that has imported modules through it keeps them."""
        if self._finder not in sys.meta_path:
            return
        sys.meta_path.remove(self._finder)
        self._children.undo()
        _name(PACKAGE)
        for name in [name for name in sys.modules if _is_torch(name)]:
            del sys.modules[name]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<`import torch` means {PACKAGE}; undo() takes it back>"


def as_torch() -> Installed:
    """Let `import torch` mean retrograd in this interpreter, and in all that multiprocessing starts from now on.

    Call this before anything imports torch. `undo()` of the result ends it, and so does the end of a `with` block
    around it. Raises RuntimeError if another torch has been imported already.
    """
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return Installed(None)  # whoever installed the finder removes it
    other = sys.modules.get("torch")
    if other is not None and other is not sys.modules[PACKAGE]:
        raise RuntimeError(
            f"another torch has been imported already, from {getattr(other, '__file__', None) or 'no file'}. "
            f"Call {PACKAGE}.as_torch() before anything imports torch: in a notebook, restart the kernel and make "
            "it the first cell.")
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    _name("torch")
    return Installed(finder, reached("command.children").Children())    # its import takes a fifth of NumPy's time


def _name(name: str) -> None:
    """Give this package a name. Packages ask the module for its name, and the class of a tensor for its module."""
    package: Any = sys.modules[PACKAGE]
    package.__name__ = package.Tensor.__module__ = name
    parameter = sys.modules.get(f"{PACKAGE}.nn.parameter")
    if parameter is not None:                                    # otherwise its class takes the name from Tensor's
        parameter.Parameter.__module__ = f"{name}.nn.parameter"


class _Finder:
    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None,
                  /) -> ModuleSpec | None:
        if not _is_torch(fullname):
            return None
        own = _own(fullname)
        if own in sys.modules or find_spec(own) is not None:
            # Not a subclass of importlib.abc.Loader: importing that class takes a tenth of the time of NumPy's import.
            return ModuleSpec(fullname, _Alias())  # type: ignore[arg-type]
        # A program may ask whether a module exists (importlib.util.find_spec) without an error. An import is an error.
        if sys._getframe(2).f_code.co_name != "_find_and_load_unlocked":
            return None
        parent, _, name = fullname.rpartition(".")
        said = instead(parent, name, modules=True)
        near = "" if said else nearest(parent, name, _modules_in(_own(parent)), modules=True)
        raise noted(ModuleNotFoundError(f"No module named {fullname!r}{said}", name=fullname), nearest=near)

    def find_distributions(self, context: Any) -> Iterator[Any]:
        """What `importlib.metadata` finds under the name torch: a distribution with the version of this package."""
        if context.name is None or context.name.lower() == "torch":
            yield distribution()


def distribution() -> Any:
    """A distribution named torch, for `importlib.metadata.version("torch")`. It has no files."""
    # Imported here because this import takes a fifth of the time of NumPy's. Who asks has imported it.
    from importlib.metadata import Distribution
    from pathlib import Path

    class Torch(Distribution):
        """The metadata of a distribution named torch."""

        def read_text(self, filename: str) -> str | None:
            """The text of a file of metadata; None if there is no such file."""
            if filename != "METADATA":
                return None
            return f"Metadata-Version: 2.1\nName: torch\nVersion: {__version__}\nSummary: {PACKAGE} as torch\n"

        def locate_file(self, path: Any) -> Any:
            """The path of a file, from the folder of this package."""
            return Path(__file__).parents[1] / path

    return Torch()


class _Alias:
    """Loads a module of this package under torch's name by returning the module itself."""

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the module itself, for `runpy` and `python -m`; None if the module has no code."""
        spec = find_spec(_own(fullname))
        get_code = getattr(spec.loader, "get_code", None) if spec is not None else None
        code: CodeType | None = get_code(_own(fullname)) if get_code else None
        return code

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create a module, which is thrown away."""

    def exec_module(self, module: ModuleType) -> None:
        # Afterwards the import system takes the module from sys.modules. If create_module returned our module instead,
        # the import system would overwrite its __spec__.
        own = importlib.import_module(_own(module.__name__))
        sys.modules[module.__name__] = own
        # A function may hide a module of its name (`nn.utils.weight_norm`). The import system would put the module in
        # the place of the function, unless it finds the module in sys.modules.
        for name in _hidden(own) if hasattr(own, "__path__") else ():
            sys.modules[f"{module.__name__}.{name}"] = sys.modules[f"{own.__name__}.{name}"]


def _hidden(package: ModuleType) -> list[str]:
    """The imported modules of a package whose names mean something else in the package."""
    inside = f"{package.__name__}."
    names = [(name.removeprefix(inside), module) for name, module in sys.modules.items() if name.startswith(inside)]
    return [name for name, module in names if contents(package).get(name, module) is not module]


def _is_torch(name: str) -> bool:
    return name.partition(".")[0] in _PLACES


def _own(name: str) -> str:
    package, dot, rest = name.partition(".")
    return f"{_PLACES[package]}{dot}{rest}"


def _modules_in(package: str) -> set[str]:
    """The public names of a package's own modules, on disk or made by hand."""
    names = {found.name for found in pkgutil.iter_modules(getattr(sys.modules[package], "__path__", []))}
    names.update(name.removeprefix(f"{package}.") for name in sys.modules if name.startswith(f"{package}."))
    return {name for name in names if "." not in name and not name.startswith("_")}
