"""Nodes and edges: what made a value, from what, and what was saved for its derivative.

An *edge* is the node that made a value; for a node of several outputs it is an `Output`, which names one of them. A
node of an op keeps arrays and no tensors, and points only backwards, so reference counts alone free a graph. The engine
knows how to run a node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ..foundations.devices import CPU
from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.errors import Site, noted
from ..kernels.elementwise.parts import rule_in_parts
from ..ops.framework import Op, Save, Step
from .hooks import USER_HOOKS, Hooks, RemovableHandle, register
from .locks import moment
from .versions import next_number

if TYPE_CHECKING:
    from .engine import Pass


class Released:
    """Stands for the saved values of a node that a backward pass has used and released."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<released>"


RELEASED: Any = Released()


def _laid_out(step: Step) -> tuple[Any, ...]:
    argument, rule, at = step
    return argument, rule, len(at), *(*at, -1, -1)[:2], at


class Plan:
    """How the engine's short way runs the nodes of an op with one output and a fixed number of inputs.

    Each of `steps` is (argument, rule, how many saved values the rule names, the places of the first and second of
    them, the places of all of them). `arrays` are the places of the saved values that are arrays, which users may write
    to. `large` are the steps for a cotangent of `LARGE` elements or more.
    """

    __slots__ = ("arrays", "large", "steps")

    def __init__(self, op: Op) -> None:
        self.arrays = op.saved_arrays
        self.steps = tuple([_laid_out(step) for step in op.steps])
        self.large = self.steps if op.kind != "elementwise" else tuple([
            _laid_out((argument, rule_in_parts(op.kernel, rule), at)) for argument, rule, at in op.steps])


class SavedReader:
    """Reads the saved values of a node of the op table by PyTorch's names, such as `_saved_self`, and lists the names.

    `wiring` fills in these functions.
    """

    attribute: Callable[[Any, str], Any]
    attributes: Callable[[Any], list[str]]

ENGINE = "torch::autograd::"              # the prefix of the names of classes of PyTorch's engine


class Node:
    """One recorded operation. PyTorch calls it a `grad_fn`.

    `number` is the order of creation, and so a topological order. `shape` and `dtype` are those of the result (for
    several outputs, tuples of them). `saved` holds the values that its rules use, in the order of `saves`, with None
    for a value that no rule of a needed gradient uses. `origin` is set only in anomaly mode, and while `viz.recording`
    notes lines and modules; see `origin_of`.
    """

    __slots__ = ("dtype", "edges", "hooks", "number", "origin", "plan", "saved", "shape")
    number: int
    edges: tuple[Any, ...]
    saved: Any
    shape: Any
    dtype: Any
    hooks: Hooks | None
    plan: Plan | None                      # None sends the engine the long way
    origin: tuple[Any, ...]

    # The engine runs a node of the op table by its steps. A node without steps defines `apply`.
    steps: ClassVar[tuple[Step, ...] | None] = None
    saves: ClassVar[list[Save]] = []
    conjugates: ClassVar[bool] = False     # whether complex gradients are conjugated before and after its rules
    runs_always: ClassVar[bool] = False    # even without a gradient, as users' Functions do
    hooks_kind: ClassVar[type[Hooks]] = Hooks
    outputs: Any = 1                       # their number; nodes of several outputs have a slot for it
    namespace: ClassVar[str] = ""          # the prefix of names that PyTorch's own engine defines
    of_view: ClassVar[bool] = False        # whether the result is a view
    requires_grad: ClassVar[bool] = True   # a node is made only for what requires grad

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        """For a node without steps: the gradients in the order of `edges`, or None, in the pass `walk`."""
        raise NotImplementedError

    def name(self) -> str:
        """PyTorch's name of the operation, such as 'MulBackward0'."""
        return f"{self.namespace}{type(self).__name__}"

    @property
    def links(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that made the input and the output number; (None, 0) for a constant."""
        places = self.inputs_shown()
        edges = self.edges if places is None else [self.edges[i] for i in places]
        return tuple([(None, 0) if e is None else (e.node, e.index) for e in edges])

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The links, with the object that users see for each node."""
        return tuple([(None if node is None else node.public, index) for node, index in self.links])

    @property
    def public(self) -> Any:
        """The object that users see: the node itself, except for a Function, whose author may use any attribute."""
        return self

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes about this node.

        If anomaly mode was on when the node was recorded, 'traceback_' holds the line that recorded it. If the node was
        recorded in the backward of another node, 'parent_' holds that node.
        """
        notes = hooks_of(self).metadata
        origin = origin_of(self)
        if origin is not None:
            notes.setdefault("traceback_", [] if origin.site is None else [origin.site.frame_text()])
            if origin.parent is not None:
                notes.setdefault("parent_", origin.parent.public)
        return notes

    def register_prehook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs. A tuple that it returns replaces `grad_outputs`.

        The tuple holds the gradient of each output, or None for an output without a gradient.
        """
        return register(hooks_of(self).pre, fn)

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran. A tuple that it returns replaces `grad_inputs`.

        `grad_inputs` are the gradients that go along `next_functions`.
        """
        return register(hooks_of(self).post, fn)

    def _register_hook_dict(self, tensor: Any) -> None:
        hooks_of(self).tensor.append((tensor.output_nr, tensor._backward_hooks))

    def _sequence_nr(self) -> int:
        return self.number // 2

    @property
    def _input_metadata(self) -> tuple[_InputMetadata, ...]:
        if not self.several:
            return (_InputMetadata(self.shape, self.dtype),)
        return tuple([_InputMetadata(s, d) for s, d in zip(self.shape, self.dtype, strict=True) if s is not None])

    def inputs_shown(self) -> tuple[int, ...] | None:
        """The places of the edges that users see, or None for all."""
        return None

    @property
    def several(self) -> bool:
        """Whether the node gets a list of gradients: the node has several outputs, or an unknown number of them."""
        return type(self.dtype) is list

    # A node that serves as an edge stands for its only output.
    @property
    def node(self) -> Node:
        return self

    @property
    def index(self) -> int:
        return 0

    def __call__(self, *cotangents: Any) -> Any:
        return USER_HOOKS.node(self, cotangents)

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        raise noted(
            TypeError(f"cannot pickle '{self.name()}' object"), because="a graph cannot be copied or saved",
            instead="save the tensor's detach(), or run the computation again")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Origin(NamedTuple):
    """Where a node was recorded: the code object and the offset of the line, which cost little to note.

    `parent` is the node in whose backward it was recorded, or None. `bad` describes non-finite values that the node
    made of finite values. `inside` says in which module it was recorded, if that was noted.
    """

    code: Any
    offset: int
    parent: Any
    bad: Any
    inside: Any = None

    @property
    def site(self) -> Site | None:
        return None if self.code is None else Site(self.code, self.offset)


def origin_of(node: Node) -> Origin | None:
    """Where a node was recorded, or None if nobody noted it."""
    try:
        return Origin(*node.origin)
    except AttributeError:
        return None


def site_of(node: Node) -> Site | None:
    """The line that recorded a node, if it is known."""
    origin = origin_of(node)
    return None if origin is None else origin.site


class _InputMetadata:
    """The shape and dtype of the gradients that a node gets for one of its outputs."""

    __slots__ = ("dtype", "shape")
    __module__ = "torch._C._autograd"
    device = CPU
    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape: list[int] = [*shape]
        self.dtype = torch_dtype.of[dtype]


class OpNode(Node):
    """A node of the op table. Each op has its own subclass, named as in PyTorch. Recording fills in the fields."""

    __slots__ = ()
    op: ClassVar[Op]

    def __getattr__(self, name: str) -> Any:
        return SavedReader.attribute(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *SavedReader.attributes(self)]

    def edge_to(self, index: int) -> Any:
        """The edge to one of the results, or None for a result that is a constant."""
        if index >= len(self.op.differentiable):
            return None
        return Output(self, index) if self.several else self

    def inputs_shown(self) -> tuple[int, ...] | None:
        if self.op.variadic:
            return None
        shown = [index for index, *_ in self.op.steps]
        if self.op.node_name == "NotImplemented":        # a node without a derivative shows no constants
            shown = [index for index in shown if self.edges[index] is not None]
        return tuple(shown)


class OtherNode(Node):
    """A node outside the op table: the end of the graph, one of several outputs, or a slice written in place."""

    __slots__ = ("__dict__", "__weakref__")

    def __init__(self, edges: tuple[Any, ...], shape: Any, dtype: Any) -> None:
        self.number = next_number()
        self.edges, self.shape, self.dtype = edges, shape, dtype
        self.saved = self.hooks = self.plan = None


class Output:
    """An edge to one of several outputs of a node. The edge is an address: two edges to the same output are equal."""

    __slots__ = ("dtype", "index", "node", "shape")

    def __init__(self, node: Node, index: int) -> None:
        self.node, self.index = node, index
        self.shape: tuple[int, ...] = node.shape[index]
        self.dtype: np.dtype[Any] = node.dtype[index]


class GradientEdge(NamedTuple):
    """An edge as users hold it: `node` made a value, and `output_nr` is the number of that output."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def edge_at(address: GradientEdge) -> Any:
    """The edge that a GradientEdge stands for."""
    node = behind(address.node)
    return Output(node, address.output_nr) if node.several else node


def behind(public: Any) -> Any:
    """The node behind the object that users hold."""
    return public if isinstance(public, Node) else public._node


class Nowhere(OtherNode):
    """The edge of a view that was made without recording, from a tensor that requires grad.

    The view counts as requiring grad, but its gradient is lost. Users see no node.
    """

    __slots__ = ()

    @property
    def node(self) -> Any:
        return None

    def apply(self, cotangents: list[Any], walk: Pass) -> Any:
        return ()


class AccumulateGrad(OtherNode):
    """The end of the graph: adds into a leaf's `.grad`. The node keeps the leaf alive; the leaf holds it weakly.

    The leaf is `abandoned` if a transform of a function made it for a call that is over. `accumulator_of` makes the
    node, and fills in the fields.
    """

    __slots__ = ("variable",)
    variable: Any
    abandoned = False
    namespace = ENGINE

    def _sequence_nr(self) -> int:
        return 2 ** 64 - 1                     # a leaf comes before all other nodes as soon as its gradient is complete


def leaves_behind(node: Node) -> Iterator[AccumulateGrad]:
    """The leaves that lie behind a node."""
    waiting, seen = [node], {None, node}
    for node in waiting:
        if type(node) is AccumulateGrad:
            yield node
        for edge in node.edges:
            node = edge.node if type(edge) is Output else edge
            if node not in seen:
                seen.add(node)
                waiting.append(node)


def hooks_of(node: Node) -> Hooks:
    """The hooks of a node, created on the first call."""
    if node.hooks is None:
        with moment:
            if node.hooks is None:                         # no other thread was quicker
                node.hooks = node.hooks_kind()
    return node.hooks


def node_class(op: Op) -> type[OpNode]:
    """The Node subclass of an op, with PyTorch's name. A node of several outputs stores their number."""
    namespace, colons, name = op.node_name.rpartition("::")
    return type(name, (OpNode,), {
        "namespace": ENGINE if name == "NotImplemented" else namespace + colons,
        "__slots__": ("outputs",) if op.several else (), "__module__": "torch.autograd",
        "of_view": op.view,
        "__doc__": f"The backward of `{op.name}`.", "op": op, "steps": op.steps, "saves": op.saves,
        "conjugates": op.complex == "holomorphic"})


@cache
def plan_of(op: Op) -> Plan | None:
    """The engine's short way through nodes of this op, if there is one."""
    return None if op.several or op.variadic or op.joint else Plan(op)
