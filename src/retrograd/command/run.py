"""Run a program written for PyTorch as ``python SCRIPT`` or ``python -m MODULE`` would, with retrograd as its torch.

The program cannot see a difference: ``__main__``, sys.argv, sys.path, standard input, the exit status and the
tracebacks are those of Python itself.
"""

import argparse
import builtins
import os
import sys
from collections.abc import Callable
from importlib.machinery import BuiltinImporter, ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from types import CodeType, ModuleType, TracebackType
from typing import Any, NoReturn

from retrograd.command.imports import as_torch
from retrograd.foundations.board import VARIABLE, note_end
from retrograd.foundations.launching import place
from retrograd.foundations.names import instead


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd run``."""
    parser.description = "Run a program as python does, except that `import torch` means retrograd."
    parser.epilog = "examples:\n  retrograd run train.py --epochs 3\n  retrograd run -m package.train"
    add_program(parser)


def add_program(parser: argparse.ArgumentParser) -> None:
    """Let a subcommand take a program. Its other options must be added before, because they stand before it."""
    own = "".join(f"[{action.option_strings[0]}{f' {action.metavar or action.dest.upper()}' * (action.nargs is None)}] "
                  for action in parser._actions if action.option_strings)
    parser.usage = f"{parser.prog} {own}(SCRIPT | - | -m MODULE) [ARGUMENT ...]"
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument("script", nargs="?", metavar="SCRIPT", help="a file, or - for standard input")
    program.add_argument("-m", dest="module", metavar="MODULE", help="a module or package, as with python -m")
    parser.set_defaults(has_program=True)


def run(options: argparse.Namespace, ours: bool = True) -> None:
    """Run the program of ``SCRIPT`` or ``-m MODULE`` with its arguments. An error in the program passes through.

    If `ours` is False, the program gets the torch that Python finds.
    """
    name_place()
    if options.module is not None:
        run_module(options.module, options.arguments, ours)
    else:
        run_script(options.script, options.arguments, ours)


def name_place() -> None:
    """Say the rank of this process as torchrun does, in RANK, WORLD_SIZE and LOCAL_RANK, if mpiexec or srun started it.

    Programs read these variables, for their messages or to choose a device.
    """
    found = place()
    if found is not None and VARIABLE in os.environ:
        note_end(found.rank)
    if found is not None and "RANK" not in os.environ:
        os.environ.update(RANK=str(found.rank), WORLD_SIZE=str(found.size), LOCAL_RANK=str(found.local_rank))
        for name, value in (("MASTER_ADDR", "localhost"), ("MASTER_PORT", "29500")):
            os.environ.setdefault(name, value)


def run_script(script: str, arguments: list[str], ours: bool = True) -> None:
    """Run a file, or the ``__main__`` of a folder or of a zip archive, or standard input if the script is ``-``."""
    sys.argv = [script, *arguments]
    spec = None if script == "-" else PathFinder.find_spec("__main__", [os.path.join(os.getcwd(), script)])
    if spec is not None and spec.loader is not None:
        _run_main_of(script, spec, ours)
        return
    loader: SourceFileLoader | type[BuiltinImporter]
    if script == "-":
        _set_first_path("")
        source, file, loader = sys.stdin.buffer.read(), "<stdin>", BuiltinImporter
    else:
        file = os.path.join(os.getcwd(), script)
        source = _read(file)
        _set_first_path(os.path.dirname(os.path.realpath(script)))
        loader = SourceFileLoader("__main__", file)
    attributes = {"__file__": file, **_cached(None), "__loader__": loader, "__package__": None, "__spec__": None}
    _execute(attributes, lambda: compile(source, file, "exec", dont_inherit=True), ours)


def _run_main_of(place: str, spec: ModuleSpec, ours: bool) -> None:
    """Run the ``__main__`` of a folder or of a zip archive, whose other modules it finds."""
    # Python adds this folder with -P, too. There is then no folder of the command in its place.
    sys.path[:not sys.flags.safe_path] = [os.path.join(os.getcwd(), place)]
    loader: Any = spec.loader
    attributes = {"__file__": spec.origin, **_cached(spec.cached), "__loader__": loader, "__package__": "",
                  "__spec__": spec}
    _execute(attributes, lambda: loader.get_code("__main__"), ours)


def run_module(name: str, arguments: list[str], ours: bool = True) -> None:
    """Run a module, or a package's ``__main__``, from the current folder or wherever Python finds it."""
    sys.argv = ["-m", *arguments]  # as Python sets it while it looks for the module
    _set_first_path(os.getcwd())
    attributes: dict[str, Any] = {}

    def load() -> CodeType:
        spec, code = _find_module(name)
        sys.argv[0] = spec.origin or name
        attributes.update(__file__=spec.origin, **_cached(spec.cached), __loader__=spec.loader)
        attributes.update(__package__=spec.parent, __spec__=spec)
        return code

    _execute(attributes, load, ours)


def _cached(place: str | None) -> dict[str, Any]:
    """What a program finds under the name ``__cached__``, which Python has up to 3.14."""
    return {"__cached__": place} if sys.version_info < (3, 15) else {}


def _execute(attributes: dict[str, Any], load: Callable[[], CodeType], ours: bool) -> None:
    """Load a program and run it as ``__main__``. If `ours` is true, its torch is retrograd."""
    if ours:
        as_torch()
    # Objects of the program that a spawned child sends back come from the module `__mp_main__`.
    module = sys.modules["__main__"] = sys.modules["__mp_main__"] = ModuleType("__main__")
    try:
        code = load()
        vars(module).update(__builtins__=builtins, **attributes)
        exec(code, vars(module))
    except SystemExit:
        raise
    except BaseException as error:
        # Python itself handles the error, because it knows every rule of reports and exit statuses. Only our frames are
        # hidden.
        _report_from(_program_part(error.__traceback__))
        raise


def _find_module(name: str) -> tuple[ModuleSpec, CodeType]:
    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the package exists, but lacks something itself
        spec = None
    if spec is None:
        _stop(f"No module named {name}{_instead(name)}", 1)
    get_code = getattr(spec.loader, "get_code", None)
    code: CodeType | None = get_code(name) if get_code else None
    if code is None:
        _stop(f"No code object available for {name}{_instead(name)}", 1)
    return spec, code


def _instead(name: str) -> str:
    """What to do instead of running a module of PyTorch that retrograd lacks."""
    parent, _, last = name.rpartition(".")
    return instead(parent, last, modules=True) if name.startswith("torch.") else ""


def _read(file: str) -> bytes:
    if os.path.isdir(file):
        _stop(f"can't find '__main__' module in {file!r}", 1)
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except OSError as error:
        _stop(f"can't open file {file!r}: [Errno {error.errno}] {error.strerror}", 2)


def _stop(message: str, status: int) -> NoReturn:
    print(f"retrograd: {message}", file=sys.stderr)
    raise SystemExit(status)


def _set_first_path(folder: str) -> None:
    if not sys.flags.safe_path:  # with -P Python adds no folder that could be replaced
        sys.path[0] = folder


def _program_part(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of this file and of the import system before the program's own."""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if file != __file__ and not file.startswith("<frozen importlib"):
            return traceback
        traceback = traceback.tb_next
    return None


def _report_from(traceback: TracebackType | None) -> None:
    """Show this traceback for the exception that is about to end the interpreter."""
    report = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
        report(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = hook
