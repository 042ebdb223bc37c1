"""How a graph is written as Python."""

from __future__ import annotations

import math
import re
import sys
import typing
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, NamedTuple

from ..foundations.devices import device
from ..foundations.dtypes import dtype
from ..foundations.names import PACKAGE
from ..tensors.tensor import Tensor
from ..utils import _pytree as pytree
from . import _pytree
from .node import Node, map_arg, qualified_name, type_text

# What the types of the module typing are called that stand for types of Python.
_NAMED: dict[Any, Any] = {
    list: typing.List, dict: typing.Dict, set: typing.Set, frozenset: typing.FrozenSet,  # noqa: UP006
    tuple: typing.Tuple}  # noqa: UP006

_OPERATORS = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}", "ge": "{} >= {}",
    "pos": "+{}", "neg": "-{}", "invert": "~{}", "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}",
    "floordiv": "{} // {}", "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}", "lshift": "{} << {}",
    "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}", "xor": "{} ^ {}", "getitem": "{}[{}]",
    "matmul": "{} @ {}", "pow": "{} ** {}"}
_WRITES = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}", "imod": "{} %= {}",
    "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}", "ipow": "{} **= {}", "irshift": "{} >>= {}",
    "isub": "{} -= {}", "itruediv": "{} /= {}", "ixor": "{} ^= {}", "setitem": "{}[{}] = {}"}


class PythonCode(NamedTuple):
    """A program as Python: its source, and what its global names mean."""

    src: str
    globals: dict[str, Any]


@cache
def named_globals() -> Mapping[str, Any]:
    """The names that a program as Python may use without further ado."""
    return {"inf": math.inf, "nan": math.nan, "NoneType": type(None), "torch": sys.modules[PACKAGE], "device": device,
            "fx_pytree": _pytree, "pytree": pytree}


class CodeGen:
    """Writes a graph as a function `forward`. A derived class may write it otherwise."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line of the function."""
        names = free_vars if free_vars[:1] == ["self"] else ["self", *free_vars]
        return f"def forward({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Sequence[str] | None = None,
                        repr_fn: Callable[[Any], str] = repr) -> str:
        """The last line of the function. `repr_fn` writes what is returned as Python."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """What the graph takes for the arguments of the function."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the function returns for the results of the graph."""
        return outputs

    def generate(self, nodes: list[Node], root_module: str) -> PythonCode:
        """The function as Python."""
        return _Writer(root_module).written(self, nodes)


class _Writer:
    """Writes one function."""

    def __init__(self, root_module: str) -> None:
        self.root = root_module
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}

    def written(self, codegen: CodeGen, nodes: list[Node]) -> PythonCode:
        """The source of the function."""
        last, free, body, annotation = _last_uses(nodes), list[str](), list[str](), ""
        for node in nodes:
            if node.op == "placeholder":
                free.append(self.parameter(node))
                raw = node.target.replace("*", "")
                if raw != node.name:
                    body.append(f"{node.name} = {raw}\n")
                continue
            if node.op == "output":
                annotation = f" -> {self.annotation(node.type)}" if node.type is not None else ""
                body.append(codegen.generate_output(node.args[0], repr_fn=self.text))
                continue
            gone = [*last.get(node, []), *([] if node.users else [node])]
            freed = f";  {' = '.join([each.name for each in gone])} = None\n" if gone else "\n"
            body.append(self.statement(node) + freed)
        body = body or ["pass\n"]
        wraps = "\n".join([f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped])
        lines = "".join(body).split("\n")
        source = "\n".join([codegen.gen_fn_def(free, annotation), *[f"    {line}" for line in lines]])
        self.globals.update(named_globals())
        end = "\n    " if nodes and nodes[-1].op == "output" else ""
        return PythonCode(f"\n{wraps}\n\n{source}{end}", self.globals)

    def parameter(self, node: Node) -> str:
        """A parameter of the function."""
        kind = f" : {self.annotation(node.type)}" if node.type is not None else ""
        return str(node.target) + kind + (f" = {self.text(node.args[0])}" if node.args else "")

    def annotation(self, kind: Any) -> str:
        """A type in the source. A type that is not in torch or in Python becomes a global name."""
        if kind == ():
            return "()"
        text, origin = type_text(kind), getattr(kind, "__origin__", None)
        if isinstance(kind, UnionType):
            return "|".join([self.annotation(each) for each in kind.__args__])
        if origin is None:
            return self.type_name(text, kind)
        head = text.split("[")[0].replace("typing.Optional", "typing.Union")
        inside = ",".join([self.annotation(each) for each in kind.__args__])
        return self.type_name(head, _NAMED.get(origin, origin)) + (f"[{inside}]" if kind.__args__ else "")

    def type_name(self, text: str, kind: Any) -> str:
        """A type without others in it."""
        return text if text.startswith("torch.") or text.isidentifier() else self.named(text, kind)

    def statement(self, node: Node) -> str:
        """A node as a statement, without its end."""
        kind = f" : {self.annotation(node.type)}" if node.type is not None else ""
        left = f"{node.name}{kind} = "
        if node.op == "get_attr":
            return left + _path(self.root, node.target)
        if node.op == "call_module":
            return f"{left}{_path(self.root, node.target)}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            return f"{left}{self.owner(node.args[0])}.{node.target}({self.arguments(node.args[1:], node.kwargs)})"
        return self.called(node, left)

    def called(self, node: Node, left: str) -> str:
        """The call of a function as a statement."""
        function, name = node.target, getattr(node.target, "__name__", "")
        texts = [self.text(x) for x in node.args]
        if getattr(function, "__module__", None) == "_operator":
            if name in _OPERATORS and not node.kwargs and len(texts) == _OPERATORS[name].count("{}"):
                return left + _OPERATORS[name].format(*texts)
            if name in _WRITES:
                return f"{_WRITES[name].format(*texts)};  {node.name} = {texts[0]}"
        if function is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{left}{self.owner(node.args[0])}.{node.args[1]}"
        shown = self.function(function)
        if getattr(function, "_fx_wrapped", False) or node.meta.get("is_wrapped"):
            self.wrapped[shown] = None
        return f"{left}{shown}({self.arguments(node.args, node.kwargs)})"

    def function(self, function: Callable[..., Any]) -> str:
        """A function in the source."""
        name = qualified_name(function)
        if name.startswith("torch.") or "." not in name:
            return name
        return self.named(name, function)

    def named(self, hint: str, value: Any) -> str:
        """A global name for an object."""
        base = re.sub(r"\W+", "_", hint, flags=re.ASCII)
        name, number = base, 0
        while self.globals.setdefault(name, value) is not value:
            number += 1
            name = f"{base}_{number}"
        return name

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Arguments in the source."""
        return ", ".join([*[self.text(x) for x in args], *[f"{key} = {self.text(x)}" for key, x in kwargs.items()]])

    def owner(self, arg: Any) -> str:
        """An object whose method is called."""
        text = self.text(arg)
        return text if isinstance(arg, Node) else f"({text})"

    def text(self, arg: Any) -> str:
        """An argument in the source."""
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            return f"{self.named(qualified_name(type(arg)), type(arg))}({', '.join([self.text(x) for x in arg])})"
        if isinstance(arg, tuple):
            return f"({', '.join([self.text(x) for x in arg])}{',' if len(arg) == 1 else ''})"
        if isinstance(arg, list):
            return f"[{', '.join([self.text(x) for x in arg])}]"
        if isinstance(arg, dict):
            return f"{{{', '.join([f'{key!r}: {self.text(x)}' for key, x in arg.items()])}}}"
        if isinstance(arg, slice):
            return f"slice({self.text(arg.start)}, {self.text(arg.stop)}, {self.text(arg.step)})"
        if isinstance(arg, Enum):
            return f"{self.named(type(arg).__name__, type(arg))}.{arg.name}"
        if isinstance(arg, Tensor):
            return f"torch.Tensor(size={[*arg.shape]}, dtype={str(arg.dtype).rpartition('.')[2]})"
        if isinstance(arg, type):
            return self.annotation(arg)
        if callable(arg) and not isinstance(arg, (Node, dtype, device)):
            return self.function(arg)
        return repr(arg)


def _path(root: str, target: str) -> str:
    """An attribute of a module in the source, such as `getattr(self.layers, "0")`."""
    text = root
    for part in target.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text


def _last_uses(nodes: list[Node]) -> dict[Node, list[Node]]:
    """For each node, the nodes that no later node uses."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}

    for user in reversed(nodes):
        def note(node: Node, user: Node = user) -> Node:
            if node not in seen:
                seen.add(node)
                found.setdefault(user, []).append(node)
            return node

        map_arg((user.args, user.kwargs), note)
    return found
