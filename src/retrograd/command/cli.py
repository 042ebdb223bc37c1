"""The command line: a table of subcommands. Each subcommand is a module, which is imported when it is called.

The module of a subcommand has ``add(parser)``, which adds its description and its arguments, and ``run(options)``,
which does the work and returns the exit status. A subcommand that runs a program calls `run.add_program` in its
``add``: its own options stand before the name of the program, and all arguments after the name belong to the program.
If its program runs in other processes, ``elsewhere`` is true among the defaults of its parser.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import io
import os
import re
import sys
from types import ModuleType
from typing import NamedTuple

from retrograd import version
from retrograd.foundations.names import near


class Subcommand(NamedTuple):
    """One line of the table."""

    name: str
    says: str
    module: str

    def load(self) -> ModuleType:
        """The module of the subcommand."""
        return importlib.import_module(f"retrograd.command.{self.module}")


SUBCOMMANDS = (
    Subcommand("run", "run a program written for PyTorch, with retrograd as its torch", "run"),
    Subcommand("launch", "start a program as several processes that compute together", "launch"),
    Subcommand("graph", "run a program, and draw the graph of its first backward pass", "graph"),
    Subcommand("explore", "run a program, and write a page of one of its backward passes", "explore"),
    Subcommand("check", "list the names of torch that a program needs and retrograd lacks", "check"),
    Subcommand("profile", "show which operators of a program take the time", "profile"),
    Subcommand("compare", "run a program with PyTorch too, and name the first operation that differs", "compare"),
    Subcommand("help", "explain an error: by the name below its message, or by a part of the message", "help"),
    Subcommand("info", "show versions, threads, devices and optional extras", "info"),
    Subcommand("completion", "print the script by which a shell completes these commands", "completion"),
)


# What names a program although the word starts with a hyphen: -, -m MODULE, -mMODULE.
_PROGRAM = re.compile(r"-(m|$)")


def main(arguments: list[str] | None = None) -> None:
    """Entry point of ``retrograd`` and ``python -m retrograd``."""
    if arguments is None:
        gc.freeze()      # what the package consists of is never garbage; the collector goes over it at the end, too
    module, options = read(sys.argv[1:] if arguments is None else arguments)
    if getattr(options, "has_program", False) and not getattr(options, "elsewhere", False):
        sys.exit(module.run(options))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")    # names and lines of programs may have any signs
    try:
        status = module.run(options)
        flush_output()
    except BrokenPipeError:                              # such as `retrograd completion bash | head`
        close_output()
        status = 1
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


def flush_output() -> None:
    """Flush standard output, if there is one. A program without a terminal may have none."""
    if sys.stdout is not None:
        sys.stdout.flush()


def printable(text: str) -> str:
    """A text for the standard output of a program, with a question mark for each sign that its encoding lacks."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def close_output() -> None:
    """Write nothing more to standard output, since nobody reads it. Python would complain of it at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def read(words: list[str]) -> tuple[ModuleType, argparse.Namespace]:
    """The module of the subcommand that these arguments call, and what they say. The help and errors end the process.

    The arguments after the name of a program are in ``options.arguments``.
    """
    chosen = next((each for each in SUBCOMMANDS if words[:1] == [each.name]), None)
    if chosen is None:
        parser = overview()
        if words and not words[0].startswith("-"):
            parser.error(_no_command(words[0]))
        parser.parse_args(words)
        raise AssertionError(words)  # the parser accepts only names in the table
    parser = parser_of(chosen)
    ours, the_programs = _split(parser, words[1:])
    _point_out(parser, ours, the_programs)
    return chosen.load(), parser.parse_args(ours, argparse.Namespace(arguments=the_programs))


def overview() -> argparse.ArgumentParser:
    """The parser of a call without a subcommand: the help, the version, or an error."""
    parser = argparse.ArgumentParser(
        prog="retrograd", description="PyTorch's autograd in pure Python on NumPy.", allow_abbrev=False,
        epilog="`retrograd COMMAND --help` describes a command and shows examples.")
    parser.add_argument("--version", action="version", version=f"retrograd {version.retrograd}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for each in SUBCOMMANDS:
        commands.add_parser(each.name, help=each.says)
    return parser


def _no_command(word: str) -> str:
    """What is said of a word in the place of a command: the nearest command, or how to run a program of this name."""
    said = f"{word!r} is not a command"
    if word.endswith(".py") or os.path.exists(word):
        return f"{said}; to run a program: retrograd run {word}"
    names = [each.name for each in SUBCOMMANDS]
    close = near(word.casefold(), names)
    return f"{said}; the nearest: {', '.join(close)}" if close else f"{said}; the commands: {', '.join(names)}"


def parser_of(subcommand: Subcommand) -> argparse.ArgumentParser:
    """The parser of the arguments of a subcommand."""
    parser = argparse.ArgumentParser(prog=f"retrograd {subcommand.name}", allow_abbrev=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    subcommand.load().add(parser)
    return parser


def _point_out(parser: argparse.ArgumentParser, ours: list[str], the_programs: list[str]) -> None:
    """Say which options of retrograd stand behind the program's name. The program gets them, whoever is meant."""
    known = {word for action in parser._actions if action.dest not in ("help", "module")
             for word in action.option_strings}
    behind = [word for word in the_programs if word.partition("=")[0] in known]
    if behind:
        verb = "stands" if len(behind) == 1 else "stand"
        print(f"{parser.prog}: {', '.join(behind)} {verb} behind {ours[-1]}, so the program gets "
              f"{'it' if len(behind) == 1 else 'them'}; options of retrograd stand before the program", file=sys.stderr)


def _split(parser: argparse.ArgumentParser, words: list[str]) -> tuple[list[str], list[str]]:
    """The arguments of retrograd itself, and the arguments after the program's name, which belong to the program."""
    if not parser.get_default("has_program"):
        return words, []
    valued = {word for action in parser._actions if action.nargs is None for word in action.option_strings}
    count = 0
    while count < len(words) and words[count].startswith("-") and not _PROGRAM.match(words[count]):
        count += 2 if words[count] in valued else 1
    count += 2 if words[count:count + 1] == ["-m"] else 1
    return words[:count], words[count:]
