"""Let ``import torch`` mean retrograd in the interpreters that multiprocessing starts.

multiprocessing starts an interpreter as ``python -c COMMAND``: for each spawned child, and for the server that forks
children. The interpreter imports the program again, and ``import torch`` must mean retrograd there before anything else
runs. While a `Children` is in force, multiprocessing starts ``python THIS_FILE -c COMMAND`` instead.

The file then runs while sys.path is not yet that of the program. So the file imports the package only when the child
asks for torch or for the package. The program may have a file with the name of the package. As in the first
interpreter, an import of that name still means the package.
"""

import importlib
import multiprocessing.util
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_FILE = Path(__file__).absolute()
_FOLDER = _FILE.parents[1]                       # of the package
# The function of multiprocessing for the options of a new interpreter, and the modules that start one for a program.
_OPTIONS, _STARTERS = "_args_from_interpreter_flags", ("multiprocessing.spawn", "multiprocessing.forkserver")


class Children:
    """Leads the interpreters that multiprocessing starts to this file, until ``undo()``."""

    def __init__(self) -> None:
        self._before: Callable[[], list[str]] = getattr(multiprocessing.util, _OPTIONS)
        setattr(multiprocessing.util, _OPTIONS, self._options)

    def _options(self) -> list[str]:
        # The command stands behind the options. Other callers start interpreters that import no program.
        leads = sys._getframe(1).f_globals["__name__"] in _STARTERS
        return [*self._before(), *[str(_FILE)] * leads]

    def undo(self) -> None:
        """Let multiprocessing start interpreters as before."""
        setattr(multiprocessing.util, _OPTIONS, self._before)


class _Promise:
    """A finder that lets ``import torch`` mean retrograd as soon as a program asks for torch.

    The finder also answers for the package itself, whose folder need not be on sys.path.
    """

    def __init__(self) -> None:
        self._children = Children()

    def _kept(self) -> Any:
        """The finder of the package, in place of this one."""
        package = importlib.import_module(_FOLDER.name)
        sys.meta_path.remove(self)
        self._children.undo()
        package.as_torch()
        return sys.meta_path[0]

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None,
                  /) -> ModuleSpec | None:
        if fullname == _FOLDER.name:
            return spec_from_file_location(fullname, _FOLDER / "__init__.py")
        if fullname.partition(".")[0] not in ("torch", "functorch"):
            return None
        found: ModuleSpec | None = self._kept().find_spec(fullname, path, target)
        return found

    def find_distributions(self, context: Any) -> Iterable[Any]:
        """What `importlib.metadata` finds under the name torch."""
        return self._kept().find_distributions(context) if context.name in (None, "torch") else ()


def begin() -> None:
    """Run the command that stands behind this file on the command line, as ``python -c`` would."""
    if not sys.flags.safe_path:                  # with -P Python adds no folder that could be replaced
        sys.path[0] = ""
    _, option, command, *arguments = sys.argv
    sys.argv = [option, *arguments]
    sys.meta_path.insert(0, _Promise())
    main = sys.modules["__main__"] = ModuleType("__main__")
    exec(compile(command, "<string>", "exec", dont_inherit=True), vars(main))


if __name__ == "__main__":
    begin()
