"""Names that are found when a program first names them, and hints about names that retrograd lacks.

`import retrograd` loads what every program uses. A package lists its other names in tables, and `late` makes of the
tables what finds them. The error about a name that only PyTorch has says what to use instead; for a typing mistake it
has the nearest names as a note. PyTorch's names and the advice are in two text files beside this module, which are read
when the first name is missing. `command.imports` leads the imports of a program to retrograd.
"""

import importlib
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from opcode import opmap
from types import FrameType, ModuleType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from .errors import noted

PACKAGE = __name__.partition(".")[0]
_IMPORT_FROM = opmap["IMPORT_FROM"]


def public(module_name: str) -> str:
    """The name by which a program written for PyTorch knows one of our modules."""
    package, dot, rest = module_name.partition(".")
    return f"torch{dot}{rest}" if package == PACKAGE else module_name


def offered(namespace: dict[str, Any]) -> list[str]:
    """The names that a module imports to offer them, for its ``__all__``: no modules, and not its own tools."""
    tools = ("TYPE_CHECKING", "missing", "offered")
    return [name for name, value in namespace.items()
            if not name.startswith("_") and not isinstance(value, ModuleType) and name not in tools]


def inside(table: Mapping[str, str], package: str = PACKAGE) -> dict[str, str]:
    """Where each name is found, for `late`, from a table of the names in each module of a package.

    The names of "" are those of modules. ``package`` is the package's ``__name__``.

    >>> inside({"lbfgs": "LBFGS", "": "swa_utils"}, "retrograd.optim")
    {'LBFGS': 'optim.lbfgs:LBFGS', 'swa_utils': 'optim.swa_utils'}
    """
    below = f"{package}.".removeprefix(f"{PACKAGE}.")
    return {name: f"{below}{module}:{name}" if module else f"{below}{name}"
            for module, names in table.items() for name in names.split()}


# The dictionary of a module as it is.
_dictionary: Callable[[Any], dict[str, Any]] = vars(ModuleType)["__dict__"].__get__


def contents(thing: Any) -> Any:
    """The attributes that a module or another object has now, by name. Nothing is imported for it."""
    return _dictionary(thing) if isinstance(thing, ModuleType) else vars(thing)


# The names that a module has not imported yet, until somebody asks for all.
_pending: WeakKeyDictionary[ModuleType, list[str]] = WeakKeyDictionary()


class _Late(ModuleType):
    """A module that imports some of its names late. `vars(module)` has all of them, as in PyTorch, once the module has
    run.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        own = _dictionary(self)
        if getattr(own.get("__spec__"), "_initializing", False):   # `@dataclass` asks the module of its class
            return own
        for name in [name for name in _pending.get(self, ()) if name not in own]:
            with suppress(ImportError):                        # of a package that may be absent
                getattr(self, name)
        _pending.pop(self, None)
        return own

    def __dir__(self) -> Iterable[str]:
        own = _dictionary(self)
        return own["__dir__"]() if "__dir__" in own else sorted(own)


def late(module_name: str, names: Iterable[str], found: Mapping[str, str], shown: str = "",
         unlisted: Iterable[str] = ()) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a module that imports some of its names when a program names them.

    ``found`` says where these names are: "nn.utils" is a module, and "nn.utils:name" is in it. Once imported, a name is
    stored in the module, so that Python finds it there the next time. ``names`` and ``shown`` are as for ``missing``.
    ``unlisted`` names are not in ``dir``: their import needs a package that may be absent, or they are files that
    completion should not offer.
    """
    known, shown, module = tuple(names), shown or public(module_name), sys.modules.get(module_name)
    listed = [name for name in found if name not in unlisted]
    if listed and type(module) is ModuleType:
        module.__class__ = _Late
        _pending[module] = listed

    def __getattr__(name: str) -> Any:
        place = found.get(name)
        value = _absent(module_name, name, known, shown, sys._getframe(1)) if place is None else _imported(place)
        contents(sys.modules[module_name])[name] = value       # of two threads, each stores the same object
        return value

    return __getattr__, _listing(module_name, known, shown, found, unlisted)


def _listing(module_name: str, names: Collection[str], shown: str, found: Iterable[str],
             unlisted: Iterable[str]) -> Callable[[], list[str]]:
    """A module's ``__dir__``. It leaves out what the module imports for itself, so that completion offers no internals.

    Offered are the module's own public ``names``, and the names of PyTorch's module, except ``unlisted``.
    """
    def __dir__() -> list[str]:
        offered = {*names, *in_pytorch(shown)}.difference(unlisted)
        every = dict.fromkeys([*contents(sys.modules[module_name]), *found])
        return [name for name in every if name.startswith("_") or name in offered]

    return __dir__


def _imported(place: str) -> Any:
    """The module at a place like "nn.utils", or the object at a place like "nn.utils:name"."""
    path, _, name = place.partition(":")
    try:
        module = reached(path)
        return getattr(module, name) if name else module
    except AttributeError as error:
        # Who asked would take the error to mean that the name is missing, and `hasattr` would be False.
        raise ImportError(f"{error}, which stopped the import of {public(f'{PACKAGE}.{path}')}", name=path) from error


def missing(module_name: str, names: Iterable[str], shown: str = "") -> tuple[
        Callable[[str], Any], Callable[[], list[str]]]:
    """A module's ``__getattr__``, names of the table in `shells`, and for others Python's error, with a hint; and its
    ``__dir__``.

    ``names`` are the names that the module has, and ``shown`` is PyTorch's name of the module.
    """
    return late(module_name, names, {}, shown)


def _absent(module_name: str, name: str, known: Iterable[str], shown: str, caller: FrameType) -> Any:
    """What the table of `shells` has for a name that a module lacks. Raises an error for a name that it has not."""
    if caller.f_code.co_name == "_handle_fromlist":              # Python asks before it imports a module of this name
        raise AttributeError(name)
    if not name.startswith("__"):
        shells = reached("foundations.shells")
        if f"{shown}.{name}" in shells.rows():
            return reached(f"{module_name}.{name}".partition(".")[2])
        if name in shells.listed(shown):
            return shells.shell(shown, name)
    return _refuse(module_name, name, known, shown, caller)


class _Shells:
    """Python asks this finder last. It imports the finder of `shells` when a module of the package has no file."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> Any:
        """The spec of a module that is a row of a table."""
        if not fullname.startswith(f"{PACKAGE}."):
            return None
        return reached("foundations.shells").ShellFinder.find_spec(fullname)


sys.meta_path.append(_Shells)


def _refuse(module_name: str, name: str, known: Iterable[str], shown: str, caller: FrameType) -> NoReturn:
    """Raise the error for a name that a module lacks. ``caller`` is the frame that asked for the name."""
    module, said = sys.modules.get(module_name), instead(shown, name)
    # A file of the package that is no attribute of it, such as `optim.adam`, is no name that only PyTorch has.
    if said and name in in_pytorch(shown, modules=True) and _is_file(module, name):
        said = ""
    near = "" if said else nearest(shown, name, known)
    if _is_import_from(caller) and f"{module_name}.{name}" not in sys.modules:
        # Python would turn an AttributeError into an ImportError with our module's name and without the note.
        file = getattr(module, "__file__", None)
        message = f"cannot import name {name!r} from {shown!r}{said or f' ({file or PACKAGE})'}"
        raise noted(ImportError(message, name=shown, path=file), nearest=near)
    # `obj` is given and `name` is not, so that Python does not append its own suggestion.
    raise noted(AttributeError(f"module {shown!r} has no attribute {name!r}{said}", obj=module), nearest=near)


def _is_file(package: ModuleType | None, name: str) -> bool:
    """Whether a package has a file of this name, loaded or not."""
    from importlib.util import find_spec  # imported here, since most programs name nothing that is missing

    if package is None or not hasattr(package, "__path__"):
        return False
    return find_spec(f"{package.__name__}.{name}") is not None


def refused(path: str) -> Callable[..., NoReturn]:
    """A function under a name of PyTorch that programs may import. A call raises NotImplementedError, with the advice.

    It is for names of a namespace that exists only so that programs can be imported.
    """
    space, _, name = path.rpartition(".")

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"PyTorch has `{path}`; retrograd has not{_advice(space, name)}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.only_refuses = True  # type: ignore[attr-defined]
    refuse.__doc__ = f"Raise NotImplementedError: retrograd has no `{path}`."
    return refuse


def refused_class(path: str, base: type = object) -> type:
    """A class under a name of PyTorch that programs may import and test with `isinstance`. It has no instances."""
    refuse = refused(path)
    return type(path.rpartition(".")[2], (base,), {
        "__module__": path.rpartition(".")[0], "__doc__": f"{path}, of which retrograd has no instances.",
        "only_refuses": True, "__new__": lambda cls, *args, **kwargs: refuse()})


def only_refuses(found: Any) -> bool:
    """Whether an object is there only so that programs can import its name: `refused` or `refused_class` made it."""
    return "only_refuses" in getattr(found, "__dict__", ())


def reached(name: str) -> ModuleType:
    """A module of the package that is imported when a program first needs it.

    If one thread imports a package while another thread imports a module in it, each may wait for the other. Python
    ends one of the two imports with an error. That import is made again, since the other one goes on meanwhile.
    """
    while True:
        try:
            return importlib.import_module(f"{PACKAGE}.{name}")
        except RuntimeError as error:
            if type(error).__name__ != "_DeadlockError":
                raise


def hint_at_missing_names(package: str) -> None:
    """Give a ``missing`` to each imported module of a package that lists its names in ``__all__`` and has none.

    A type checker does not see it. It would assume that every name exists in a module with a ``__getattr__``.
    """
    for name, module in [*sys.modules.items()]:
        if f"{name}.".startswith(f"{package}.") and "__all__" in contents(module):
            for function in missing(name, module.__all__):
                contents(module).setdefault(function.__name__, function)


def _is_import_from(caller: FrameType) -> bool:
    """Whether this frame stands at ``from module import name``."""
    return caller.f_lasti >= 0 and caller.f_code.co_code[caller.f_lasti] == _IMPORT_FROM


def nearest(space: str, name: str, names: Iterable[str], modules: bool = False) -> str:
    """``"softmax, fmax"`` if the namespace ``space``, which has ``names``, lacks ``name``; empty if none is near.

    With ``modules``, the missing name is that of a module, and the nearest names are full names.
    """
    if name.startswith("__"):
        return ""
    return _nearest(space, name, frozenset(names), modules)


def instead(space: str, name: str, modules: bool = False) -> str:
    """``". PyTorch has `torch.x`; retrograd has not: use ... instead"``; empty if PyTorch has no such name either."""
    if name.startswith("__") or name not in in_pytorch(space, modules):   # Python itself often looks for the former
        return ""
    return f". PyTorch has `{space}.{name}`; retrograd has not{_advice(space, name)}"


@cache
def _advice(space: str, name: str) -> str:
    from fnmatch import fnmatchcase  # imported here, as above, since few programs need it

    return next((f": {said}" for pattern, said in remedies() if fnmatchcase(f"{space}.{name}", pattern)), "")


@lru_cache(maxsize=256)  # programs ask again and again whether a module has a name
def _nearest(space: str, name: str, names: frozenset[str], modules: bool) -> str:
    spelled = _spelled(names | in_pytorch(space, modules), name.startswith("_"))
    others = [folded for folded, known in spelled.items() if known != [name]]
    found = [known for folded in near(name.casefold(), others) for known in spelled[folded] if known != name]
    prefix = f"{space}." if modules else ""
    if found and found[0] not in names:
        return f"{prefix}{found[0]}, which only PyTorch has{_advice(space, found[0])}"
    return ", ".join([prefix + known for known in found if known in names])


@lru_cache(maxsize=16)
def _spelled(names: frozenset[str], private: bool) -> dict[str, list[str]]:
    """Names by their spelling in small letters; those with an underscore in front only if `private`."""
    spelled: dict[str, list[str]] = {}
    for name in sorted(names):
        if private or not name.startswith("_"):
            spelled.setdefault(name.casefold(), []).append(name)
    return spelled


def near(name: str, names: Iterable[str]) -> list[str]:
    """Up to three of these names that a typing mistake may have turned into `name`, the nearest first."""
    import difflib

    # difflib would find the same without the names that share too few letters, in ten times the time.
    letters, size = _letters(name), len(name)
    among = [known for known in names if 2 * (letters & _letters(known)).bit_count() >= 0.66 * (size + len(known))]
    turned = [known for known in among if len(known) == len(name) < 6 and sorted(known) == sorted(name)]
    close = difflib.get_close_matches
    found = close(name, among, 3, 0.75) or sorted(close(name, among, 3, 0.66), key=lambda known: known[0] != name[0])
    return [*dict.fromkeys([*turned, *found])][:3]


@cache
def _letters(name: str) -> int:
    """The letters of a name as bits of a number: two names share as many letters as their numbers share bits."""
    counts = {letter: name.count(letter) for letter in name}
    if not name.isascii() or max(counts.values(), default=0) > 8:
        return -1                                            # which shares all
    return sum([((1 << count) - 1) << 8 * ord(letter) for letter, count in counts.items()])


@cache
def in_pytorch(space: str, modules: bool = False) -> set[str]:
    """The public names of one of PyTorch's namespaces, such as ``torch.nn``, or only the names of its modules."""
    found = _table().get(space, [])
    return {name.rstrip("/") for name in found if name.endswith("/") or not modules}


@cache
def _table() -> dict[str, list[str]]:
    """The public names of each of PyTorch's namespaces. The names of modules end with a slash."""
    found: dict[str, list[str]] = {}
    space = ""
    for line in lines("pytorch_names.txt"):
        if line.endswith(":"):
            space = line[:-1]
        else:
            found.setdefault(space, []).extend(line.split())
    return found


@cache
def remedies() -> list[tuple[str, str]]:
    """Patterns of whole names, each with what to do instead, in order of precedence."""
    pairs = (line.partition(": ") for line in lines("pytorch_remedies.txt") if line)
    return [(pattern, advice) for patterns, _, advice in pairs for pattern in patterns.split()]


def lines(file: str) -> list[str]:
    """The lines of a text file beside this module, without comments."""
    from pkgutil import get_data

    text = get_data(__name__, file)
    return [] if text is None else [line for line in text.decode().splitlines() if not line.startswith("#")]
