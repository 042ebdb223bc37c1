"""What single instructions of Python's code do. They are only read."""

from __future__ import annotations

import dis
import sys

_BY_METHOD = sys.version_info < (3, 12)                      # an instruction of its own loads methods
WITHOUT_RESULT = frozenset({"EXTENDED_ARG", "KW_NAMES", "NOP", "CACHE"})


def effect(line: dis.Instruction) -> int:
    """By how much an instruction makes the stack higher."""
    return dis.stack_effect(line.opcode, line.arg if line.opcode >= dis.HAVE_ARGUMENT else None)


def loads_method(line: dis.Instruction) -> bool:
    """Whether an instruction loads what is called next, as an attribute."""
    if _BY_METHOD:
        return line.opname == "LOAD_METHOD"
    return line.opname == "LOAD_ATTR" and bool((line.arg or 0) & 1)
