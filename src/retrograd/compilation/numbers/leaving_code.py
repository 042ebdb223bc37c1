"""Whether a value that a function gets from a call only leaves the function.

The code returns the value, alone or in a new list, tuple or dict, or appends it to a list that only grows. Then nobody
looks at the value before the compiled call is over.
"""

from __future__ import annotations

import dis
from functools import lru_cache
from types import CodeType

from ..reach.instructions import WITHOUT_RESULT, effect, loads_method

# How many values of the stack an instruction takes: so many times its number, and so many more.
_BUILDING = {"BUILD_TUPLE": (1, 0), "BUILD_LIST": (1, 0), "BUILD_MAP": (2, 0), "BUILD_CONST_KEY_MAP": (1, 1)}
_TAKEN = {"LOAD_ATTR": 1, "LOAD_METHOD": 1, "BINARY_OP": 2, "BINARY_SUBSCR": 2, "COMPARE_OP": 2, "UNARY_NEGATIVE": 1,
          "FORMAT_SIMPLE": 1, "FORMAT_WITH_SPEC": 2}
_CALLS = ("PRECALL", "CALL")


@lru_cache(maxsize=1024)
def only_leaves(code: CodeType, offset: int, grown: frozenset[str], outermost: bool) -> bool:
    """Whether the value of the call at an offset only leaves the code. `outermost` says that what the code returns is
    the result of the compiled function; else the code must append the value to a list with a name in `grown`.
    """
    lines = [part for line in dis.get_instructions(code) if line.opname not in WITHOUT_RESULT for part in _parts(line)]
    at = sum([line.offset <= offset for line in lines]) - 1  # the offset may be in the caches behind the call
    return lines[at].opname == "CALL" and _Leaving(lines, grown, outermost).leaves(at)


def _parts(line: dis.Instruction) -> list[dis.Instruction]:
    """An instruction, or two of them if it loads or stores two variables."""
    names = [f"{name}_FAST" for name in line.opname.split("_") if name in ("LOAD", "STORE")]
    if type(line.argval) is not tuple or len(names) != 2 or "FAST" not in line.opname:
        return [line]
    return [line._replace(opname=name, opcode=dis.opmap[name], arg=0, argval=variable)
            for name, variable in zip(names, line.argval, strict=True)]


class _Leaving:
    """Follows values through the code of one function."""

    def __init__(self, lines: list[dis.Instruction], grown: frozenset[str], outermost: bool) -> None:
        self.lines, self.grown, self.outermost = lines, grown, outermost
        self.variables: set[str] = set()                     # that are being followed

    def leaves(self, at: int) -> bool:
        """Whether the value that is on top of the stack after an instruction only leaves the code."""
        above = 0                                            # so many values are on the stack above this one
        for place in range(at + 1, len(self.lines)):
            line = self.lines[place]
            name, arg = line.opname, line.arg or 0
            if line.is_jump_target:
                return False
            if not above and name in ("RETURN_VALUE", "STORE_FAST"):
                return self.outermost and (name == "RETURN_VALUE" or self.variable(str(line.argval)))
            if not above and name in _CALLS:
                return arg == 1 and self.is_append(place)
            taken = self.taken(place)
            if taken is None or (taken > above and name not in _BUILDING) or (name == "BUILD_MAP" and above % 2):
                return False
            above = 0 if taken > above else above + effect(line)
        return False

    def taken(self, place: int) -> int | None:
        """How many values an instruction takes from the stack; None if it may do anything else."""
        line, before = self.lines[place], self.lines[place - 1].opname
        name, arg = line.opname, line.arg or 0
        if name in _BUILDING:
            times, more = _BUILDING[name]
            return arg * times + more
        if name in _CALLS:
            return 0 if before == "PRECALL" else arg + 2
        if name == "FORMAT_VALUE":
            return 1 + bool(arg & 4)
        pushes = (name.startswith("LOAD_") and effect(line) > 0) or name == "PUSH_NULL"
        return _TAKEN.get(name, 0 if pushes else None)

    def variable(self, name: str) -> bool:
        """Whether the value of a variable only leaves the code, wherever the code reads the variable."""
        uses = [(place, line.opname) for place, line in enumerate(self.lines)
                if line.argval == name and "FAST" in line.opname]
        if name in self.variables or [opname for _, opname in uses].count("STORE_FAST") != 1:
            return False
        self.variables.add(name)
        return all([opname in ("STORE_FAST", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK") and (
            opname == "STORE_FAST" or self.leaves(place)) for place, opname in uses])

    def is_append(self, call: int) -> bool:
        """Whether a call appends to a list that only grows."""
        for place in range(1, call):
            line = self.lines[place]
            if line.argval == "append" and loads_method(line) and self.lines[place - 1].argval in self.grown:
                depth, at = 0, place + 1
                while at < call and depth >= 0 and not self.lines[at].is_jump_target:
                    depth, at = depth + effect(self.lines[at]), at + 1
                if at == call and depth == 1:
                    return True
        return False
