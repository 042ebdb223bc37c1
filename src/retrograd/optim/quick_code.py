"""The formula of an optimizer as Python code: calls of NumPy that write into given memory.

The formula is computed once on objects that write down their calls (`written`). The code serves all values of the
options that decide alike. The code would freeze whatever else a formula reads, such as an attribute of the optimizer,
and lose what else the formula does. So only closed formulas become code. This module must not know any single
optimizer.
"""

from __future__ import annotations

import builtins
import dis
import math
from collections import Counter
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..foundations.dtypes import Array
from ..foundations.names import PACKAGE
from ..ops.framework import Op
from .written import Number, Options, Written, computing, symbolic

# Formulas take a parameter, a gradient, the state by name, the rates of the step, and the options.
Formula = Callable[[Any, Any, dict[str, Any], Any, Any], None]

LONG = 6


class Code(NamedTuple):
    """A formula as a function: `run(*numbers, *arrays, *memory)`, with `slots` arrays of memory to compute in.

    `alone(*numbers, *arrays)` makes new memory instead, which is quicker for small arrays. The arrays are the
    parameter, the gradient and the state. `writes` has the places of the arrays that are written, and how often.
    `numbers` computes the numbers from the options and the rates, and `serves` says whether the code is right for them.
    `long` says whether the code takes longer than the copies with which one call serves several small parameters.
    """

    run: Callable[..., None]
    alone: Callable[..., None]
    slots: int
    long: bool
    writes: tuple[tuple[int, int], ...]
    numbers: Callable[[Any, Any], tuple[Any, ...]]
    serves: Callable[[Any, Any], tuple[Any, ...]]


class Ready(NamedTuple):
    """What the steps of several parameters share: the formula as code with its numbers, or the rates for `Elements`."""

    names: tuple[str, ...]
    alone: Callable[..., None] | None                    # the code for small arrays of real numbers
    code: Code | None
    numbers: tuple[Array, ...]
    rates: Any
    following: dict[str, float]


class Call(NamedTuple):
    """A call of a kernel: what it writes, and what it reads. `new` says that it makes new memory for its result."""

    kernel: Callable[..., Any]
    target: str
    operands: tuple[str, ...]
    new: bool = False


class CodeWriter:
    """Writes calls, with names: "a0" for an array, "n0" for a number, "t0" for a result, "m0" for one in new memory."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.numbers: dict[str, str] = {}                  # the name of each number, by its text
        self.writes = Counter[str]()

    def operand(self, x: str, other: Any) -> str:
        if type(other) is str:
            return other
        return self.numbers.setdefault(other.text if type(other) is Number else repr(other), f"n{len(self.numbers)}")

    def call(self, op: Op, *operands: str) -> str:
        self.calls.append(Call(op.kernel, f"t{len(self.calls)}", operands))
        return self.calls[-1].target

    def made(self, kernel: Callable[..., Any], *operands: str) -> str:
        self.calls.append(Call(kernel, f"m{len(self.calls)}", operands, True))
        return self.calls[-1].target

    def write(self, op: Op, target: str, *operands: str) -> None:
        self.calls.append(Call(op.kernel if isinstance(op, Op) else op, target, operands))
        self.writes[target] += 1

    def copy(self, target: str, value: str) -> None:
        self.calls.append(Call(np.copyto, target, (value,)))
        self.writes[target] += 1

    def copied(self, value: str) -> str:
        self.calls.append(Call(np.copyto, f"t{len(self.calls)}", (value,)))
        return self.calls[-1].target

    def code(self, arrays: Sequence[str], kept: dict[str, str], compared: list[str]) -> Code:
        """The code. `kept` has the values that the formula has made, by the array that they shall be in."""
        names = {value: array for array, value in kept.items() if value.startswith("t")}
        self.calls += [Call(np.copyto, array, (value,)) for array, value in kept.items() if value not in names]
        calls = _without_copies(self.calls)
        lines, slots = _placed(calls, names)
        scope: dict[str, Any] = {"__name__": __name__}     # whose code it is, for those who watch calls
        functions: list[Callable[..., None]] = []
        for memory, new in (([f"s{slot}" for slot in range(slots)], False), ([], True)):
            texts = [line.text(scope, new) for line in lines] or ["pass"]
            text = f"def run({', '.join([*self.numbers.values(), *arrays, *memory])}):\n    " + "\n    ".join(texts)
            exec(compile(text, "<formula>", "exec"), scope)
            functions.append(scope["run"])
        writes = tuple([(place, self.writes[array]) for place, array in enumerate(arrays) if self.writes[array]])
        return Code(functions[0], functions[1], slots, len(lines) > LONG, writes, computing(*self.numbers),
                    computing(" and ".join(dict.fromkeys(compared)) or "True"))


def _without_copies(calls: list[Call]) -> list[Call]:
    """The calls without copies of what the call before has made for nothing else."""
    uses, found = Counter([name for call in calls for name in call.operands]), list[Call]()
    for call in calls:
        value = call.operands[0]
        if call.kernel is np.copyto and value[0] == "t" and found and found[-1].target == value and uses[value] == 1:
            found[-1] = found[-1]._replace(target=call.target)
        else:
            found.append(call)
    return found


def _placed(calls: list[Call], names: dict[str, str]) -> tuple[list[Line], int]:
    """The calls with results in memory to compute in, and how many arrays this memory has.

    `names` are those of values that lie elsewhere.
    """
    last = {name: place for place, call in enumerate(calls) for name in (*call.operands, call.target)}
    slots, free, lines = 0, list[str](), list[Line]()
    for place, call in enumerate(calls):
        operands = [names.get(name, name) for name in call.operands]
        free += [slot for name in dict.fromkeys(call.operands)
                 if last[name] == place and (slot := names.get(name, ""))[:1] == "s"]
        first = False
        if call.target[0] == "t" and call.target not in names:
            first = not free
            if first:
                free.append(f"s{slots}")
                slots += 1
            names[call.target] = free.pop()
        lines.append(Line(call.kernel, names.get(call.target, call.target), ", ".join(operands), call.new, first))
    return lines, slots


class Line(NamedTuple):
    """A line of code. `first` says that nothing has been in the memory of the result before."""

    kernel: Callable[..., Any]
    target: str
    given: str
    new: bool
    first: bool

    def text(self, scope: dict[str, Any], new: bool) -> str:
        """The text. Kernels get into `scope` by their names. `new` says whether results make their memory."""
        kernel, name = self.kernel, self.kernel.__name__
        scope[name] = kernel
        if kernel is np.copyto:
            copied = f"{self.target} = {self.given}.copy()"
            return copied if new and self.first else f"copyto({self.target}, {self.given})"
        if self.new or (new and self.first):
            return f"{self.target} = {name}({self.given})"
        # Positional arguments are quicker than keywords, but these two warn of a third.
        positional = isinstance(kernel, np.ufunc) and kernel not in (np.maximum, np.minimum)
        return f"{name}({self.given}, {'' if positional else 'out='}{self.target})"


def write_code(formula: Formula, names: Sequence[str], missing: Sequence[str], options: dict[str, Any],
               rates: Any) -> Code | None:
    """The code of a formula for a state with these names. If some names are missing yet, the formula makes
    them; None for a formula that cannot be written down.
    """
    writer, compared = CodeWriter(), list[str]()
    arrays = [f"a{place}" for place in range(2 + len(names))]
    p, g, *held = [Written(writer, array) for array in arrays]
    state = {name: value for name, value in zip(names, held) if name not in missing}
    try:
        formula(p, g, state, symbolic(rates, "rates", compared), Options(options, compared))
    except TypeError:                                      # tensors will do what can be done, or raise the error
        return None
    kept = {held[names.index(name)].ref: state[name].ref for name in missing}
    return writer.code(arrays, kept, compared)


# Functions and types of Python's that depend on their arguments alone.
_BUILTINS = frozenset(("abs", "bool", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range",
                       "reversed", "round", "sum", "tuple", "zip"))
_VARIABLES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS",
              "LOAD_FROM_DICT_OR_DEREF", "STORE_GLOBAL", "DELETE_GLOBAL", "STORE_DEREF", "DELETE_DEREF", "IMPORT_NAME",
              "LOAD_SUPER_ATTR", "STORE_ATTR", "DELETE_ATTR")


def is_closed(method: Any) -> bool:
    """Whether a method reads and changes nothing but its arguments, and not its object; so do the package's own ones.
    """
    if type(method) is not FunctionType or method.__defaults__ or method.__kwdefaults__:
        return False
    if str(method.__module__).partition(".")[0] == PACKAGE:
        return True
    code = method.__code__
    return code.co_argcount > 0 and not code.co_freevars and _is_closed(code, method.__globals__, code.co_varnames[0])


def _is_closed(code: CodeType, variables: dict[str, Any], own: str) -> bool:
    for line in dis.get_instructions(code):
        if line.opname in _VARIABLES and not (line.opname == "LOAD_GLOBAL" and _is_fixed(str(line.argval), variables)):
            return False
        names = line.argval if type(line.argval) is tuple else (line.argval,)
        if "FAST" in line.opname and own in names:           # the optimizer itself
            return False
        if type(line.argval) is CodeType and not _is_closed(line.argval, variables, ""):
            return False
    return True


def _is_fixed(name: str, variables: dict[str, Any]) -> bool:
    """Whether a global name stands for a function of Python's that depends on its arguments alone, or for `math`."""
    if name in variables:
        return variables[name] is math
    return name in _BUILTINS and hasattr(builtins, name)
