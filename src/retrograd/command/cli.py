"""The command line: reads the arguments, and calls the functions that do the work."""

import argparse
import sys

from retrograd import version
from retrograd.command.check import check
from retrograd.command.info import describe
from retrograd.command.run import run_module, run_script

_RUN_USAGE = "retrograd run [-h] (SCRIPT | - | -m MODULE) [ARGUMENT ...]"


def main(arguments: list[str] | None = None) -> None:
    """Entry point of ``retrograd`` and ``python -m retrograd``."""
    ours, the_programs = _split(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    options = parser.parse_args(ours)
    if options.command == "info":
        print(describe())
    elif options.command == "check":
        sys.exit(check(options.target))
    elif options.module is not None:
        run_module(options.module, the_programs)
    else:
        run_script(options.script, the_programs)


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """The arguments of retrograd itself, and the arguments after the program's name, which belong to the program."""
    if arguments[:1] != ["run"]:
        return arguments, []
    count = 3 if arguments[1:2] == ["-m"] else 2
    return arguments[:count], arguments[count:]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="retrograd", description="PyTorch's autograd in pure Python on NumPy.")
    parser.add_argument("--version", action="version", version=f"retrograd {version.retrograd}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = commands.add_parser(
        "run", usage=_RUN_USAGE, help="run a program written for PyTorch, with retrograd as its torch",
        description="Run a program as python does, except that `import torch` means retrograd.")
    program = run.add_mutually_exclusive_group(required=True)
    program.add_argument("script", nargs="?", metavar="SCRIPT", help="a file, or - for standard input")
    program.add_argument("-m", dest="module", metavar="MODULE", help="a module or package, as with python -m")
    checked = commands.add_parser(
        "check", help="list the names of torch that a program needs and retrograd lacks",
        description="Read programs, without running them, and list the names of torch that retrograd lacks.")
    checked.add_argument("target", nargs="+", metavar="TARGET", help="a file, a folder, or the name of a package")
    commands.add_parser("info", help="show versions, threads, devices and optional extras")
    return parser
