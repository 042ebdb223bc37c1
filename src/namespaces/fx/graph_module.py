"""torch.fx.graph_module: a module whose `forward` is the Python of a graph."""

from __future__ import annotations

import copy
import linecache
from itertools import count
from typing import TYPE_CHECKING, Any

from ..foundations.names import missing, reached
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..tensors.tensor import Tensor
from .code_generation import named_globals
from .graph import Graph, _PyTreeCodeGen

__all__ = ["GraphModule"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

# The key under which a module keeps attributes of a program when it is copied.
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_REMINDER = "# To see more debug info, please use `graph_module.print_readable()`"
_numbers = count()


def _exec(source: str, names: dict[str, Any]) -> Any:
    """The function `forward` of a source. Tracebacks show its lines."""
    file = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = dict(names)
    exec(compile(source, file, "exec"), space)
    return space["forward"]


def _assign(value: Any, module: Module, target: str) -> None:
    """Put a value at a path in a module. Modules on the way are made."""
    *path, name = target.split(".")
    for part in path:
        if not hasattr(module, part):
            setattr(module, part, Module())
        module = getattr(module, part)
    _put(module, name, value)


def _put(module: Module, name: str, value: Any) -> None:
    """Give a module a value: a tensor that is no parameter as a buffer, anything else as an attribute."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _copy_attr(source: Module, into: Module, target: str) -> None:
    """Take what is at a path in one module over into another."""
    *path, name = target.split(".")
    owner: Any = source
    for part in path:
        owner = getattr(owner, part)
        if isinstance(into, Module) and part in into._modules and into._modules[part] is owner:
            return
        if not hasattr(into, part):
            setattr(into, part, Module())
        into = getattr(into, part)
    _put(into, name, getattr(owner, name))


class GraphModule(Module):
    """A module that runs a graph. It takes what the graph names from `root`, a module or a dictionary by paths.

    `code` is the Python of the graph. After a change of the graph, `recompile` makes it anew.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """An object of a class of its own, since each has another `forward`."""
        plain = next(each for each in cls.__mro__ if not vars(each).get("_fx_own", False))
        return object.__new__(type(plain.__name__, (plain,), {"_fx_own": True, "__module__": plain.__module__}))

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for target in targets:
                if target not in root:
                    raise RuntimeError(f"Node {target} referenced target {target} but that target was not provided in "
                                       "``root``!")
            for target in sorted(dict.fromkeys(targets), key=lambda path: path.count(".")):
                _assign(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.meta: dict[str, Any] = dict(getattr(root, "meta", {}))
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph. An assignment compiles it."""
        found: Graph = self._graph
        return found

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        vars(self)["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The graph as Python."""
        found: str = self._code
        return found

    def recompile(self) -> Any:
        """Make the Python of the graph anew. Returns it."""
        if isinstance(codegen := self._graph._codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info.in_spec, codegen.pytree_info.out_spec
        made = self._graph.python_code("self")
        vars(self)["_code"] = made.src
        type(self).forward = _exec(made.src, made.globals)
        return made

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path. Modules on the way are made."""
        _assign(m, self, target)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a path. Returns whether there was one."""
        *path, name = target.split(".")
        owner: Any = self
        for part in path:
            owner = getattr(owner, part, None)
        if not isinstance(owner, Module) or not isinstance(getattr(owner, name, None), Module):
            return False
        delattr(owner, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that the graph does not name."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i + 1]) for i in range(len(parts)))
                if node.op == "call_module":
                    inside = self.get_submodule(node.target)
                    used.update(f"{node.target}.{name}" for name, _ in inside.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def print_readable(self, print_output: bool = True, **options: Any) -> str:
        """The Python of the graph below the name of its class."""
        body = "\n".join([f"    {line}" if line.strip() else "" for line in self.code.strip("\n").splitlines()])
        text = f"class {self._get_name()}(torch.nn.Module):\n{body}".rstrip() + "\n"
        if print_output:
            print(text)
        return text

    def _get_name(self) -> str:
        return type(self).__name__

    def __str__(self) -> str:
        return "\n".join([super().__str__(), self._code, _REMINDER])

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        fields = {name: value for name, value in vars(self).items() if name not in ("_graph", "_code")}
        holder = Module()
        vars(holder).update(copy.deepcopy(fields, memo))
        made: GraphModule = type(self).__new__(type(self))
        GraphModule.__init__(made, holder, copy.deepcopy(self.graph))
        vars(made)["training"] = self.training
        return made

    def __copy__(self) -> GraphModule:
        return GraphModule(self, self.graph)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: value for name, value in vars(self).items() if name not in ("_graph", "_code")}
        made = self._graph.python_code("self")
        own = {name: value for name, value in made.globals.items() if name not in named_globals()}
        return _rebuilt, (fields, made.src, own, self._get_name())


def _rebuilt(fields: dict[str, Any], source: str, names: dict[str, Any], class_name: str) -> GraphModule:
    """A module from its pickle: its Python is traced again."""
    holder = type(class_name, (Module,), {"forward": _exec(source, {**named_globals(), **names})})()
    vars(holder).update(fields)
    tracer = reached("fx._symbolic_trace").Tracer()
    tracer.is_leaf_module = lambda m, path: True
    return GraphModule(holder, tracer.trace(holder), class_name)
