"""Python source under construction, and the text of the calls in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from ...foundations.dtypes import Array
from ...kernels.layout import dense
from ...kernels.rows import widened
from ...kernels.thresholds import ROW_SUMS
from ...ops.framework import Op, called_as_ufunc
from ...ops.linalg.matrix import mm
from ...ops.reductions import sum_all, sum_dim
from ...tensors.recording.inplace import write_over
from ..program.lines import Line, Ref, Value, has_rare_types, plain_call

# A write over one number is quicker in Python's floats. Their result has more than twice as many bits as a float32, so
# its rounding to float32 is that of the exact result.
_SIGNS: dict[Any, str] = {np.add: "+", np.subtract: "-", np.multiply: "*"}
# The number of the first line in the body of a function.
FIRST_LINE = 2


class Source:
    """Lines of Python, with the objects that their global names mean."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.scope: dict[str, Any] = {"asarray": np.asarray, "copyto": np.copyto, "empty": np.empty}
        self._names: dict[int, str] = {}

    def name(self, value: Any, kind: str = "k") -> str:
        """The global name of an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{kind}{len(self._names)}"
            self.scope[name] = value
        return name

    def argument(self, value: Any, text: Callable[[int], str]) -> str:
        """The text of an argument: `text` gives that of a value. Options are literals or global names."""
        if type(value) is Ref:
            return text(value.number)
        if type(value) is tuple:
            inner = ", ".join([self.argument(part, text) for part in value])
            return f"({inner},)" if len(value) == 1 else f"({inner})"
        if type(value) is list:
            return f"[{', '.join([self.argument(part, text) for part in value])}]"
        if value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.name(value)

    def call(self, function: Any, args: Sequence[Any], text: Callable[[int], str], **options: str) -> str:
        """The text of a call."""
        given = [*[self.argument(arg, text) for arg in args], *[f"{key}={value}" for key, value in options.items()]]
        return f"{self.name(function, 'f')}({', '.join(given)})"

    def write(self, function: Callable[..., Any], args: Sequence[Any], text: Callable[[int], str], out: str) -> str:
        """The text of a call that writes its result into `out`; `...` is new memory.

        Positional arguments are quicker than keywords.
        """
        positional = isinstance(function, np.ufunc) and len(args) == function.nin and out != "..."
        if positional and function not in (np.maximum, np.minimum):          # which warn of a third argument
            return f"{self.call(function, args, text)[:-1]}, {out})"
        return self.call(function, args, text, out=out)

    def body(self, name: str, parameters: Sequence[str]) -> str:
        """The text of the function with the lines as its body."""
        return f"def {name}({', '.join(parameters)}):\n" + "".join([f"    {line}\n" for line in self.lines or ["pass"]])

    def function(self, name: str, parameters: Sequence[str]) -> Callable[..., Any]:
        """The function with the lines as its body."""
        exec(compile(self.body(name, parameters), f"<compiled {name}>", "exec"), self.scope)
        made: Callable[..., Any] = self.scope[name]
        return made


def write_text(source: Source, line: Line, values: list[Value], text: Callable[[int], str]) -> str:
    """The text of a call that writes over its first argument, for floating point that is quiet already."""
    target, *args = line.args
    call: Any = line.call
    if call.func is not write_over:                        # the kernel behind a partial function
        return source.call(call.args[0], line.args, text)
    op, into = call.args
    if has_rare_types(line, values) or not values[target.number].like.flags.writeable:
        return source.call(call, line.args, text)
    if into is not None:
        return source.call(into, args, text)
    if _in_place(op, args, values[target.number], values):
        if op.kernel in _SIGNS and all([type(arg) is Ref and not values[arg.number].like.ndim for arg in args]):
            x, y = [f"{text(arg.number)}.item()" for arg in args]
            return f"{text(target.number)}[()] = {x} {_SIGNS[op.kernel]} {y}"
        return source.write(op.kernel, args, text, text(target.number))
    return f"copyto({text(target.number)}, {source.call(op.kernel, args, text)}, casting=\"unsafe\")"


def _in_place(op: Op, args: Sequence[Any], target: Value, values: list[Value]) -> bool:
    """Whether the kernel of an op may write its result into the target: a ufunc, on one floating-point type."""
    dtypes = {values[arg.number].like.dtype for arg in args if type(arg) is Ref}
    plain = all([type(arg) in (Ref, int, float, bool) for arg in args])
    # NumPy's `negative` may be wrong where the operand and the result have the same gaps.
    gaps = op.kernel is np.negative and not dense(target.like)
    return op.kind == "elementwise" and isinstance(op.kernel, np.ufunc) and dtypes == {target.like.dtype} and (
        target.like.dtype.kind == "f" and plain and not gaps)


def direct(line: Line, values: list[Value],
           varying: Container[int]) -> Callable[[Source, Callable[[int], str], str], str] | None:
    """What gives the text of a call that writes the result of a line into memory, whose text it is given last; None if
    there is none.

    The call gives the numbers of the kernel, bit for bit. The size of the values `varying` may be another one: then the
    kernel itself decides.
    """
    op, args, like = line.op, line.args, values[line.results[0]].like
    if not plain_call(line, values) or line.several:
        return None
    if called_as_ufunc(op.kernel):
        return lambda source, text, out: source.write(op.kernel, args, text, out)
    first = values[args[0].number].like if type(args[0]) is Ref else like
    if op is mm and _by_blas(first, values[args[1].number].like, args[1].number in varying) and (
            like.flags.c_contiguous):
        return lambda source, text, out: f"{text(args[0].number)}.dot({text(args[1].number)}, {out})"
    if (op is sum_all or op is sum_dim) and first.dtype.kind == "f" and first.dtype == like.dtype and (
            first.itemsize >= 4 and args[-1] is None and first.size < ROW_SUMS and args[0].number not in varying):
        axes, keepdim = (None, False) if op is sum_all else args[1:3]
        if widened(first, axes) is not None:
            return None
        return lambda source, text, out: source.call(np.add.reduce, (args[0], axes, None), text)[:-1] + (
            f", {out}, {keepdim})")
    return None


def _by_blas(x: Array, y: Array, varies: bool) -> bool:
    """Whether the kernel of a product of matrices is `dot` alone. `varies` says whether y may have another size."""
    return 0 not in x.strides and 0 not in y.strides and x.ndim == y.ndim == 2 and x.dtype == y.dtype and (
        (y.size <= 4096 and not varies) or not y.flags.f_contiguous)
