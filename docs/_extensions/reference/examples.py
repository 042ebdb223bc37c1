"""Examples for functions whose text has none: a call from the table of operators that the tests run, and its gradient.

The call is made while the page is made, so that the page shows what the function returns.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

import retrograd
from op_table.entry import FUNCTIONAL, Entry, functional, method, named
from op_table.table import TABLE
from reference import sessions

_NAMES = "xyzw"


class Call(NamedTuple):
    """A call of the table: the path of the function, its text with places for the inputs, and the entry."""

    path: str
    text: str
    entry: Entry


@cache
def _calls() -> dict[str, Call]:
    """The first simple call of each function, by its path."""
    found: dict[str, Call] = {}
    for entry in TABLE:
        for call in _read(entry):
            found.setdefault(call.path, call)
    return found


def _read(entry: Entry) -> Iterator[Call]:
    """The call of an entry that names its function, as the helpers of the table make it."""
    code = getattr(entry.call, "__code__", None)
    if code not in (named("").__code__, method("").__code__, functional("").__code__):
        yield from _written(entry)
        return
    held = dict(zip(code.co_freevars, [cell.cell_contents for cell in entry.call.__closure__ or ()]))
    name, options = held["name"], [repr(value) for value in held.get("arguments", ())]
    options += [f"{key}={value!r}" for key, value in held.get("options", {}).items()]
    after = "".join(f", {option}" for option in options)
    inputs = _NAMES[:len(entry.shapes[0])]
    if code is method("").__code__:
        arguments = ", ".join([*inputs[1:], *options])
        yield Call(f"torch.Tensor.{name}", f"{inputs[0]}.{name}({arguments})", entry)
    else:
        path = f"torch.nn.functional.{name}" if code is functional("").__code__ else f"torch.{name}"
        yield Call(path, f"{path}({', '.join(inputs)}{after})", entry)


def _written(entry: Entry) -> Iterator[Call]:
    """The call of an entry whose lambda is one call of a function or a method, without names of other places."""
    call, path = entry.call, ""
    if isinstance(call, partial) and len(call.args) == 2:              # an entry of `each`: a name and a lambda
        name, call = call.args
        path = f"torch.nn.functional.{name}" if name in FUNCTIONAL else f"torch.{name}"
    code = getattr(call, "__code__", None)
    if code is None or code.co_freevars or getattr(call, "__defaults__", None):
        return
    first, *inputs = code.co_varnames[:code.co_argcount]
    here = [node for node in _lambdas(code.co_filename) if node.lineno == code.co_firstlineno
            and [each.arg for each in node.args.args] == [first, *inputs]]
    if len(here) != 1 or not isinstance(here[0].body, ast.Call) or inputs != [*_NAMES[:len(inputs)]]:
        return
    function = ast.unparse(here[0].body.func)
    owner = function.partition(".")[0]
    start = path or ("torch" if owner == first else "torch.Tensor" if owner in inputs else "")
    if start and (not path or function == first):
        text = re.sub(rf"\b{first}\b", path or "torch", ast.unparse(here[0].body))
        yield Call(start + function[len(owner):], text, entry)


@cache
def _lambdas(file: str) -> list[ast.Lambda]:
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]


def example(path: str) -> str:
    """A session in which a function is called, or a class, '' if nothing is known to call it with."""
    return _of_table(path) or sessions.example(path)


def _of_table(path: str) -> str:
    """A session with a simple call of the table of operators, and its gradient, '' without such a call."""
    call = _calls().get(path)
    if call is None or "f" not in call.entry.kinds:
        return ""
    for shapes in (((3,),) * len(call.entry.shapes[0]), call.entry.shapes[0]):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return "\n".join(_session(call, shapes))
        except Exception:       # the call does not take these shapes
            continue
    return ""


def _session(call: Call, shapes: Any) -> Iterator[str]:
    draws = np.random.default_rng(crc32(call.path.encode()))
    scope: dict[str, Any] = {"torch": retrograd}
    if sum(int(np.prod(shape)) for shape in shapes) > 24 or any(len(shape) > 2 for shape in shapes):
        raise ValueError("too large for a page")
    for i, (name, shape) in enumerate(zip(_NAMES, shapes)):         # the inputs are named in their order
        values = np.round(call.entry._array(draws, shape, np.dtype("float64"), i), 1)
        line = f"{name} = torch.tensor({(values + 0.0).tolist()}, requires_grad=True)"
        exec(line, scope)
        yield f">>> {line}"
    yield f">>> result = {call.text}"
    result = scope["result"] = eval(call.text, scope)
    yield from (">>> result", repr(result))
    if isinstance(result, retrograd.Tensor) and result.requires_grad and not call.entry.refused:
        result.sum().backward()
        grads = ", ".join(f"{name}.grad" for name in _NAMES[:len(shapes)])
        shown = eval(grads, scope)
        yield from (">>> result.sum().backward()", f">>> {grads}", repr(shown))
