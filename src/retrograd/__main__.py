"""``python -m retrograd``: the command line of `retrograd.command.cli`, and nothing else."""

from retrograd.command.cli import main

main()
