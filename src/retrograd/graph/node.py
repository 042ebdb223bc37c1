"""Nodes and edges: what made a value, from what, and what it saved for its derivative.

An *edge* is the node that made a value; for a node of several outputs it is an `Output`, which names one of them.
A node of an op keeps arrays, never tensors, and points only backwards, so a graph dies by reference counts alone.
This module must not know Tensor or how a node is run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..devices import CPU
from ..dtypes import dtype as torch_dtype
from ..errors import Site
from ..ops.framework import Op, Save, Step
from .hooks import Hooks, RemovableHandle, Users, register
from .versions import next_number


class Released:
    """Stands for the saved values of a node that a backward pass has used and let go."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<released>"


RELEASED: Any = Released()


class Plan:
    """How the engine's short way runs the nodes of an op: one output, a fixed number of inputs.

    Each of `steps` is (argument, rule, how many saved values the rule names, where the first and second of them
    stand, where all of them stand). `arrays` says which saved values are arrays that somebody may write to.
    """

    __slots__ = ("arrays", "steps")

    def __init__(self, op: Op) -> None:
        self.arrays = op.saved_arrays
        self.steps = tuple((argument, rule, len(at), *(*at, -1, -1)[:2], at) for argument, rule, at in op.steps)


class SavedReader:
    """Reads the saved values of a node of the op table by PyTorch's names, `_saved_self`, and says which there are.

    Named once, by the layer that knows tensors.
    """

    attribute: Callable[[Any, str], Any]
    attributes: Callable[[Any], list[str]]


class Node:
    """One recorded operation. PyTorch calls it a `grad_fn`.

    `number` is the order of creation, and so a topological order. `shape` and `dtype` are the result's (tuples of
    them where there are several outputs). `saved` are the values its rules use, in the order of `saves`, None where
    no rule of a needed gradient uses one. `origin` is set only where anomalies are looked for; see `origin_of`.
    """

    __slots__ = ("dtype", "edges", "hooks", "number", "origin", "plan", "saved", "shape")
    number: int
    edges: tuple[Any, ...]
    saved: Any
    shape: Any
    dtype: Any
    hooks: Any
    plan: Plan | None                      # None sends the engine the long way
    origin: tuple[Any, ...]

    # A node of the op table is run by its steps; a node that has none defines `apply`.
    steps: ClassVar[tuple[Step, ...] | None] = None
    saves: ClassVar[list[Save]] = []
    conjugates: ClassVar[bool] = False     # whether complex gradients are conjugated before and after its rules
    runs_always: ClassVar[bool] = False    # also where no gradient reached it: what a user wrote does
    outputs: Any = 1                       # their number; nodes of several have a slot for it
    namespace: ClassVar[str] = ""          # what stands before the name of a node that PyTorch's engine defines

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        """Gradients in the order of `edges` (None where there is none), of a node without steps, in the pass `walk`."""
        raise NotImplementedError

    def name(self) -> str:
        """PyTorch's name of the operation, such as 'MulBackward0'."""
        return f"{self.namespace}{type(self).__name__}"

    @property
    def links(self) -> tuple[tuple[Node | None, int], ...]:
        """For each input, the node that made it and which of its outputs it is; (None, 0) for a constant."""
        places = self.inputs_shown()
        edges = self.edges if places is None else [self.edges[i] for i in places]
        return tuple([(None, 0) if e is None else (e.node, e.index) for e in edges])

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The links, to what users are shown of each node."""
        return tuple([(None if node is None else node.public, index) for node, index in self.links])

    @property
    def public(self) -> Any:
        """What users are shown of it: the node itself, but for a Function, whose author names attributes at will."""
        return self

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user's own notes about this node.

        Where anomaly mode was on when the node was recorded, 'traceback_' holds the line that recorded it, and
        'parent_' the node in whose backward it was recorded, if it was in one.
        """
        notes = hooks_of(self).metadata
        origin = origin_of(self)
        if origin is not None:
            notes.setdefault("traceback_", [] if origin.site is None else [origin.site.frame_text()])
            if origin.parent is not None:
                notes.setdefault("parent_", origin.parent.public)
        return notes

    def register_prehook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; the tuple that it returns, unless None, stands in for them.

        The tuple holds the gradient of each output, None where there is none.
        """
        return register(hooks_of(self).pre, fn)

    def register_hook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran; the tuple that it returns, unless None, stands in
        for `grad_inputs`, which are the gradients that go along `next_functions`.
        """
        return register(hooks_of(self).post, fn)

    def _register_hook_dict(self, tensor: Any) -> None:
        hooks_of(self).tensor.append((tensor.output_nr, tensor._backward_hooks))

    def _sequence_nr(self) -> int:
        return self.number // 2

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        if not self.several:
            return [InputMetadata(self.shape, self.dtype)]
        return [InputMetadata(s, d) for s, d in zip(self.shape, self.dtype, strict=True) if s is not None]

    def inputs_shown(self) -> tuple[int, ...] | None:
        """Which of the edges users see; None for all."""
        return None

    @property
    def several(self) -> bool:
        """Whether gradients come to it by output: it has several, or a number of them that is not known beforehand."""
        return type(self.dtype) is list

    # An edge that is a node itself stands for its only output.
    @property
    def node(self) -> Node:
        return self

    @property
    def index(self) -> int:
        return 0

    def __reduce_ex__(self, protocol: Any) -> str | tuple[Any, ...]:
        raise TypeError(f"cannot pickle '{self.name()}' object: a graph is neither copied nor saved. Save the tensor's "
                        "detach(), or run the computation again.")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class Origin(NamedTuple):
    """Where a node was recorded: code object and offset of the line, which are cheap to note.

    `parent` is the node in whose backward it was, None outside of one. `bad` describes values that are not finite and
    that it made of finite ones.
    """

    code: Any
    offset: int
    parent: Any
    bad: Any

    @property
    def site(self) -> Site | None:
        return None if self.code is None else Site(self.code, self.offset)


def origin_of(node: Node) -> Origin | None:
    """Where a node was recorded; None where nobody looked."""
    try:
        return Origin._make(node.origin)
    except AttributeError:
        return None


def site_of(node: Node) -> Site | None:
    """The line that recorded a node, where it is known."""
    origin = origin_of(node)
    return None if origin is None else origin.site


class InputMetadata:
    """What the gradients are like that come to a node from one of its outputs."""

    __slots__ = ("dtype", "shape")
    device = CPU
    is_nested_tensor = is_cpp_nested_tensor = False

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        self.shape: list[int] = [*shape]
        self.dtype = torch_dtype.of[dtype]


class OpNode(Node):
    """A node of the op table. Each op has a subclass of its own, named as PyTorch names it; recording fills it in."""

    __slots__ = ()
    op: ClassVar[Op]

    def __call__(self, *cotangents: Any) -> Any:
        return Users.node(self, cotangents)

    def __getattr__(self, name: str) -> Any:
        return SavedReader.attribute(self, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *SavedReader.attributes(self)]

    def edge_to(self, index: int) -> Any:
        """The edge of one of the results; None of one that is a constant."""
        if index >= len(self.op.differentiable):
            return None
        return Output(self, index) if self.several else self

    def inputs_shown(self) -> tuple[int, ...] | None:
        if self.op.variadic:
            return None
        shown = [index for index, *_ in self.op.steps]
        if self.op.node_name == "NotImplemented":        # what has no derivative shows no constants
            shown = [index for index in shown if self.edges[index] is not None]
        return tuple(shown)


class OtherNode(Node):
    """A node outside the op table: an end of the graph, one of several outputs, a slice written in place."""

    __slots__ = ("__dict__", "__weakref__")

    def __init__(self, edges: tuple[Any, ...], shape: Any, dtype: Any) -> None:
        self.number = next_number()
        self.edges = edges
        self.saved = None
        self.shape = shape
        self.dtype = dtype
        self.hooks = None
        self.plan = None


class Output:
    """An edge to one of several outputs of a node: an address. Two of the same output are as good as one."""

    __slots__ = ("dtype", "index", "node", "shape")

    def __init__(self, node: Node, index: int) -> None:
        self.node, self.index = node, index
        self.shape: tuple[int, ...] = node.shape[index]
        self.dtype: np.dtype[Any] = node.dtype[index]


class GradientEdge(NamedTuple):
    """An edge as users hold it: `node` made a value, and `output_nr` says which of its outputs it is."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def edge_at(address: GradientEdge) -> Any:
    """The edge that a GradientEdge stands for."""
    node = behind(address.node)
    return Output(node, address.output_nr) if node.several else node


def behind(public: Any) -> Any:
    """The node behind what users hold of it."""
    return public if isinstance(public, Node) else public._node


class Nowhere(OtherNode):
    """The edge of a view that was made unrecorded of what requires grad: it counts as requiring grad, but the gradient
    is lost. To users there is no node.
    """

    __slots__ = ()

    @property
    def node(self) -> Any:
        return None

    def apply(self, cotangents: list[Any], walk: Any) -> Any:
        return ()


class AccumulateGrad(OtherNode):
    """The end of the graph: adds into the `.grad` of a leaf, which it keeps alive. The leaf holds it weakly."""

    __slots__ = ("variable",)
    namespace = "torch::autograd::"

    def __init__(self, variable: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
        super().__init__((), shape, dtype)
        self.variable = variable

    def _sequence_nr(self) -> int:
        return 2 ** 64 - 1                     # it comes before all others, as soon as it is due

    def __call__(self, *cotangents: Any) -> Any:
        return Users.node(self, cotangents)


def hooks_of(node: Node) -> Hooks:
    """The hooks of a node, made if there are none."""
    if node.hooks is None:
        node.hooks = Hooks()
    hooks: Hooks = node.hooks
    return hooks


def node_class(op: Op) -> type[OpNode]:
    """The Node subclass of an op, with PyTorch's name. Nodes of several outputs note their number."""
    return type(op.node_name, (OpNode,), {
        "__slots__": ("outputs",) if op.several else (), "__module__": "torch.autograd",
        "__doc__": f"The backward of `{op.name}`.", "op": op, "steps": op.steps, "saves": op.saves,
        "conjugates": op.complex == "holomorphic"})


@cache
def plan_of(op: Op) -> Plan | None:
    """The engine's short way through nodes of this op, where there is one."""
    return None if op.several or op.variadic else Plan(op)
