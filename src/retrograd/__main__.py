"""``python -m retrograd``: the command line of `retrograd.command.cli`."""

from retrograd.command.cli import main

main()
