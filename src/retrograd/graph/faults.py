"""The errors of the engine: PyTorch's message, and notes on the op, the line and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..foundations.dtypes import Array, dtype as torch_dtype
from ..foundations.errors import at, note, noted
from ..kernels.shape import clash
from .node import AccumulateGrad, site_of
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
    """PyTorch's old-style name of an array's type, such as 'torch.FloatTensor'."""
    name = torch_dtype.of[array.dtype].legacy
    return f"CPU{name}Type" if array.dtype.kind == "c" else f"torch.{name}Tensor"


def forward_name(node: Node) -> str:
    """What PyTorch's messages call the operation of a node: 'Exp' for ExpBackward0."""
    name: str = node.name()
    return name.rpartition("Backward")[0] or name


def producer(node: Node, save: Any) -> tuple[Any, int]:
    """The (node, output number) that made a saved value, or (None, 0) for a constant or a leaf."""
    if save.kind == "out":
        return node, save.place
    return maker(node.edges[save.place])


def maker(edge: Any) -> tuple[Any, int]:
    """The (node, output number) behind an edge, or (None, 0) for a constant or a leaf."""
    return (None, 0) if edge is None or isinstance(edge, AccumulateGrad) else (edge.node, edge.index)


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
            return modified(node, node.saved[i], *producer(node, node.saves[i]))
    raise AssertionError("no saved value was written to")


def modified(node: Any, array: Array, producer: Any, number: int) -> RuntimeError:
    """The error for one array that `node` saved. The array is output `number` of `producer`."""
    made_by = "" if producer is None else f", which is output {number} of {forward_name(producer)},"
    writes = writes_to(array)
    assert writes is not None
    site = site_of(node)
    hint = _ENABLE if site is None else _SHOWN
    return noted(
        RuntimeError("one of the variables needed for gradient computation has been modified by an inplace "
                     f"operation: [{type_text(array)} {list(array.shape)}]{made_by} is at version {writes.count}; "
                     f"expected version {writes.seen_by(node.number)} instead. Hint: {hint}"),
        "in-place#modified-in-place", saved=f"by {node.name()}" + (f", recorded at {at(site)}" if site else ""),
        modified=f"at {at(writes.site)}" if writes.site is not None else "",
        instead="write to a clone, or use the operation that returns a new tensor")


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
