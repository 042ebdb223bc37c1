"""torch.fx.interpreter: runs a graph node by node, so that a derived class may do otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from ..nn.modules.module import Module
from ._symbolic_trace import Tracer
from .graph import Graph
from .graph_module import GraphModule
from .node import Node, map_aggregate, map_arg
from .proxy import Proxy

__all__ = ["Interpreter", "Transformer"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

# The end of the messages of errors.
_ADVICE = ("Use tlparse to see full graph. "
           "(https://github.com/pytorch/tlparse?tab=readme-ov-file#tlparse-parse-structured-pt2-logs)")


class Interpreter:
    """Runs a graph node by node. A derived class may change what `run_node`, or a kind of node, does.

    >>> import retrograd as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: (x + 1).relu())
    >>> class Shouting(torch.fx.Interpreter):
    ...     def run_node(self, n):
    ...         print(n.name)
    ...         return super().run_node(n)
    >>> Shouting(traced).run(torch.tensor(-3.0))
    x
    add
    relu
    output
    tensor(0.)
    """

    def __init__(self, module: Module, garbage_collect_values: bool = True, graph: Graph | None = None) -> None:
        self.module: Any = module
        self.graph: Graph = self.module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.garbage_collect_values = garbage_collect_values
        self.name = "Interpreter"
        self.extra_traceback = True
        self._gone = _last_uses(self.graph) if garbage_collect_values else {}

    def run(self, *args: Any, initial_env: dict[Node, Any] | None = None, enable_io_processing: bool = True) -> Any:
        """What the graph returns for arguments. `initial_env` has results of nodes that are not run.

        Containers are taken apart and put together as the traced program has them, unless `enable_io_processing` is
        False.
        """
        self.env = {} if initial_env is None else dict(initial_env)
        self.args_iter = iter(self.graph.process_inputs(*args) if enable_io_processing else args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _name_node(error, node)
                    if isinstance(error, KeyError):
                        raise RuntimeError(*error.args) from error
                raise
            if node.op == "output":
                return self.graph.process_outputs(self.env[node]) if enable_io_processing else self.env[node]
            for old in self._gone.get(node, []):
                del self.env[old]
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """What the graph returns for the arguments in a list. The list is emptied, so that nobody else holds them."""
        names = self.graph.find_nodes(op="placeholder")
        if len(args_list) != len(names):
            detail = "extra arguments" if len(args_list) > len(names) else "missing arguments"
            raise RuntimeError(f"Interpreter.boxed_run expected {len(names)} arguments for placeholders but received "
                               f"{len(args_list)} ({detail})")
        env = dict(zip(names, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n: Node) -> Any:
        """The result of a node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The next argument of the call, or its default."""
        if target.startswith("*"):
            return [*self.args_iter]
        try:
            return next(self.args_iter)
        except StopIteration as stop:
            if args:
                return args[0]
            raise RuntimeError(f"Expected positional argument for parameter {target}, but one was not passed in!"
                               ) from stop

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a method of the first argument."""
        return getattr(args[0], target)(*args[1:], **kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a module inside the module."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the graph returns."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What is at a path in the module."""
        found: Any = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[:i + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node, with results in place of nodes."""
        args, kwargs = self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)
        return args, kwargs

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Nested arguments, with results in place of nodes."""
        def value(node: Node) -> Any:
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint() to diagnose such "
                                   "issues")
            return self.env[node]

        return map_arg(args, value)


def _name_node(error: Exception, node: Node) -> None:
    """Let the message of an error say which node was run."""
    said = f"{error.args[0]}\n\n" if error.args else ""
    error.args = (f"{said}While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}\n{_ADVICE}",
                  *error.args[1:])


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """For each node, those whose results nobody needs after it."""
    seen: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in graph.nodes.__reversed__():
        for node in user.all_input_nodes:
            if node not in seen:
                seen.add(node)
                found.setdefault(user, []).append(node)
    return found


class _TransformerTracer(Tracer):
    """Adds nodes to a new graph. No module is looked into."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """True: each call of a module is a node."""
        return True


class Transformer(Interpreter):
    """Makes another graph of a graph. A derived class changes what a kind of node becomes."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph(tracer_cls=module.graph._tracer_cls)
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """A new argument."""
        default = args[0] if args else Ellipsis
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Proxy:
        """A new attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A new call of a module."""
        return self.tracer.call_module(self.fetch_attr(target), lambda *a, **k: None, args, kwargs)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A new call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            made = map_aggregate(result, lambda x: x.node if isinstance(x, Proxy) else x)
            output = self.new_graph.output(made)
            output.type = self.graph.output_node().type
        return GraphModule(self.module, self.new_graph)
