"""What a kernel or a derivative rule computes, as a program of operators, for arrays of a layout class.

A layout class names the dims of each array by letters. `R` are the rows, which the machine code takes block by block.
Each letter has a prime number as its size here, so the factors of a number in the program say of which sizes the
number is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ...foundations.dtypes import Array
from ...foundations.modes import local
from ...ops.elementwise.arithmetic import add, mul, neg, sub
from ...ops.framework import Op
from ...ops.reductions import sum_dim
from ..native import lowered
from ..native.lanes import Unknown
from ..passes.fusing import Unit
from ..passes.order import Work
from ..program.lines import Line, Program, Ref, Value
from .plans import Given, Size

# Steps that a loop computes again, and how many of them for one value.
_QUICK, _FEW = frozenset((add, sub, mul, neg)), 6
# The sizes of one letter, of two letters, and so on. Options of operators hardly ever have such factors. Loops count as
# large.
_PRIMES = ((65521,), (251, 257), (37, 41, 43), (17, 19, 23, 29))


class Statement(NamedTuple):
    """A program whose units all have machine code. `primes` are the sizes of the letters."""

    values: list[Value]
    units: list[Unit]
    primes: dict[str, int]
    inputs: list[int]
    outputs: list[int]


class _Writing:
    """The lines of a program while a function of arrays runs."""

    def __init__(self) -> None:
        self.values: list[Value] = []
        self.lines: list[Line] = []
        self._constants: dict[Any, Ref] = {}

    def value(self, like: Array, source: Any) -> Ref:
        """A new value."""
        number = len(self.values)
        self.values.append(Value(number, like, number, source))
        return Ref(number)

    def constant(self, number: Any, dtype: np.dtype[Any]) -> Ref:
        """A number as a 0-d array."""
        like = np.asarray(number, dtype)
        key = like.dtype, like.tobytes()
        if key not in self._constants:
            self._constants[key] = self.value(like, "constant")
        return self._constants[key]

    def call(self, op: Op, args: Sequence[Any]) -> Any:
        """A call of an operator, whose results are stand-ins."""
        arrays = [arg.like if type(arg) is _StandIn else arg for arg in args]
        found = local.thread.run(op.kernel, *arrays)
        results = [np.asarray(result) for result in (found if isinstance(found, tuple) else (found,))
                   if result is not None]
        if any([isinstance(arg, (list, tuple)) and any([type(part) is _StandIn for part in arg]) for arg in args]):
            raise Unknown("a list of arrays")
        if op.view:
            raise Unknown("a view")
        made = [self.value(result, "line") for result in results]
        plain = tuple([arg.ref if type(arg) is _StandIn else arg for arg in args])
        several = isinstance(found, tuple)
        self.lines.append(Line(op, op.compute, plain, tuple([ref.number for ref in made]), several, False, None))
        stand_ins = tuple([_StandIn(self, ref, result) for ref, result in zip(made, results)])
        return stand_ins if several else stand_ins[0]


class _StandIn(NDArrayOperatorsMixin):
    """An array of a program that is being written. Rules ask it for its shape and dtype, and compute with it."""

    def __init__(self, writing: _Writing, ref: Ref, like: Array) -> None:
        self.writing, self.ref, self.like = writing, ref, like

    shape = property(lambda self: self.like.shape)
    dtype = property(lambda self: self.like.dtype)
    ndim = property(lambda self: self.like.ndim)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        op = Op.by_kernel.get(ufunc)
        if ufunc is np.add and method == "reduce" and [*options] == ["axis"]:
            return self.writing.call(sum_dim, [*inputs, (options["axis"],), False, None])
        if op is None or method != "__call__" or options:
            raise Unknown(f"no operator of {ufunc}")
        return self.writing.call(op, [x if type(x) is _StandIn else self._number(x) for x in inputs])

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise Unknown(f"no operator of {function}")

    def _number(self, x: Any) -> Any:
        """A Python number beside this array, which has the array's dtype."""
        if type(x) not in (int, float, bool):
            raise Unknown(f"an operand of the class {type(x).__name__}")
        like = np.result_type(self.like.dtype, x)
        return _StandIn(self.writing, self.writing.constant(x, like), np.asarray(x, like))

    @staticmethod
    def __op__(op: Op, args: Sequence[Any]) -> Any:
        first = next(arg for arg in args if type(arg) is _StandIn)
        return first.writing.call(op, args)


def primes_of(given: Sequence[Any]) -> dict[str, int]:
    """The size of each letter of a layout class."""
    letters = {letter for each in given if type(each) is Given for dim in each.letters for letter in dim} - {"1"}
    letters |= {each.letter for each in given if type(each) is Size}
    return dict(zip(sorted(letters), _PRIMES[len(letters) - 1], strict=True))


def _seems_a_size(option: Any, primes: dict[str, int]) -> bool:
    """Whether an option is a number that the size of a letter divides, so that it would count as made of sizes."""
    return type(option) in (int, float) and option != 0 and any([option % prime == 0 for prime in primes.values()])


def stated(function: Callable[..., Any], given: Sequence[Any]) -> Statement:
    """The program of `function(*given)`, where a `Given` stands for each array. Raises Unknown if it has no machine
    code.
    """
    primes, writing, inputs = primes_of(given), _Writing(), list[int]()
    if any([_seems_a_size(each, primes) for each in given]):
        raise Unknown("an option that has the factors of a size")
    args = []
    for each in given:
        if type(each) is not Given:
            args.append(primes[each.letter] if type(each) is Size else each)
            continue
        like = np.ones([math.prod([primes.get(letter, 1) for letter in dim]) for dim in each.letters], each.dtype)
        ref = writing.value(like, "outside")
        inputs.append(ref.number)
        args.append(_StandIn(writing, ref, like))
    try:
        found = function(*args)
    except (TypeError, AttributeError) as error:
        raise Unknown(str(error)) from error
    outputs = found if isinstance(found, tuple) else (found,)
    if any([type(each) is not _StandIn for each in outputs]):
        raise Unknown("a result that is no array")
    program = Program(writing.values, writing.lines, inputs, [each.ref.number for each in outputs])
    work = Work(program, inputs, native=True, sized=True, lowering=lowered)
    work.run(late=False)
    work.run(late=True)
    for unit in work.units:
        if not unit.native or unit.shape is None:
            raise Unknown(f"no machine code for {[line.op for line in unit.lines]}")
    return Statement(work.program.values, _computed_again(work.units), primes, inputs, work.program.outputs)


def _computed_again(units: Sequence[Unit]) -> list[Unit]:
    """The units, where a loop computes again what earlier loops have computed in a few quick steps. So this needs no
    memory.
    """
    makers: dict[int, Line] = {}
    found = []
    for unit in units:
        before = list[Line]()
        for number in [number for line in unit.lines for number in line.reads]:
            chain = _quick(number, makers)
            if len(chain) <= _FEW:
                before += [line for line in chain if line not in before]
        found.append(unit._replace(lines=(*before, *unit.lines)))
        makers.update({line.results[0]: line for line in unit.lines if line.op in _QUICK and _is_whole(unit)})
    return found


def _is_whole(unit: Unit) -> bool:
    """Whether a loop goes over more than the rows."""
    return unit.shape is not None and len([n for n in unit.shape if n > 1]) > 1


def _quick(number: int, makers: dict[int, Line]) -> list[Line]:
    """The quick steps that make a value, in order; none if another step makes it."""
    line = makers.get(number)
    if line is None:
        return []
    found = list[Line]()
    for read in line.reads:
        found += [each for each in _quick(read, makers) if each not in found]
    return [*found, line]


def factors(number: int, primes: dict[str, int]) -> tuple[int, str]:
    """A number as a factor times the sizes of letters."""
    letters = ""
    for letter, prime in primes.items():
        while number and number % prime == 0:
            number //= prime
            letters += letter
    if number > math.prod(primes.values()) or any([number > prime for prime in primes.values()]):
        raise Unknown("a number that is no product of sizes")
    return number, letters
