"""Print the script by which a shell completes the command line: names of subcommands, options, choices and files.

The script is made from the parsers of the subcommands.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from retrograd.command.cli import SUBCOMMANDS, parser_of

_EXAMPLES = """examples:
  source <(retrograd completion bash)          # in ~/.bashrc
  source <(retrograd completion zsh)           # in ~/.zshrc, after compinit
  retrograd completion fish > ~/.config/fish/completions/retrograd.fish"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the description and the arguments of ``retrograd completion``."""
    parser.description = "Print the script by which a shell completes the arguments of retrograd."
    parser.epilog = _EXAMPLES
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=" or ".join(_SHELLS))


def run(options: argparse.Namespace) -> None:
    """Print the script."""
    print(_SHELLS[options.shell](_commands()))


Commands = dict[str, tuple[str, list[argparse.Action]]]


def _commands() -> Commands:
    """What each subcommand is for, and its arguments."""
    return {each.name: (each.says, parser_of(each)._actions) for each in SUBCOMMANDS}


def bash(commands: Commands) -> str:
    """The script for bash."""
    lines = ["_retrograd() {",
             '    local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
             '    if [ "$COMP_CWORD" -eq 1 ]; then',
             f"        COMPREPLY=($(compgen -W '{' '.join([*commands, '--help', '--version'])}' -- \"$current\"))",
             "        return",
             "    fi",
             '    case "${COMP_WORDS[1]} $before $current" in']
    for name, (_, actions) in commands.items():
        for action in actions:
            if action.choices:
                for before in action.option_strings or [name]:
                    lines.append(f"        '{name} {before} '*) words='{' '.join(action.choices)}' ;;")
        options = " ".join(word for action in actions for word in action.option_strings)
        lines.append(f"        '{name} '*' -'*) words='{options}' ;;")
    return "\n".join([*lines, "    esac",
                      '    if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$current"));',
                      "    else local IFS=$'\\n'; COMPREPLY=($(compgen -f -- \"$current\")); fi",
                      "}", "complete -o filenames -F _retrograd retrograd"])


def zsh(commands: Commands) -> str:
    """The script for zsh."""
    lines = ["#compdef retrograd", "_retrograd() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{name}:{says}')}" for name, (says, _) in commands.items()]
    lines += ["    )", "    if (( CURRENT == 2 )); then", "        _describe command commands", "        return",
              "    fi", "    local command=$words[2]", "    shift words", "    (( CURRENT-- ))", "    case $command in"]
    for name, (_, actions) in commands.items():
        found = []
        for action in actions:
            values = f"({' '.join(action.choices)})" if action.choices else "_files"
            what = "".join(c for c in action.help or "" if c not in "[]:")
            takes = f":{action.metavar or action.dest}:{values}" if action.nargs is None else ""
            found += [_quoted(f"{word}[{what}]{takes}") for word in action.option_strings]
            if not action.option_strings and action.choices:
                found.append(_quoted(f"1{takes}"))
        lines.append(f"        {name}) _arguments {' '.join([*found, _quoted('*:file:_files')])} ;;")
    return "\n".join([*lines, "    esac", "}", "compdef _retrograd retrograd"])


def fish(commands: Commands) -> str:
    """The script for fish."""
    lines = []
    for name, (says, actions) in commands.items():
        lines.append(f"complete -c retrograd -f -n __fish_use_subcommand -a {name} -d {_quoted(says)}")
        for action in actions:
            words = [f"-{'l' if word.startswith('--') else 's'} {word.lstrip('-')}" for word in action.option_strings]
            if action.option_strings and action.nargs is None:
                words.append("-r")
            if action.choices:
                words.append(f"-f -a {_quoted(' '.join(action.choices))}")
            if words:
                lines.append(f"complete -c retrograd -n {_quoted(f'__fish_seen_subcommand_from {name}')} "
                             f"{' '.join(words)} -d {_quoted(action.help or '')}")
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """A text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


_SHELLS: dict[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
