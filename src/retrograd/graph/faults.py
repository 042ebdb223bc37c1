"""The errors of the engine: PyTorch's sentence comes first, then the op, the line and the remedy."""

from __future__ import annotations

from typing import Any

from ..foundations.dtypes import dtype as torch_dtype
from ..foundations.errors import see
from ..kernels.shape import clash
from .node import AccumulateGrad, site_of
from .versions import writes_to, written_since

FREED = ("Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
         "retain_graph=True if you need to backward through the graph a second time or if you need to access saved {} "
         "after calling backward.")
SECOND = ("Trying to backward through the graph a second time (or directly access saved tensors after they have "
          f"already been freed). {FREED.format('tensors')}")


def second_pass(node: Any) -> RuntimeError:
    """The error for a node whose saved values an earlier pass released."""
    return RuntimeError(f"{SECOND} (The values that {node.name()} saved are gone.{recorded(node)})"
                        + see("backward#second-backward"))


def recorded(node: Any) -> str:
    """' MulBackward0 was recorded at File …, line ….', or '' if the line is not known."""
    site = site_of(node)
    return "" if site is None else f" {node.name()} was recorded at {site}."


def type_text(array: Any) -> str:
    """PyTorch's old-style name of an array's type, such as 'torch.FloatTensor'."""
    name = torch_dtype.of[array.dtype].legacy
    return f"CPU{name}Type" if array.dtype.kind == "c" else f"torch.{name}Tensor"


def forward_name(node: Any) -> str:
    """What PyTorch's messages call the operation of a node: 'Exp' for ExpBackward0."""
    name: str = node.name()
    return name.rpartition("Backward")[0] or name


def producer(node: Any, save: Any) -> tuple[Any, int]:
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


def stale(node: Any) -> RuntimeError:
    """The error for a value that `node` saved and that was written to before the pass used the value."""
    for i in in_turn(node):
        if node.saved[i] is not None and written_since(node.saved[i], node.number):
            return modified(node, node.saved[i], *producer(node, node.saves[i]))
    raise AssertionError("no saved value was written to")


def modified(node: Any, array: Any, producer: Any, number: int) -> RuntimeError:
    """The error for one array that `node` saved. The array is output `number` of `producer`."""
    made_by = "" if producer is None else f", which is output {number} of {forward_name(producer)},"
    writes = writes_to(array)
    assert writes is not None
    where = f" It was last modified at {writes.site}." if writes.site is not None else ""
    site = site_of(node)
    if site is None:
        hint = ("enable anomaly detection to find the operation that failed to compute its gradient, with "
                f"torch.autograd.set_detect_anomaly(True, check_nan=False). The value was saved by {node.name()}.")
    else:
        hint = f"the value was saved by {node.name()}, recorded at {site}, and was changed there or anywhere later."
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_text(array)} {list(array.shape)}]{made_by} is at version {writes.count}; expected version "
        f"{writes.seen_by(node.number)} instead. Hint: {hint}{where} Write to a clone, or use the operation that "
        "returns a new tensor." + see("in-place#modified-in-place"))


def is_clash(error: Exception) -> bool:
    """Whether a rule refused the shape of a value: NumPy's error or, from a rule that computes with tensors, ours."""
    return type(error) is ValueError or str(error).startswith("The size of tensor a (")


def unfit(error: Exception, cotangent: Any, values: list[Any]) -> RuntimeError:
    """The error for an unpacked value whose shape a rule refused."""
    shapes = [tuple(value.shape) for value in values if hasattr(value, "shape")]
    sentences = [clash(tuple(cotangent.shape), shape) for shape in shapes]
    return RuntimeError(f"{next(filter(None, sentences), error)}. An unpack hook must return a tensor of the shape "
                        f"that was packed. The gradient has shape {list(cotangent.shape)}, and the hooks unpacked "
                        f"{', '.join([str(list(shape)) for shape in shapes])}."
                        + see("hooks#shape-from-unpack-hook"))


def in_rule(error: Exception, node: Any, index: int) -> None:
    """Add a note to an error inside a rule: the op and the argument that the rule differentiates by."""
    op = node.op
    error.add_note(f"in the derivative rule of {op.name} for its argument {op.arguments[index]!r} ({node.name()})")
