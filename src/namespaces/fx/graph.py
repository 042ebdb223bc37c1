"""torch.fx.graph: a program as a list of nodes, which can be changed, and printed as Python."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing
from .code_generation import CodeGen, PythonCode, named_globals
from .nested_arguments import _PyTreeCodeGen, _PyTreeInfo
from .node import OPS, Node, NodeList, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode", "_PyTreeCodeGen", "_PyTreeInfo"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)


def snake_case(text: str) -> str:
    """`BatchNorm` as `batch_norm`."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", text).lower()


class Names:
    """Gives each node a name of its own, which is no name of Python."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.last: dict[str, int] = defaultdict(int)

    def create(self, candidate: str) -> str:
        """A new name that is like the candidate."""
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
        found = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (found[1], int(found[2])) if found else (candidate, 0)
        number = number or self.last[base]
        while candidate in self.used or self._taken(candidate):
            number += 1
            candidate = f"{base}_{number}"
        self.used.add(candidate)
        self.last[base] = number
        return candidate

    @staticmethod
    def _taken(name: str) -> bool:
        return name in keyword.kwlist or name in vars(builtins) or name in named_globals()


class Insertion:
    """The place where a graph adds nodes. The end of a `with` block restores the place before."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self._before, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self._before


class Graph:
    """A program as a list of nodes.

    `placeholder`, `get_attr`, `call_function`, `call_method`, `call_module` and `output` add a node at the end, or
    where `inserting_before` and `inserting_after` say. A `GraphModule` runs the graph.
    """

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: dict[str, Any] | None = None,
                 ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._names = Names()
        self._codegen = CodeGen()
        self._tracer_cls, self._tracer_extras, self._owning_module = tracer_cls, tracer_extras, owning_module

    @property
    def owning_module(self) -> Any:
        """The module that runs the graph."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> NodeList:
        """The nodes in their order."""
        return NodeList(self)

    def output_node(self) -> Node:
        """The last node, which says what is returned."""
        last: Node = self._root.prev
        if last.op != "output":
            raise AssertionError("graph has no output node")
        return last

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind, with a target if one is named."""
        return [node for node in self.nodes if node.op == op and (target is None or node.target == target)]

    def create_node(self, op: str, target: Any, args: tuple[Any, ...] | None = None,
                    kwargs: dict[str, Any] | None = None, name: str | None = None, type_expr: Any = None) -> Node:
        """A new node at the place where nodes are added."""
        if op not in OPS[:-1]:
            raise AssertionError(f"op '{op}' is not in _legal_ops")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node [graph = {self}, name = '{self._names.create(target)}'] target {target!r} has type "
                             f"{type(target)} but a Callable is expected")
        node = Node(self, self._names.create(name or self._candidate(target)), op, target, args or (), kwargs or {},
                    type_expr)
        self._insert(node)
        return node

    @staticmethod
    def _candidate(target: Any) -> str:
        if callable(target):
            return snake_case(target.__name__)
        return snake_case(target[2:-2] if target.startswith("__") and target.endswith("__") else target)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = Ellipsis) -> Node:
        """An argument of the program. `Ellipsis` means that there is no default."""
        args = () if default_value is Ellipsis else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """An attribute of the module, such as a parameter."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(self, module_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any = None) -> Node:
        """A call of a module inside the module."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
                    type_expr: Any = None) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None,
                      kwargs: dict[str, Any] | None = None, type_expr: Any = None, name: str | None = None) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the program returns."""
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A node like one of another graph. `arg_transform` says which node stands for each of its arguments."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Add the nodes of another graph, but for those in `val_map`. Returns what stands for its output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = type(self)(tracer_cls=self._tracer_cls)
        values: dict[Node, Node] = {}
        found = made.graph_copy(self, values, return_output_node=True)
        made._codegen = self._codegen
        if found is not None:
            result, old = found
            made.output(result, old.type).meta = dict(old.meta)
        return made

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node. Raises RuntimeError if other nodes use it."""
        if to_erase.users:
            raise RuntimeError(f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the "
                               f"graph: {to_erase.users}!")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        to_erase._unlink()
        to_erase._erased = True
        to_erase._update((), {})

    def inserting_before(self, n: Node | None = None) -> Insertion:
        """Add nodes before a node from now on; before all nodes, without one. A `with` block ends this."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return Insertion(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> Insertion:
        """Add nodes right behind a node from now on; at the end, without one. A `with` block ends this."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return Insertion(self, n.append)

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove the nodes that nobody uses and that do nothing else. Returns whether there were any.

        The graphs that the graph gets as attributes are cleaned, too.
        """
        self.lint()
        impure, changed = is_impure_node or Node.is_impure, False
        for node in self.nodes.__reversed__():
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        inside = {node.target for node in self.find_nodes(op="get_attr")}
        for name, child in self.owning_module.named_children() if inside and self.owning_module is not None else ():
            if name in inside and isinstance(getattr(child, "graph", None), Graph):
                changed |= child.graph.eliminate_dead_code()
                child.recompile()
        return changed

    def lint(self) -> None:
        """Raise an error if a node has an argument that is not before it, or if two nodes have one name."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for argument in node.all_input_nodes:
                if argument.graph is not self:
                    raise RuntimeError(f"Argument '{argument}' of Node '{node}' does not belong to this Graph, but was "
                                       "used as an argument! If you are copying nodes from another graph, make sure to "
                                       "use ``arg_transform`` on node_copy() to remap values\n" + str(self))
                if argument not in seen:
                    raise RuntimeError(f"Argument '{argument}' of Node '{node}' was used before it has been defined! "
                                       f"Please check that Nodes in the graph are topologically ordered\n{self}")
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)

    def python_code(self, root_module: str, *, verbose: bool = False) -> PythonCode:
        """The program as Python, and the objects that its names mean. `root_module` is the name of the module."""
        return self._codegen.generate([*self.nodes], root_module)

    def process_inputs(self, *args: Any) -> Any:
        """What the nodes take for the arguments of the program."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the program returns for the results of the nodes."""
        return self._codegen.process_outputs(out)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let another object write the program as Python."""
        self._codegen = codegen

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[node.op, node.name, str(node.target), str(node.args), str(node.kwargs)] for node in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        print("\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]]))

    def __str__(self) -> str:
        lines = [node.format_node([]) for node in self.nodes]
        return "\n    ".join(["graph():", *[line for line in lines if line]])
