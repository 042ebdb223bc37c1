"""`explain`: how a function is computed and differentiated, read from the source of the package."""

from __future__ import annotations

import dis
import html
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

from ..autograd.function import Function
from ..autograd.function_node import FunctionNode
from ..foundations.errors import OWN
from ..graph.node import AccumulateGrad, Node, OpNode, site_of
from ..ops.framework import Op, parameters
from ..tensors.recording.inplace import CopySlices
from ..tensors.recording.saved_names import attributes_of
from ..tensors.state.base import TensorBase
from .facts import facts_of
from .saved import named_values
from .statements import Statement, bare, source_of, statement_of, statement_of_op

_LINES = 40                                              # of a source that a terminal shows
_DEEP = 3                                                # how many functions may stand between a function and its ops


class Section(NamedTuple):
    """A part of an explanation: a heading, sentences, and source text, which may be empty."""

    heading: str
    says: tuple[str, ...]
    source: str


class Explanation:
    """What `explain` found: a list of `sections`. Its text is for a terminal; a notebook shows it with headings."""

    def __init__(self, sections: list[Section]) -> None:
        self.sections = sections

    def __repr__(self) -> str:
        blocks = []
        for heading, says, source in self.sections:
            lines = source.splitlines()
            if len(lines) > _LINES:
                lines = [*lines[:_LINES], f"… ({len(lines) - _LINES} more lines)"]
            blocks.append("\n".join([heading, *[f"  {sentence}" for sentence in says],
                                     *[f"    {line}".rstrip() for line in lines]]))
        return "\n\n".join(blocks)

    def _repr_html_(self) -> str:
        parts = []
        for heading, says, source in self.sections:
            parts.append(f"<h4>{html.escape(heading)}</h4>")
            parts += [f"<p>{html.escape(sentence)}</p>" for sentence in says]
            if source:
                parts.append(f"<pre><code>{html.escape(source)}</code></pre>")
        return "<div>" + "\n".join(parts) + "</div>"


def explain(what: Any) -> Explanation:
    """How a function of torch is computed and differentiated: its operators, their rules, and what they save and why.

    `what` is a function such as `torch.exp`, a method such as `torch.Tensor.exp`, an operator of `torch.op`, a class
    derived from `torch.autograd.Function`, a node such as `y.grad_fn`, or a tensor that a node has made. For a node,
    the explanation also lists the values that the node has saved.

    Raises TypeError for any other object.

    >>> import retrograd as torch
    >>> torch.explain(torch.exp)
    torch.exp(Tensor input, *, Tensor out=None)
      `exp`, element by element.
    <BLANKLINE>
    operator exp: elementwise, node ExpBackward0
      The kernel is numpy.exp.
      The gradient of x is computed from g, out.
      A node saves: result, for the gradient of x.
      Machine code has a formula for it.
      PyTorch's errors about unsigned integers, floats of 8 bits and bfloat16 name the kernels none, exp_vml_cpu, none.
      ops/elementwise/elementary.py:24
        exp = elementwise("exp", np.exp, domain="float", x=lambda g, out: g * out)
    """
    if isinstance(what, TensorBase):
        what = what.grad_fn
    if not isinstance(what, type):
        what = getattr(what, "_node", what)             # the context of a Function stands for its node
    if isinstance(what, Node):
        return Explanation([*_of_node(what)])
    if isinstance(what, Op):
        return Explanation([*_of_op(what)])
    if isinstance(what, type) and issubclass(what, Function):
        return Explanation([*_of_class(what)])
    what = getattr(what, "__func__", what)
    if isinstance(what, FunctionType):
        return Explanation([*_of_function(what)])
    raise TypeError("explain() takes a function of torch, a method of tensors, an operator, a Function, a node or a "
                    f"tensor with a grad_fn, not {type(what).__name__}")


def _of_node(node: Node) -> Iterator[Section]:
    site = site_of(node)
    made = () if site is None else (f"It was recorded at {site}.",)
    if isinstance(node, AccumulateGrad):
        yield Section(f"node {node.name()}", ("It is the end of the graph: it adds the gradient that arrives into "
                                              "`.grad` of a leaf.",), "")
        return
    saved = [f"{name} = {_brief(value)}" for name, value in named_values(node)]
    inputs = [child.name() for child, _ in node.links if child is not None]
    yield Section(f"node {node.name()}", (
        *made, f"It gives gradients to: {', '.join(inputs) or 'nothing'}.",
        f"It has saved: {'; '.join(saved) or 'nothing'}."), "")
    inner = node.inner if isinstance(node, CopySlices) and node.inner is not None else node
    if isinstance(inner, OpNode):
        yield from _of_op(inner.op)
    elif isinstance(inner, FunctionNode):
        yield from _of_class(inner.context_class._forward_cls)
    else:
        statement = statement_of(inner)
        if statement is not None:
            yield _shown("its rule", statement)


def _brief(value: Any) -> str:
    value = getattr(value, "_array", getattr(value, "array", value))
    shape = getattr(value, "shape", None)
    return repr(value)[:80] if shape is None else f"{value.dtype}{[*shape]}"


def _of_class(function: type[Any]) -> Iterator[Section]:
    for name in ("forward", "setup_context", "backward", "vjp", "jvp", "vmap"):
        method = getattr(function, name)
        if method is not getattr(Function, name):
            statement = source_of(f"{function.__name__}.{name}", method)
            if statement is not None:
                yield _shown(f"{function.__name__}.{name}", statement)


def _shown(heading: str, statement: Statement, *says: str) -> Section:
    return Section(heading, (*says, statement.at), statement.text)


def _of_function(function: FunctionType) -> Iterator[Section]:
    """A function of the package: its signatures, its own source if it has one, and the operators that it calls."""
    public = getattr(function, "public", None)
    ops = [] if public is not None and public.body is not function else _ops_of(function)
    if not _is_ours(function):
        raise TypeError(f"explain() knows the functions of torch, and {function.__module__}.{function.__qualname__} is "
                        "none of them")
    doc = (inspect.getdoc(function) or "").partition("\n\n")[0].replace("\n", " ")
    if public is not None and public.schemas:
        headings = [f"torch.{schema.partition(' -> ')[0]}" for schema in public.schemas]
    else:
        headings = [f"{function.__qualname__}{inspect.signature(function)}"]
    yield Section("\n".join(headings), (doc,) if doc else (), "")
    if ops:
        for op in dict.fromkeys(ops):
            yield from _of_op(op)
        return
    body = function if public is None else public.body
    found = [*dict.fromkeys(_ops_in(body, _DEEP))]
    statement = source_of(function.__name__, body)
    template = "<locals>" in bare(body).__code__.co_qualname        # of several functions that a factory makes
    if statement is not None and not (template and found):
        yield _shown("its definition", statement)
    for inner in [inner for inner in found if inner.steps] or found:
        yield from _of_op(inner)


def _ops_of(function: Any) -> list[Op]:
    """The operators that a recorded call runs: those in its closure, themselves or by their nodes."""
    found: list[Op] = []
    for cell in (isinstance(function, FunctionType) and function.__closure__) or ():
        value = cell.cell_contents
        if isinstance(value, type) and issubclass(value, OpNode):
            value = value.op
        if isinstance(value, Op):
            found.append(value)
    return found


def _ops_in(function: Callable[..., Any], deep: int) -> Iterator[Op]:
    """The operators that a function names, then the operators named by the package's functions that it names."""
    function = bare(function)
    if isinstance(function, FunctionType):
        ops, further = _named_by(function)
        yield from ops
        for inner in further if deep > 1 else ():
            yield from _ops_in(inner, deep - 1)


@cache
def _named_by(function: FunctionType) -> tuple[list[Op], list[FunctionType]]:
    """The operators that a function names, and the functions of the package that name others."""
    found: list[Op] = []
    further: list[FunctionType] = []
    held = [cell.cell_contents for cell in function.__closure__ or ()]     # what the factory of the function gave to it
    for value in (*held, *_values_in(function.__code__, function.__globals__)):
        ops = [value] if isinstance(value, Op) else _ops_of(value)
        found += ops
        inner = bare(getattr(getattr(value, "public", None), "body", value))
        if not ops and isinstance(inner, FunctionType) and _is_ours(inner):
            further.append(inner)
    return found, further


def _is_ours(function: Callable[..., Any]) -> bool:
    return str(bare(function).__code__.co_filename).startswith(OWN)


def _values_in(code: CodeType, variables: Mapping[str, Any]) -> Iterator[Any]:
    """The values of the global names, and of the names of modules, that code reads."""
    module: Any = None
    for step in dis.get_instructions(code):
        if step.opname == "LOAD_GLOBAL":
            value = variables.get(step.argval)
            module = value if isinstance(value, ModuleType) else None
            yield value
        else:
            if module is not None and step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
                yield getattr(module, step.argval, None)
            module = None
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _values_in(constant, variables)


def _of_op(op: Op) -> Iterator[Section]:
    """An operator: its kernel, its rules, what its nodes save and why, and what tables say. Then its in-place form."""
    kernel = op.kernel
    place = source_of(op.name, kernel)
    home = getattr(kernel, "__module__", None) or "numpy"
    says = [f"The kernel is {home}.{getattr(kernel, '__name__', op.name)}." if place is None
            else f"The kernel is {getattr(kernel, '__name__', op.name)}, at {place.at}."]
    for index, rule, _ in op.steps:
        names = parameters(rule)
        said = f"The gradient of {op.arguments[index]}" if not op.joint else "The gradients of all tensors together"
        says.append(f"{said} {'is' if not op.joint else 'are'} computed from {', '.join(names)}.")
    if not op.steps:
        says.append("It has no derivative.")
    else:
        says.append(f"A node saves: {_saved(op) or 'nothing'}.")
    if op.composition is not None:
        says.append("For tensors, it is recorded as a composition of other operators.")
    says += facts_of(op)
    statement = statement_of_op(op)
    node = f", node {op.node_name}" if op.steps else ""
    heading = f"operator {op.name}: {op.kind}{', a view' if op.view else ''}{node}"
    yield Section(heading, (*says, *(() if statement is None else (statement.at,))),
                  "" if statement is None else statement.text)
    if op.written is not op:
        changed = [name for name, rule in op.written.rules.items() if op.rules.get(name) is not rule]
        rules = f"; other rules for {', '.join(changed)}" if changed else ""
        yield Section(f"in place: operator {op.written.name}, node {op.written.node_name}{rules}", (
            f"A node saves: {_saved(op.written) or 'nothing'}.",), "")


def _saved(op: Op) -> str:
    """The values that a node of the operator may keep, each with the gradients whose rules name the value."""
    names = {found.place: name for name, found in attributes_of(op).items() if found.kind == "saved"}
    found = []
    for place, save in enumerate(op.saves):
        users = [op.arguments[index] for index, _, places in op.steps if place in places]
        if users and save.kind in ("input", "out", "static"):
            name = names.get(place) or (op.outputs if save.kind == "out" else op.arguments)[save.place]
            found.append(f"{name}, for the gradient of {' and '.join(users)}")
    return "; ".join(found)
