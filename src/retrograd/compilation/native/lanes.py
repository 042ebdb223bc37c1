"""The language of the formulas: vectors of numbers, one number for each lane, whose operators write LLVM's text.

A Python number beside a vector counts less than the vector, as in NumPy: it is converted to the vector's dtype if that
has its kind. Two vectors are converted to their common dtype. No instruction has flags that let LLVM change results.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from ...foundations.dtypes import BOOL_, F32, F64, I64
from .host import is_x86
from .modules import Module

I32 = np.dtype(np.int32)
# The dtypes that have lanes, and LLVM's types for them. In memory a bool is a byte.
TYPES: dict[Any, str] = {F32: "float", F64: "double", I32: "i32", I64: "i64", BOOL_: "i1"}
_INTEGERS = {F32: I32, F64: I64}
Number: TypeAlias = int | float


class Unknown(Exception):
    """There is no machine code for a step."""


def constant(value: Any, dtype: np.dtype[Any]) -> str:
    """A number in LLVM's text. Floats are the bits of a double, for both precisions."""
    with np.errstate(over="ignore"):                        # a number beyond the dtype is infinite
        number = dtype.type(value)
    if dtype.kind == "f":
        return f"0x{struct.unpack('<Q', struct.pack('<d', float(number)))[0]:016X}"
    return str(int(number)) if dtype.kind != "b" else str(bool(number)).lower()


class Code:
    """The lines of a function while they are written. `width` is the number of lanes of new vectors."""

    def __init__(self, module: Module, width: int) -> None:
        self.module, self.width = module, width
        self.lines: list[str] = []
        self.entry: list[str] = []                          # memory on the stack, which belongs at the start
        self.block = "entry"                                # the label of the code that is being written
        self._count = 0
        self._made: dict[str, str] = {}                     # the instructions whose values can be used here
        self.result: np.dtype[Any] = F32                    # the dtype of the result of the step that is written

    def name(self) -> str:
        """A new name for a value."""
        self._count += 1
        return f"%v{self._count}"

    def put(self, instruction: str) -> str:
        """Write an instruction, unless it is there already, and return the name of its value."""
        if not instruction.startswith("load"):
            return self._once(instruction)
        name = self.name()                                  # the memory may change
        self.lines.append(f"  {name} = {instruction}")
        return name

    def _once(self, instruction: str) -> str:
        """Write an instruction whose value never changes, unless it is there already."""
        name = self._made.get(instruction)
        if name is None:
            name = self._made[instruction] = self.name()
            self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        """Write an instruction without a value."""
        self.lines.append(f"  {instruction}")

    def label(self) -> str:
        """A new name for a place in the code, to be given to `at`."""
        self._count += 1
        return f"L{self._count}"

    def at(self, label: str) -> None:
        """Begin the code at the label."""
        self.lines.append(f"{label}:")
        self.block = label

    @contextmanager
    def region(self, label: str) -> Iterator[None]:
        """Code at the label that is not always run, so the code after the region does not use its values."""
        self.at(label)
        made = dict(self._made)
        yield
        self._made = made

    def loop(self, begin: int | str, end: int | str, step: int | str, body: Callable[[str], None]) -> None:
        """Code that runs for each i from `begin` to `end`. It is given the name of i, or i itself if there is one."""
        if isinstance(begin, int) and isinstance(end, int) and isinstance(step, int) and end - begin <= step:
            if begin < end:
                body(str(begin))
            return
        check, inside, done, i, after = self.label(), self.label(), self.label(), self.name(), self.name()
        before = self.block
        self.do(f"br label %{check}")
        self.at(check)
        place = len(self.lines)
        self.do("")                                         # what stands here needs the label where the body ends
        more = self.put(f"icmp slt i64 {i}, {end}")
        self.do(f"br i1 {more}, label %{inside}, label %{done}")
        with self.region(inside):
            body(i)
            self.do(f"{after} = add nsw i64 {i}, {step}")
            self.lines[place] = f"  {i} = phi i64 [ {begin}, %{before} ], [ {after}, %{self.block} ]"
            self.do(f"br label %{check}")
        self.at(done)

    def only_if(self, condition: str | None, write: Callable[[], None]) -> None:
        """Code that runs if the condition holds, or always if there is none."""
        if condition is None:
            write()
            return
        inside, done = self.label(), self.label()
        self.do(f"br i1 {condition}, label %{inside}, label %{done}")
        with self.region(inside):
            write()
            self.do(f"br label %{done}")
        self.at(done)

    def function(self, header: str, result: str = "void") -> str:
        """The text of the function that consists of the lines. The header has what stands before the brace.

        The stack is aligned to vectors, since vectors that do not stay in registers lie there.
        """
        return "\n".join([f'define {header} nounwind "stackrealign" {{', "entry:", *self.entry, *self.lines,
                          f"  ret {result}", "}"])

    def stack(self, type: str) -> str:
        """The address of new memory on the stack."""
        name = self.name()
        self.entry.append(f"  {name} = alloca {type}")
        return name

    def type(self, dtype: Any) -> str:
        """The type of a vector."""
        if dtype not in TYPES:
            raise Unknown(f"no lanes of {dtype}")
        return f"<{self.width} x {TYPES[dtype]}>"

    def vector(self, name: str, dtype: np.dtype[Any]) -> Lanes:
        """The vector that has this name."""
        return Lanes(self, name, dtype)

    def all(self, value: Any, dtype: np.dtype[Any]) -> Lanes:
        """A vector with the number in all lanes."""
        if dtype not in TYPES:
            raise Unknown(f"no lanes of {dtype}")
        try:
            name = f"splat ({TYPES[dtype]} {constant(value, dtype)})"
        except (OverflowError, TypeError, ValueError) as error:
            raise Unknown(f"no {dtype} of {value!r}") from error
        if dtype.kind == "b" or value == 0 or not self.module.thorough or (
                self.width * dtype.itemsize * 8 != self.module.host.bits):
            return Lanes(self, name, dtype)
        type = self.type(dtype)
        place = self.module.pooled(f"{type} {name}")
        return Lanes(self, self._once(f"load {type}, ptr {place}, align {self.module.host.bits // 8}"), dtype)

    def call(self, name: str, result: str, arguments: Sequence[tuple[str, str]]) -> str:
        """A call of a function that is declared or defined, with types and names of the arguments."""
        return self.put(f"call {result} @{name}({', '.join([f'{type} {value}' for type, value in arguments])})")


class Lanes:
    """A vector in registers."""

    __slots__ = ("code", "dtype", "name")
    __hash__ = None                                         # type: ignore[assignment]

    def __init__(self, code: Code, name: str, dtype: np.dtype[Any]) -> None:
        self.code, self.name, self.dtype = code, name, dtype

    @property
    def type(self) -> str:
        """The type in LLVM's text."""
        return self.code.type(self.dtype)

    def like(self, value: Any) -> Lanes:
        """A number in all lanes, of this dtype."""
        return self.code.all(value, self.dtype)

    def _binary(self, other: Any, floats: str, integers: str, bools: str = "", swapped: bool = False) -> Lanes:
        x, y = pair(self, other)
        if swapped:
            x, y = y, x
        instruction = {"f": floats, "i": integers, "b": bools}[x.dtype.kind]
        if not instruction:
            raise Unknown(f"no such instruction for {x.dtype}")
        return x.code.vector(x.code.put(f"{instruction} {x.type} {x.name}, {y.name}"), x.dtype)

    def _compare(self, other: Any, floats: str, integers: str) -> Lanes:
        x, y = pair(self, other)
        if x.dtype.kind == "b":
            x, y = to(x, I32), to(y, I32)
        test = f"fcmp {floats}" if x.dtype.kind == "f" else f"icmp {integers}"
        return x.code.vector(x.code.put(f"{test} {x.type} {x.name}, {y.name}"), BOOL_)

    def __add__(self, other: Any) -> Lanes:
        return self._binary(other, "fadd", "add", "or")

    def __radd__(self, other: Any) -> Lanes:
        return self._binary(other, "fadd", "add", "or", swapped=True)

    def __sub__(self, other: Any) -> Lanes:
        return self._binary(other, "fsub", "sub")

    def __rsub__(self, other: Any) -> Lanes:
        return self._binary(other, "fsub", "sub", swapped=True)

    def __mul__(self, other: Any) -> Lanes:
        return self._binary(other, "fmul", "mul", "and")

    def __rmul__(self, other: Any) -> Lanes:
        return self._binary(other, "fmul", "mul", "and", swapped=True)

    def __truediv__(self, other: Any) -> Lanes:
        return self._floats()._binary(other, "fdiv", "")

    def __rtruediv__(self, other: Any) -> Lanes:
        return self._floats()._binary(other, "fdiv", "", swapped=True)

    def _floats(self) -> Lanes:
        return self if self.dtype.kind == "f" else to(self, F64)

    def __neg__(self) -> Lanes:
        if self.dtype.kind == "f":
            return self.code.vector(self.code.put(f"fneg {self.type} {self.name}"), self.dtype)
        return self.like(0) - self

    def __and__(self, other: Any) -> Lanes:
        return self._binary(other, "", "and", "and")

    def __or__(self, other: Any) -> Lanes:
        return self._binary(other, "", "or", "or")

    def __xor__(self, other: Any) -> Lanes:
        return self._binary(other, "", "xor", "xor")

    def __invert__(self) -> Lanes:
        return self ^ self.like(self.dtype.kind == "b" or -1)

    def __lshift__(self, count: int) -> Lanes:
        return self._shifted("shl", count)

    def __rshift__(self, count: int) -> Lanes:
        return self._shifted("ashr", count)

    def _shifted(self, instruction: str, count: int) -> Lanes:
        if self.dtype.kind != "i":
            raise Unknown(f"no such instruction for {self.dtype}")
        count_in_code = f"splat ({TYPES[self.dtype]} {count})"
        return self.code.vector(self.code.put(f"{instruction} {self.type} {self.name}, {count_in_code}"), self.dtype)

    def __eq__(self, other: Any) -> Lanes:                  # type: ignore[override]
        return self._compare(other, "oeq", "eq")

    def __ne__(self, other: Any) -> Lanes:                  # type: ignore[override]
        return self._compare(other, "une", "ne")

    def __lt__(self, other: Any) -> Lanes:
        return self._compare(other, "olt", "slt")

    def __le__(self, other: Any) -> Lanes:
        return self._compare(other, "ole", "sle")

    def __gt__(self, other: Any) -> Lanes:
        return self._compare(other, "ogt", "sgt")

    def __ge__(self, other: Any) -> Lanes:
        return self._compare(other, "oge", "sge")


def pair(x: Any, y: Any) -> tuple[Lanes, Lanes]:
    """Two operands in their common dtype. One may be a Python number."""
    if not isinstance(x, Lanes):
        x = y.code.all(x, np.result_type(y.dtype, x))
    elif not isinstance(y, Lanes):
        y = x.code.all(y, np.result_type(x.dtype, y))
    dtype = np.result_type(x.dtype, y.dtype)
    return to(x, dtype), to(y, dtype)


def to(x: Lanes, dtype: Any) -> Lanes:
    """The vector in another dtype, converted as `astype` converts arrays."""
    source, target = x.dtype, np.dtype(dtype)
    if source == target:
        return x
    if target not in TYPES:
        raise Unknown(f"no lanes of {target}")
    if target.kind == "b":
        return x != x.like(0)
    if source.kind == "f" and target.kind == "i":
        return _whole(x, target)
    if source.kind == "f":
        instruction = "fpext" if target.itemsize > source.itemsize else "fptrunc"
    elif target.kind == "f":
        instruction = "uitofp" if source.kind == "b" else "sitofp"
    else:
        instruction = "zext" if source.kind == "b" else "sext" if target.itemsize > source.itemsize else "trunc"
    return x.code.vector(x.code.put(f"{instruction} {x.type} {x.name} to {x.code.type(target)}"), target)


def _whole(x: Lanes, dtype: np.dtype[Any]) -> Lanes:
    """Floats as integers, as the processor converts them, and so NumPy. A nan, and what is out of range, are the least
    integer for x86; ARM takes the nearest integer, and 0 for a nan. LLVM's own conversion leaves such numbers open.
    """
    code, type = x.code, x.code.type(dtype)
    if not is_x86():
        name = f"llvm.fptosi.sat.v{code.width}i{dtype.itemsize * 8}.v{code.width}f{x.dtype.itemsize * 8}"
        code.module.declare(name, type, x.type)
        return code.vector(code.call(name, type, [(x.type, x.name)]), dtype)
    bound = 2 ** (dtype.itemsize * 8 - 1)
    inside = absolute(x) < float(bound)
    whole = code.vector(code.put(f"fptosi {x.type} {select(inside, x, 0.0).name} to {type}"), dtype)
    return select(inside, whole, -bound)


def bits_of(x: Lanes) -> Lanes:
    """The bits of floats, as integers."""
    dtype = _INTEGERS[x.dtype]
    return x.code.vector(x.code.put(f"bitcast {x.type} {x.name} to {x.code.type(dtype)}"), dtype)


def from_bits(bits: Lanes, dtype: np.dtype[Any]) -> Lanes:
    """Floats with these bits."""
    return bits.code.vector(bits.code.put(f"bitcast {bits.type} {bits.name} to {bits.code.type(dtype)}"), dtype)


def select(condition: Lanes, x: Any, y: Any) -> Lanes:
    """x where the condition holds, else y. One of them may be a Python number."""
    if not isinstance(x, Lanes):
        x = y.like(x)
    elif not isinstance(y, Lanes):
        y = x.like(y)
    if x.dtype != y.dtype:
        raise Unknown("a choice between two dtypes")
    code: Code = x.code
    condition = to(condition, BOOL_)
    choice = f"select {condition.type} {condition.name}, {x.type} {x.name}, {y.type} {y.name}"
    return code.vector(code.put(choice), x.dtype)


def intrinsic(name: str, *operands: Lanes) -> Lanes:
    """A function that LLVM has instructions for: sqrt, fabs, copysign, floor, fma."""
    first = operands[0]
    code, full = first.code, f"llvm.{name}.v{first.code.width}{'f32' if first.dtype == F32 else 'f64'}"
    if first.dtype.kind != "f":
        raise Unknown(f"{name} is for floats")
    code.module.declare(full, first.type, *[first.type] * len(operands))
    return code.vector(code.call(full, first.type, [(x.type, x.name) for x in operands]), first.dtype)


def sqrt(x: Lanes) -> Lanes:
    """The square root."""
    return intrinsic("sqrt", x)


def absolute(x: Lanes) -> Lanes:
    """The absolute value."""
    return intrinsic("fabs", x) if x.dtype.kind == "f" else x if x.dtype.kind == "b" else select(x < 0, -x, x)


def maximum(x: Any, y: Any) -> Lanes:
    """The greater one, or a nan. Of two equal numbers the second, as in NumPy."""
    x, y = pair(x, y)
    greater = select(x > y, x, y)
    return greater if x.dtype.kind != "f" else select(x != x, x, greater)


def minimum(x: Any, y: Any) -> Lanes:
    """The lesser one, or a nan. Of two equal numbers the second, as in NumPy."""
    x, y = pair(x, y)
    lesser = select(x < y, x, y)
    return lesser if x.dtype.kind != "f" else select(x != x, x, lesser)


def limited(x: Lanes, low: Number, high: Number) -> Lanes:
    """x limited to [low, high]. A nan and the sign of a zero are kept."""
    if low != -math.inf:
        x = select(x < low, low, x)
    return x if high == math.inf else select(x > high, high, x)


def fused(x: Lanes, y: Any, z: Any) -> Lanes:
    """x * y + z, rounded once if the machine can. It is for polynomials, not for what a program wrote."""
    if not x.code.module.host.fma:
        result: Lanes = x * y + z
        return result
    return intrinsic("fma", x, *[a if isinstance(a, Lanes) else x.like(a) for a in (y, z)])
