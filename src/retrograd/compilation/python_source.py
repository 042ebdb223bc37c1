"""Python source under construction, and the text of the calls in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..dtypes import RARE
from ..kernels.layout import dense
from ..kernels.rows import LARGE_SUM
from ..ops.framework import Op, called_as_ufunc
from ..ops.linalg.matrix import mm
from ..ops.reductions import sum_all, sum_dim
from ..tensors.recording.inplace import write_over
from .program import Line, Ref, Value

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

    def body(self, name: str, parameters: Sequence[str]) -> str:
        """The text of the function with the lines as its body."""
        return f"def {name}({', '.join(parameters)}):\n" + "".join([f"    {line}\n" for line in self.lines or ["pass"]])

    def function(self, name: str, parameters: Sequence[str]) -> Callable[..., Any]:
        """The function with the lines as its body."""
        exec(compile(self.body(name, parameters), f"<compiled {name}>", "exec"), self.scope)
        made: Callable[..., Any] = self.scope[name]
        return made


def has_rare_types(line: Line, values: list[Value]) -> bool:
    """Whether a line has arrays of types that kernels do not take as they are."""
    return bool(RARE) and any([values[number].like.dtype in RARE for number in (*line.reads, *line.results)])


def plain_call(line: Line, values: list[Value]) -> bool:
    """Whether a line calls the kernel of its op with arrays that the kernel takes as they are."""
    return line.call == line.op.compute and not has_rare_types(line, values)


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
        return source.call(op.kernel, args, text, out=text(target.number), casting='"unsafe"')
    return f"copyto({text(target.number)}, {source.call(op.kernel, args, text)}, casting=\"unsafe\")"


def _in_place(op: Op, args: Sequence[Any], target: Value, values: list[Value]) -> bool:
    """Whether the kernel of an op may write its result into the target: a ufunc, on one floating-point type."""
    dtypes = {values[arg.number].like.dtype for arg in args if type(arg) is Ref}
    # NumPy's `negative` may be wrong where the operand and the result have the same gaps.
    gaps = op.kernel is np.negative and not dense(target.like)
    return op.kind == "elementwise" and isinstance(op.kernel, np.ufunc) and dtypes == {target.like.dtype} and (
        target.like.dtype.kind == "f" and not gaps)


def direct(line: Line, values: list[Value]) -> tuple[Any, tuple[Any, ...], dict[str, str]] | None:
    """A function that writes the result of a line into `out`, with its arguments and options; None if there is none.

    The function gives the numbers of the kernel, bit for bit.
    """
    op, like = line.op, values[line.results[0]].like
    if not plain_call(line, values) or line.several:
        return None
    if called_as_ufunc(op.kernel):
        return op.kernel, line.args, {}
    first = values[line.args[0].number].like if type(line.args[0]) is Ref else like
    if op is mm and _by_blas(first, values[line.args[1].number].like) and like.flags.c_contiguous:
        return np.dot, line.args, {}
    if (op is sum_all or op is sum_dim) and first.dtype.kind == "f" and first.dtype == like.dtype and (
            first.itemsize >= 4 and line.args[-1] is None and first.size < LARGE_SUM):
        axes, keepdim = (None, False) if op is sum_all else line.args[1:3]
        return np.add.reduce, line.args[:1], {"axis": repr(axes), "keepdims": repr(keepdim)}
    return None


def _by_blas(x: Any, y: Any) -> bool:
    """Whether the kernel of a product of matrices is `dot` alone."""
    return 0 not in x.strides and 0 not in y.strides and x.ndim == y.ndim == 2 and x.dtype == y.dtype and (
        y.size <= 4096 or not y.flags.f_contiguous)
