"""torch.fx.node: the steps of a traced program."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ..assertions import _assert, _assert_async
from ..foundations.devices import device
from ..foundations.dtypes import dtype
from ..foundations.names import PACKAGE, missing, public, reached
from ..ops.overloads import OpOverload
from ..tensors.arguments.options import layout, memory_format
from ..tensors.tensor import Tensor
from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Argument", "Node", "Target", "base_types", "has_side_effect", "map_aggregate", "map_arg"]
if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

# What a node runs, and what its arguments are: for annotations.
Target = Callable[..., Any] | str
Argument = Any
base_types = (str, int, float, bool, complex, dtype, Tensor, device, memory_format, layout, OpOverload)
OPS = ("placeholder", "get_attr", "call_function", "call_module", "call_method", "output", "root")
# Where a function is looked for, in this order. Of some places only a part counts.
_SPACES = ("functional", "", "_C._nn", "nn.functional", "linalg", "special", "fft", "nn.init")
_PARTS = {
    "functional": reached("functional").__all__,
    "_C._nn": ("avg_pool2d", "avg_pool3d", "elu_", "gelu", "hardtanh_", "leaky_relu_", "linear", "logsigmoid",
               "one_hot", "scaled_dot_product_attention", "softplus", "softshrink")}
_EFFECTS: set[Any] = {operator.setitem, _assert, _assert_async}
_RANDOM = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal", "poisson",
           "bernoulli", "multinomial")


def has_side_effect(fn: Callable[..., Any]) -> Any:
    """Say that calls of a function stay in a graph, though nobody uses their results. Returns the function."""
    _EFFECTS.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The same nested lists, tuples, dictionaries and slices, with `fn` of each leaf."""
    if isinstance(a, tuple):
        made = [map_aggregate(x, fn) for x in a]
        return type(a)(*made) if hasattr(a, "_fields") else tuple(made)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(map_aggregate(a.start, fn), map_aggregate(a.stop, fn), map_aggregate(a.step, fn))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """The same nested arguments, with `fn` of each node in them."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def qualified_name(function: Any) -> str:
    """The whole name of a function, as PyTorch has it."""
    name = str(getattr(function, "__name__", function))
    if getattr(builtins, name, None) is function:
        return name
    for space in _SPACES:
        home = reached(space) if space else sys.modules[PACKAGE]
        if getattr(home, name, None) is function and (space not in _PARTS or name in _PARTS[space]):
            return f"torch.{space}.{name}" if space else f"torch.{name}"
    module = public(getattr(function, "__module__", None) or "")
    if str(function).startswith("aten."):
        return f"torch.ops.{function}"
    if (getattr(function, "__module__", None) or "").startswith(f"{PACKAGE}.") and (alias := _alias(function)):
        return alias
    return f"{module}.{name}"


def _alias(function: Callable[..., Any]) -> str:
    """The name in torch.special of a function that has another name of its own, or nothing."""
    home = reached("special")
    return next((f"torch.special.{name}" for name in home.__all__ if getattr(home, name) is function), "")


def shown_target(target: Any) -> str:
    """A function as a printed graph shows it."""
    if not callable(target):
        return str(target)
    module, name = getattr(target, "__module__", None), getattr(target, "__name__", None)
    if module == "builtins" or module == "_operator":
        return f"{module.removeprefix('_')}.{name}"
    return qualified_name(target)


def type_text(kind: Any) -> str:
    """A type as annotations show it."""
    if isinstance(kind, type) and not getattr(kind, "__args__", None):
        module = public(kind.__module__)
        if module == "builtins":
            return kind.__qualname__
        return f"torch.{kind.__qualname__}" if kind.__name__ == "Tensor" else f"{module}.{kind.__qualname__}"
    return "..." if kind is ... else str(getattr(kind, "__name__", kind)) if callable(kind) and not hasattr(
        kind, "__args__") else repr(kind).replace(f"{PACKAGE}.", "torch.")


class Node:
    """One step of a graph: its `op`, its `target`, its arguments, and the nodes that use its result.

    `op` is "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output". `meta` is a dictionary
    for programs.
    """

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
                 return_type: Any = None) -> None:
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self.users: dict[Node, None] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._prev, self._next, self._erased = self, self, False
        self.meta: dict[str, Any] = {}
        self._update(args, kwargs)

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments. An assignment changes them."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._update(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name. An assignment changes them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._update(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes whose results this node uses, each once."""
        return [*self._input_nodes]

    @property
    def stack_trace(self) -> str | None:
        """The lines that made the node, if the tracer has noted them."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def _update(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def used(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args, self._kwargs = map_arg(tuple(args), used), map_arg(dict(kwargs), used)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Change one positional argument."""
        args = [*self.args]
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Add a positional argument before another one."""
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Change one argument by its name."""
        self.kwargs = {**self.kwargs, key: arg}

    def prepend(self, x: Node) -> None:
        """Move a node of the same graph before this one."""
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev, x._next, self._prev = x, before, self, x

    def append(self, x: Node) -> None:
        """Move a node of the same graph behind this one."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def replace_all_uses_with(self, replace_with: Node, delete_user_cb: Callable[[Node], bool] | None = None, *,
                              propagate_meta: bool = False) -> list[Node]:
        """Let the users of this node use another one. Returns them. `delete_user_cb` may keep some as they are."""
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb is None or delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Replace one of the nodes that this node uses by another."""
        def other(node: Node) -> Node:
            return new_input if node is old_input else node

        self._update(map_arg(self.args, other), map_arg(self.kwargs, other))

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node does something besides its result, so that it stays without users."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            if self.graph.owning_module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return bool(getattr(self.graph.owning_module.get_submodule(self.target), "_is_impure", False))
        if self.op == "call_function":
            schema = getattr(self.target, "_schema", None)
            if impure_random and any([getattr(sys.modules[PACKAGE], name) is self.target for name in _RANDOM]):
                return True
            return self.target in _EFFECTS or bool(schema is not None and schema.is_mutable)
        return False

    def format_node(self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None,
                    *, include_tensor_metadata: bool = False) -> str | None:
        """The node as a line of a printed graph. With `include_tensor_metadata` the line has the dtype, the shape, the
        strides and the device of the tensor that `meta` has under "val", "tensor_meta" or "example_value".
        """
        if self.op == "output":
            if self.type is not None and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_text(self.type)}"
            return f"return {self.args[0]}"
        head = f"%{self.name} : {type_text(self.type)} " if self.type is not None else f"%{self.name} : "
        head += f"[num_users={len(self.users)}] = {self.op}[target={shown_target(self.target)}]"
        if self.op == "placeholder":
            return head + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return head
        if include_tensor_metadata and (described := self._described()):
            head = f"%{self.name} : {described}" + head[head.index("[num_users="):]
        return f"{head}(args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"

    def _described(self) -> str:
        """The tensor that is the result, in short. Empty if the node does not know a dense one."""
        known = [self.meta[key] for key in ("val", "tensor_meta", "example_value") if key in self.meta]
        if not known or not isinstance(known[0], Tensor) or str(known[0].layout) in ("torch.sparse_csr",
                                                                                     "torch.sparse_csc"):
            return ""
        tensor, kind = known[0], str(known[0].dtype).rpartition(".")[2].replace("_", "")
        for name, letter in (("complex", "c"), ("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "i"),
                             ("bool", "b8")):
            kind = kind.replace(name, letter)
        return f'Tensor "{kind}{[*tensor.shape]}{[*tensor.stride()]}{tensor.device}"'

    def __repr__(self) -> str:
        return self.name

    def __lt__(self, other: Node) -> bool:
        order = [*self.graph.nodes]
        return order.index(self) < order.index(other)


def _shown(arg: Any) -> str:
    """An argument as a printed graph shows it."""
    if isinstance(arg, tuple):
        return f"({', '.join([_shown(x) for x in arg])}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, list):
        return f"[{', '.join([_shown(x) for x in arg])}]"
    if isinstance(arg, dict):
        return f"{{{', '.join([f'{key}: {_shown(value)}' for key, value in arg.items()])}}}"
    return f"%{arg.name}" if isinstance(arg, Node) else str(arg)


class NodeList:
    """The nodes of a graph, in their order."""

    def __init__(self, graph: Any, backwards: bool = False) -> None:
        self.graph, self.backwards = graph, backwards

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self.backwards else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self.backwards else node._next

    def __reversed__(self) -> NodeList:
        return NodeList(self.graph, not self.backwards)
