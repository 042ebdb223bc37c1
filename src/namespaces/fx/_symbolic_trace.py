"""torch.fx._symbolic_trace: runs a program on proxies, and writes down what it does."""

from __future__ import annotations

import builtins
import inspect
import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from itertools import count
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from ..assertions import _assert
from ..foundations.errors import warn
from ..foundations.modes import replaced
from ..foundations.names import PACKAGE, missing, public
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..nn.modules.module.members import Member
from ..nn.parameter import Parameter
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule
from .nested_arguments import PH, PHBase, PHWithMeta, transfer_attributes
from .node import base_types, map_aggregate
from .proxy import ParameterProxy, Proxy, TracerBase

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "is_fx_symbolic_tracing", "is_fx_tracing",
           "symbolic_trace", "wrap"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

_WRAPPED: dict[tuple[int, str], dict[str, Any]] = {}          # the globals of modules that named functions for `wrap`
_RUNNING: list[TracerBase] = []
_PROXYABLE: list[type] = []                                    # the classes whose objects a traced program may make


def wrap(fn_or_name: Any) -> Any:
    """Let calls of a function of the module be nodes, so that the function is not traced. Returns the argument.

    Raises RuntimeError for anything but a function or its name, and NotImplementedError outside of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__code__.co_name
    caller = sys._getframe(1)
    if caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _WRAPPED[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def is_fx_tracing() -> bool:
    """Whether a tracer runs the program."""
    return bool(_RUNNING)


is_fx_symbolic_tracing = is_fx_tracing


def _assert_is_none(value: Any, msg: str) -> None:
    """Raise AssertionError with a message, unless the value is None."""
    if value is not None:
        raise AssertionError(msg)


def _first_proxy(values: Any) -> Proxy | None:
    found: list[Proxy] = []
    map_aggregate(values, lambda x: found.append(x) if isinstance(x, Proxy) else None)
    return found[0] if found else None


def _noting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose calls with proxies are nodes."""
    @wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = _first_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


def _by_name(names: tuple[str, ...], values: dict[str, Any] | tuple[Any, ...]) -> dict[str, Any]:
    """The values of arguments by their names. Raises RuntimeError for a tuple of another length."""
    if isinstance(values, dict):
        return values
    if len(names) != len(values):
        raise RuntimeError(f"Tracing expected {len(names)} arguments but got {len(values)} concrete arguments")
    return dict(zip(names, values, strict=True))


def _taking_one_by_one(function: Any, count: int) -> FunctionType:
    """A function that takes `count` arguments by position: `*args` and `**kwargs` are one value each."""
    plain = inspect.unwrap(function)
    flags = plain.__code__.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    code = plain.__code__.replace(co_flags=flags, co_argcount=count, co_kwonlyargcount=0, co_posonlyargcount=0)
    return FunctionType(code, plain.__globals__, plain.__name__, closure=plain.__closure__)


class ProxyableClassMeta(type):
    """The metaclass of a class whose objects a traced program may make from values of the trace.

    >>> import retrograd as torch
    >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    >>> traced = torch.fx.symbolic_trace(lambda x: Pair(x, x + 1))
    >>> [node.op for node in traced.graph.nodes]
    ['placeholder', 'call_function', 'call_function', 'output']
    """

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _PROXYABLE.append(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """A new object, or the value of the trace that stands for one."""
        proxy = _first_proxy((args, kwargs)) if is_fx_tracing() else None
        if proxy is None:
            return super().__call__(*args, **kwargs)
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


class Tracer(TracerBase):
    """Traces a module or a function. A derived class may say which modules are not looked into (`is_leaf_module`)."""

    def __init__(self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Any, ...] = (),
                 param_shapes_constant: bool = False) -> None:
        self._autowrap_modules, self._autowrap_functions = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self.tensor_attrs: dict[int, tuple[str, Any]] = {}
        self._numbers: dict[str, int] = defaultdict(int)       # by prefix: where the search for a free name begins
        self._of_the_package = False

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether calls of a module are nodes. By default those of torch.nn are, but for Sequential."""
        return public(m.__module__).startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a module in the root. Raises NameError if the root has it not."""
        for name, module in self.root.named_modules(remove_duplicate=False):
            if module is mod:
                return str(name)
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a call of a module means: a node, or the trace of its `forward`."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a: Any) -> Any:
        """An argument of a node. Parameters, buffers and other tensors become attributes of the root."""
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, Tensor):
            for name, buffer in self.root.named_buffers():
                if buffer is a:
                    return self.create_node("get_attr", name, (), {})
            return self.create_node("get_attr", self._constant(a), (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple([self.create_arg(x) for x in a]), {})
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if module is a:
                    return self.create_node("get_attr", name, (), {})
        if type(a) in _PROXYABLE:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def _constant(self, a: Tensor) -> str:
        """The attribute of the root that holds a tensor."""
        if id(a) not in self.tensor_attrs:
            name = self.get_fresh_qualname("_tensor_constant")
            setattr(self.root, name, a)
            self.tensor_attrs[id(a)] = (name, a)
        return self.tensor_attrs[id(a)][0]

    def get_fresh_qualname(self, prefix: str) -> str:
        """The first name that begins with `prefix`, ends with a number, and is no attribute of the root."""
        numbers = count() if not hasattr(self.root, f"{prefix}0") else count(self._numbers[prefix])
        name, self._numbers[prefix] = next((f"{prefix}{i}", i + 1) for i in numbers
                                           if not hasattr(self.root, f"{prefix}{i}"))
        return name

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What an attribute of a module means: a value of the trace, for a parameter."""
        if not isinstance(attr_val, Parameter):
            return attr_val
        for name, parameter in self.root.named_parameters():
            if parameter is attr_val:
                if name not in parameter_proxy_cache:
                    parameter_proxy_cache[name] = self._parameter(name, attr_val)
                return parameter_proxy_cache[name]
        return attr_val

    def _parameter(self, name: str, parameter: Any) -> Proxy:
        """The value that stands for a parameter."""
        made = self.create_proxy("get_attr", name, (), {})
        return ParameterProxy(self, made.node, name, parameter) if self.param_shapes_constant else made

    def create_args_for_root(self, root_fn: Any, is_module: bool,
                             concrete_args: dict[str, Any] | tuple[Any, ...] | None = None) -> Any:
        """The function, changed to take `*args` as one value, and the proxies that it is called with.

        If an argument is a container, the function takes the leaves of all arguments.
        """
        code = inspect.unwrap(root_fn).__code__
        total = code.co_argcount + code.co_kwonlyargcount
        args: list[Any] = [self.root] if is_module else []
        kinds = (("*", inspect.CO_VARARGS), ("**", inspect.CO_VARKEYWORDS))
        stars = [star for star, flag in kinds if code.co_flags & flag]
        if isinstance(concrete_args, tuple) and concrete_args and stars and total == 1:
            return root_fn, [*args, *[self._marked(f"input_{i}", mark) for i, mark in enumerate(concrete_args)]]
        parameters = inspect.signature(inspect.unwrap(root_fn)).parameters
        names = code.co_varnames[len(args):total]
        concrete = _by_name(names, concrete_args or {})
        args += [self._given(parameters[name], concrete[name]) if name in concrete
                 else self._placeholder(name, parameters[name]) for name in names]
        args += [self._placeholder(f"{star}{name}", parameters[name])
                 for star, name in zip(stars, code.co_varnames[total:], strict=False)]
        called = _taking_one_by_one(root_fn, total + len(stars)) if stars or code.co_kwonlyargcount else root_fn
        leaves, spec = tree_flatten(tuple(args))
        if all(part.is_leaf() for part in spec.children()):
            return called, args
        return self._flat(called, _PyTreeInfo([*code.co_varnames[:total]], spec, None)), leaves

    def _flat(self, function: Callable[..., Any], info: _PyTreeInfo) -> Callable[..., Any]:
        """A function that takes leaves and returns leaves. The graph learns how they belong together."""
        codegen = _PyTreeCodeGen(info)
        self.graph.set_codegen(codegen)

        def flat(*leaves: Any) -> list[Any]:
            found, spec = tree_flatten(function(*tree_unflatten(leaves, info.in_spec)))
            codegen.pytree_info = info._replace(out_spec=spec)
            return found

        return flat

    def _given(self, parameter: inspect.Parameter, value: Any) -> Any:
        """An argument from `concrete_args`, with a proxy for each `PH` in it."""
        number, bare = count(1), parameter.replace(annotation=inspect.Parameter.empty)

        def leaf(value: Any) -> Any:
            given = self._marked(f"{parameter.name}_{next(number)}", value, bare)
            if isinstance(value, PHBase):
                return given
            self._check(given, parameter.name, value)
            return value

        return tree_map(leaf, value)

    def _marked(self, name: str, mark: Any, parameter: inspect.Parameter | None = None) -> Proxy:
        """The proxy for an argument that `concrete_args` names. Its node gets the attributes of the mark."""
        made = self.create_proxy("placeholder", name, (), {}) if parameter is None else self._placeholder(
            name, parameter)
        if isinstance(mark, PHBase) and mark is not PH:
            transfer_attributes(mark, made.node)
        return made

    def _check(self, given: Proxy, name: str, value: Any) -> None:
        """Let the program check that an argument has the value that the program was traced with."""
        told = f"{name} has been specialized to have value {value} but got another value"
        if type(value) is bool or (type(value) in base_types and not isinstance(value, Tensor)):
            _assert(given == value, told)
        elif value is None:
            self.create_proxy("call_function", _assert_is_none, (given, told), {})
        else:
            warn(f"Was not able to add assertion to guarantee correct input {name} to specialized function. "
                 "It is up to the user to make sure that your inputs match the inputs you specialized the function "
                 "with.")

    def _placeholder(self, name: str, parameter: inspect.Parameter) -> Proxy:
        default = () if parameter.default is inspect.Parameter.empty else (parameter.default,)
        kind = parameter.annotation
        if kind is inspect.Parameter.empty or name.startswith("*") or self._of_the_package:
            kind = None
        return self.create_proxy("placeholder", name, default, {}, type_expr=kind)

    def trace(self, root: Any, concrete_args: dict[str, Any] | tuple[Any, ...] | None = None) -> Graph:
        """The graph of a module or of a function. `concrete_args` are arguments that are values."""
        self.root = root if isinstance(root, Module) else Module()
        function = type(root).forward if isinstance(root, Module) else root
        if not isinstance(function, FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {}
        for path, module in self.root.named_modules():
            for name, value in vars(module).items():
                if isinstance(value, Tensor):
                    self.tensor_attrs[id(value)] = (f"{path}.{name}" if path else name, value)
        self._of_the_package = (function.__module__ or "").startswith(f"{PACKAGE}.")
        called, args = self.create_args_for_root(function, isinstance(root, Module), concrete_args)
        _RUNNING.append(self)
        try:
            with self._patched(called):
                result = self.create_arg(called(*args))
        finally:
            _RUNNING.pop()
        own = called is function and not self._of_the_package
        returned = getattr(function, "__annotations__", {}).get("return") if own else None
        self.create_node("output", "output", (result,), {}, type_expr=returned)
        return self.graph

    @contextmanager
    def _patched(self, function: Any) -> Iterator[None]:
        """A block in which modules and wrapped functions make nodes."""
        proxies: dict[str, Any] = {}
        call, look, read = Module.__call__, Module.__getattr__, Member.__get__

        def called(module: Module, *args: Any, **kwargs: Any) -> Any:
            return self.call_module(module, lambda *a, **k: call(module, *a, **k), args, kwargs)

        def found(module: Module, name: str) -> Any:
            return self.getattr(name, look(module, name), proxies)

        def member(own: Member, module: Any, owner: type[Any] | None = None) -> Any:
            value = read(own, module, owner)
            return value if module is None else self.getattr(own.name, value, proxies)

        with ExitStack() as stack:
            stack.enter_context(replaced(Module, "__call__", called))
            stack.enter_context(replaced(Module, "__getattr__", found))
            stack.enter_context(replaced(Member, "__get__", member))
            for (_, name), space in [*_WRAPPED.items()]:
                own = space.get(name) or getattr(builtins, name)
                stack.enter_context(_item_replaced(space, name, _noting(own)))
            for space in {id(x): x for x in (getattr(function, "__globals__", {}), *_WRAPPED.values())}.values():
                for name, value in [*space.items()]:
                    if any(value is each for each in self._autowrap_functions) or self._of_wrapped_module(name, value):
                        stack.enter_context(_item_replaced(space, name, _noting(value)))
            for module in self._autowrap_modules:
                for name, value in [*vars(module).items()]:
                    if callable(value) and not name.startswith("_"):
                        stack.enter_context(replaced(module, name, _noting(value)))
            yield

    def _of_wrapped_module(self, name: str, value: Any) -> bool:
        return callable(value) and any(getattr(module, name, None) is value for module in self._autowrap_modules)


@contextmanager
def _item_replaced(space: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    had, before = name in space, space.get(name)
    space[name] = value
    try:
        yield
    finally:
        if had:
            space[name] = before
        else:
            del space[name]


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | tuple[Any, ...] | None = None) -> GraphModule:
    """A module that does what a module or a function does, and has the graph of it.

    >>> import retrograd as torch
    >>> print(torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


