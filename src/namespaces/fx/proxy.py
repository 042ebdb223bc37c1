"""torch.fx.proxy: the values in a traced program. What a program does with them becomes nodes."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from opcode import opname
from typing import TYPE_CHECKING, Any, NoReturn

from ..foundations.names import missing
from ..tensors.tensor import Tensor
from .graph import Graph
from .immutable_collections import immutable_list
from .node import Node, base_types, map_aggregate, qualified_name

__all__ = ["Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "TraceError", "TracerBase"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_PLAIN = (*base_types, Enum, type(None), type(Ellipsis))
_FLOW = "symbolically traced variables cannot be used as inputs to control flow"
_ITERATED = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
    "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control "
    "flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors")


def _spelled_out(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments of a function of nn.functional with all its defaults. Other functions get theirs as they are."""
    name = qualified_name(function)
    if name == "torch.functional.einsum" and len(args) == 2 and isinstance(args[1], (list, tuple)):
        return (args[0], *args[1]), kwargs
    if not name.startswith("torch.nn.functional."):
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    needed = [name for name, parameter in bound.signature.parameters.items()
              if parameter.default is inspect.Parameter.empty]
    given = bound.arguments
    return tuple(given[name] for name in needed), {name: x for name, x in given.items() if name not in needed}


class TraceError(ValueError):
    """A program does what cannot be traced."""


class TracerBase:
    """Makes nodes of what a program does with proxies."""

    graph: Graph
    root: Any = None
    record_stack_traces = False

    def create_node(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                    name: str | None = None, type_expr: Any = None) -> Node:
        """A new node. `args` are what `create_arg` has made."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> Proxy:
        """The value that stands for the result of a node."""
        return Proxy(node, self)

    def create_proxy(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                     name: str | None = None, type_expr: Any = None,
                     proxy_factory_fn: Callable[[Node], Proxy] | None = None) -> Proxy:
        """A new node of arguments that may be proxies, and the value that stands for its result."""
        made = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, *made, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """An argument of a node. Raises NotImplementedError for a value that no graph can hold."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            made = [self.create_arg(x) for x in a]
            return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
        if isinstance(a, list):
            return immutable_list([self.create_arg(x) for x in a])
        if isinstance(a, dict):
            for key in a:
                if isinstance(key, Proxy):
                    raise RuntimeError("Keys for dictionaries used as an argument cannot contain a Node. Got key: "
                                       f"{key}")
            return {key: self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            parts = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), parts)
        if isinstance(a, (*_PLAIN, Node)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """The truth of a value. Raises TraceError: no number is known."""
        raise TraceError(_FLOW)

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """The elements of a value. They are known if the program unpacks a fixed number of them."""
        frame = inspect.currentframe()
        assert frame is not None
        assert frame.f_back is not None
        caller = frame.f_back.f_back
        if caller is not None:
            code, at = caller.f_code.co_code, caller.f_lasti
            if opname[code[at]].startswith("UNPACK_SEQUENCE"):
                return (operator.getitem(obj, i) for i in range(code[at + 1]))
        raise TraceError(_ITERATED)

    def keys(self, obj: Proxy) -> Any:
        """The keys of a value, as another value."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Adds nodes to a graph that exists."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


class Proxy:
    """A value in a traced program. Operators, functions of torch and methods make nodes of the graph."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.node, self.tracer = node, tracer or GraphAppendingTracer(node.graph)

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k.startswith("__") and k.endswith("__"):
            raise AttributeError(k)
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise RuntimeError("a value of a traced program cannot be copied")

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """The keys, which are known to no tracer."""
        return self.tracer.keys(self)

    def __len__(self) -> NoReturn:
        raise RuntimeError("'len' is not supported in symbolic tracing by default. If you want this call to be "
                           "recorded, please call torch.fx.wrap('len') at module scope")

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args, kwargs = args or (), kwargs or {}
        found: list[TracerBase] = []
        map_aggregate((args, kwargs), lambda x: found.append(x.tracer) if isinstance(x, Proxy) else None)
        name = getattr(orig_method, "__name__", "")
        if getattr(Tensor, name, None) is orig_method and qualified_name(orig_method) != f"torch.{name}":
            return found[0].create_proxy("call_method", name, args, kwargs)
        return found[0].create_proxy("call_function", orig_method, *_spelled_out(orig_method, args, kwargs))


class Attribute(Proxy):
    """An attribute of a value. Its node is made when somebody needs more than to call it as a method."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node of the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter, whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The shape of the parameter."""
        return self.param.shape

    def size(self) -> Any:
        """The shape of the parameter."""
        return self.param.size()

    def dim(self) -> Any:
        """How many dims the parameter has."""
        return self.param.dim()

    @property
    def ndim(self) -> Any:
        """How many dims the parameter has."""
        return self.param.ndim

    def numel(self) -> Any:
        """How many numbers the parameter has."""
        return self.param.numel()

    def nelement(self) -> Any:
        """How many numbers the parameter has."""
        return self.param.nelement()


_MAGIC = ("eq", "ne", "lt", "gt", "le", "ge", "pos", "neg", "invert", "add", "sub", "mul", "floordiv", "truediv", "mod",
          "lshift", "rshift", "and_", "or_", "xor", "getitem", "matmul", "pow")
_REFLECTED = ("add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and_", "or_", "xor", "matmul",
              "pow")


def _method(target: Any, reflected: bool) -> Callable[..., Any]:
    def method(self: Proxy, *rest: Any) -> Proxy:
        args = (*rest, self) if reflected else (self, *rest)
        return self.tracer.create_proxy("call_function", target, args, {})

    method.__name__ = f"__{'r' if reflected else ''}{target.__name__.strip('_')}__"
    return method


for _name in _MAGIC:
    setattr(Proxy, f"__{_name.strip('_')}__", _method(getattr(operator, _name), False))
for _name in _REFLECTED:
    setattr(Proxy, f"__r{_name.strip('_')}__", _method(getattr(operator, _name), True))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
