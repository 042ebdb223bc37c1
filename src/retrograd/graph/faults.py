"""The errors of the engine: PyTorch's message, and notes on the op, the line and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..foundations.dtypes import Array, dtype as torch_dtype
from ..foundations.errors import at, note, noted
from ..kernels.layout import owner_of
from ..kernels.shape import clash
from ..ops.elementwise.elementary import view_as_complex, view_as_real
from . import versions
from .node import AccumulateGrad, OpNode, site_of
from .versions import writes_to, written_since

if TYPE_CHECKING:
    from ..graph.node import Node

FREED = ("Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
         "retain_graph=True if you need to backward through the graph a second time or if you need to access saved {} "
         "after calling backward.")
SECOND = ("Trying to backward through the graph a second time (or directly access saved tensors after they have "
          f"already been freed). {FREED.format('tensors')}")


_ENABLE = ("enable anomaly detection to find the operation that failed to compute its gradient, with "
           "torch.autograd.set_detect_anomaly(True, check_nan=False).")
# What PyTorch says in anomaly mode. What it calls the backtrace is in our notes.
_SHOWN = ("the backtrace further above shows the operation that failed to compute its gradient. The variable in "
          "question was changed in there or anywhere later. Good luck!")

_STEPPED = ("make all backward passes before step(), compute the result again after it, or detach what an earlier step "
            "left")


class Earlier:
    """Finds the variable that leads to the graph of an earlier pass. `wiring` fills it in."""

    facts: Callable[[Node, Sequence[Node]], dict[str, str]]


def second_pass(node: Node, order: Sequence[Node] = ()) -> RuntimeError:
    """The error for a node whose saved values an earlier pass released. `order` are the nodes of this pass."""
    return noted(RuntimeError(SECOND), "backward#second-backward", freed=f"the values that {node.name()} saved",
                 recorded=recorded(node), **Earlier.facts(node, order))


def recorded(node: Node) -> str:
    """'MulBackward0 at program.py:3', with the source line, or '' if the line is not known."""
    site = site_of(node)
    return "" if site is None else f"{node.name()} at {at(site)}"


def type_text(array: Array) -> str:
    """PyTorch's old-style name of an array's type, such as 'torch.FloatTensor' or 'torch.sparse.FloatTensor'."""
    name = torch_dtype.of[array.dtype].legacy
    backend = getattr(array, "backend", "CPU")
    if backend.startswith("Sparse"):
        return f"torch.sparse.{name}Tensor" if backend == "SparseCPU" else f"SparseCsrtorch.{name}Tensor"
    return f"CPU{name}Type" if array.dtype.kind == "c" else f"torch.{name}Tensor"


def forward_name(node: Node) -> str:
    """What PyTorch's messages call the operation of a node: 'Exp' for ExpBackward0, and 'Pow1' for PowBackward1."""
    return _shortened(node.name())


def _shortened(name: str) -> str:
    operation, _, digits = name.rpartition("Backward")
    return operation + ("" if digits == "0" else digits) if operation and (not digits or digits.isdigit()) else name


def saved_origin(node: Node, i: int, array: Array) -> str:
    """`origin` of a value that a node of an op has saved at place `i`."""
    kind, place = node.saves[i]
    if kind != "out":
        return origin(node, array, node.edges[place])
    before = node.edges[0]
    if before is not None and before.node.number == node.number - 1:       # the result of a write to a view is the view
        return _output("AsStrided", 0)
    return origin(node, array, None, place)


def origin(node: Any, array: Array, edge: Any, number: int | None = None) -> str:
    """What PyTorch's message says of the origin of a value that `node` saved: ', which is output 0 of Mul,'.

    The value is output `number` of the node, or an input, whose edge was `edge` when the input was saved. PyTorch asks
    an input for its present history, which a recorded write gives to the input, and so do we. A view of the written
    memory gets its history from the memory's tensor. Integers, such as the order of a sort, have no history.
    """
    kind_of_number = torch_dtype.of[array.dtype]
    if not (kind_of_number.is_floating_point or kind_of_number.is_complex):
        return ""
    if number is not None:
        return _output(forward_name(node), number)
    leaf = edge is None or isinstance(edge, AccumulateGrad)
    if not leaf and edge.node.of_view:
        retyped = isinstance(edge.node, OpNode) and edge.node.op in (view_as_real, view_as_complex)
        return _output(forward_name(edge.node) if retyped else "AsStrided", 0)
    kind, memory = versions.recorded_by(array), owner_of(array)
    if kind is not None:
        part = leaf and (array.shape, array.strides) != (memory.shape, memory.strides)
        return _output("AsStrided" if part else _shortened(f"{kind.namespace}{kind.__name__}"), 0)
    return "" if leaf else _output(forward_name(edge.node), edge.index)


def _output(operation: str, number: int) -> str:
    return f", which is output {number} of {operation},"


def in_turn(node: Any) -> list[int]:
    """The places of the operands and results among a node's saved values, in the order in which PyTorch checks them."""

    def turn(i: int) -> tuple[bool, int]:                # the second of two operands comes first
        kind, place = node.saves[i]
        return kind == "out", -place if node.op.arity == 2 else place

    return sorted(node.op.saved_arrays, key=turn)


def stale(node: Node) -> RuntimeError:
    """The error for a value that `node` saved and that was written to before the pass used the value."""
    for i in in_turn(node):
        if node.saved[i] is not None and written_since(node.saved[i], node.number):
            return modified(node, node.saved[i], saved_origin(node, i, node.saved[i]))
    raise AssertionError("no saved value was written to")


def modified(node: Any, array: Array, origin: str = "") -> RuntimeError:
    """The error for one array that `node` saved. `origin` is what the message says of the array's origin."""
    writes = writes_to(array)
    assert writes is not None
    site = site_of(node)
    hint = _ENABLE if site is None else _SHOWN
    return noted(
        RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                     f"operation: [{type_text(array)} {list(array.shape)}]{origin} is at version {writes.count}; "
                     f"expected version {writes.seen_by(node.number)} instead. Hint: {hint}"),
        "in-place#modified-in-place", saved=f"by {node.name()}" + (f", recorded at {at(site)}" if site else ""),
        modified=f"at {at(writes.site)}" if writes.site is not None else "",
        instead=_STEPPED if writes.site is not None and ".step(" in writes.site.text else
                "write to a clone, or use the operation that returns a new tensor")


def is_clash(error: Exception) -> bool:
    """Whether a rule refused the shape of a value: NumPy's error or, from a rule that computes with tensors, ours."""
    return type(error) is ValueError or str(error).startswith("The size of tensor a (")


def unfit(error: Exception, cotangent: Any, values: list[Any]) -> RuntimeError:
    """The error for an unpacked value whose shape a rule refused."""
    shapes = [tuple(value.shape) for value in values if hasattr(value, "shape")]
    sentences = [clash(tuple(cotangent.shape), shape) for shape in shapes]
    return noted(
        RuntimeError(str(next(filter(None, sentences), error))), "hooks#shape-from-unpack-hook",
        because="an unpack hook must return a tensor of the shape that was packed",
        given=f"the gradient has shape {list(cotangent.shape)}, and the hooks "
              f"unpacked {', '.join([str(list(shape)) for shape in shapes])}")


def in_rule(error: Exception, node: Any, index: int) -> None:
    """Add a note to an error inside a rule: the op and the argument that the rule differentiates by."""
    op = node.op
    note(error, "in rule", f"of {op.name} for its argument {op.arguments[index]!r} ({node.name()})")
