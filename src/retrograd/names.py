"""What a module says when it is asked for a name that it does not have: the name, and the nearest ones that exist.

It knows names as text only. It must not know any other module of the package, nor how the imports of a program
are led here.
"""

import difflib
import sys
from collections.abc import Callable, Iterable
from opcode import opmap
from types import FrameType
from typing import NoReturn

PACKAGE = __name__.partition(".")[0]
_IMPORT_FROM = opmap["IMPORT_FROM"]


def public(module_name: str) -> str:
    """The name under which a program written for PyTorch knows one of our modules."""
    package, dot, rest = module_name.partition(".")
    return f"torch{dot}{rest}" if package == PACKAGE else module_name


def hint(name: str, names: Iterable[str], prefix: str = "") -> str:
    """``"; the nearest: a, b"``, or nothing where no name is near. Upper and lower case count as equal.

    The prefix stands before each name in the text, and is not compared.
    """
    if name.startswith("__"):  # Python asks modules for these all the time, and nobody reads the answer
        return ""
    spelled: dict[str, list[str]] = {}
    for known in sorted(set(names)):
        spelled.setdefault(known.casefold(), []).append(known)
    near = difflib.get_close_matches(name.casefold(), spelled, n=3, cutoff=0.65)
    found = [prefix + known for folded in near for known in spelled[folded]]
    return f"; the nearest: {', '.join(found)}" if found else ""


def missing(module_name: str, names: Iterable[str]) -> Callable[[str], NoReturn]:
    """A module's ``__getattr__``: refuses the name as Python does, then offers the nearest of ``names``.

    To be assigned under ``if not TYPE_CHECKING:``; a type checker that sees it takes every name for an existing one.
    """
    known = tuple(names)
    shown = public(module_name)

    def __getattr__(name: str) -> NoReturn:
        module = sys.modules.get(module_name)
        if _is_import_from(sys._getframe(1)) and f"{module_name}.{name}" not in sys.modules:
            # An AttributeError would become an ImportError of Python's own, under our name and without the hint.
            message = f"cannot import name {name!r} from {shown!r}{hint(name, known)}"
            raise ImportError(message, name=module_name, path=getattr(module, "__file__", None))
        # obj is given, and name is not, so that Python does not append a second suggestion to this one.
        raise AttributeError(f"module {shown!r} has no attribute {name!r}{hint(name, known)}", obj=module)

    return __getattr__


def _is_import_from(caller: FrameType) -> bool:
    """Whether this frame stands at ``from module import name``."""
    return caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM
