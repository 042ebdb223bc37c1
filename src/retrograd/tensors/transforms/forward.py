"""Forward mode: the tangent of every result, computed beside the result.

Three kinds of operators need nothing of their own. The rules of an elementwise operator multiply by its derivative, so
they take tangents as well as cotangents. A linear operator is applied to the tangents. A view has the view of the
tangent (`shadows`). For products, and for operators that programs use often, there are statements in `products` and
`formulas`. Any other operator gets its tangent by transposition: its gradient is linear in the cotangent, so the
gradient of the gradient leads the other way.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...foundations.dtypes import DIFFERENTIABLE, F32, Array
from ...foundations.errors import noted
from ...foundations.modes import local
from ...kernels.layout import owner_of
from ...ops.basic import cast, copy
from ...ops.creation import full_beside
from ...ops.elementwise.arithmetic import copy as copy_elements
from ...ops.framework import Op
from ...ops.shape import expand, unsafe_view
from ..recording.calls import CALLS
from ..recording.gradients import run_backward, starting
from ..recording.inplace import check_result, write_over
from ..recording.overlaps import check_overlaps
from ..state.base import TensorBase, as_leaf, edge_of, plain
from .batched import Batched, is_array, joined, parts
from .formulas import FORMULAS
from .levels import Level, below, in_effect, inner, inside, lowest, moving, others, outer, with_level
from .pieces import pieces
from .products import PRODUCTS
from .rules import arrays_of, by_composition, by_elements, by_rule, saved
from .shadows import Shadows, apart, put_over

if TYPE_CHECKING:
    from ...ops.values import Value

# So many writes of a level are known: those of one write of a program where levels are nested four deep.
_WRITES = 16
# The kernels of copies. Who writes a copy may write it in another shape.
COPIES = (copy.kernel, copy_elements.kernel)

# Arrays as operands, or nothing. Options are looked at by nobody.
Tangents = list[Any]


class ForwardLevel(Level):
    """One application of forward mode. The tangents of a level are its shadows."""

    __slots__ = ("gained", "shadows")
    has_tangents = True
    pieces = pieces

    def __init__(self) -> None:
        super().__init__()
        self.shadows = Shadows()
        # The owners of the memories that were written last, and the levels of their tangents before; None for no
        # tangent. With levels within, one write of a program makes several writes at this level.
        self.gained: deque[tuple[Any, tuple[Any, ...] | None]] = deque(maxlen=_WRITES)

    def concerned(self, op: Op, args: tuple[Any, ...]) -> Tangents | None:
        """The tangents of the operands, if any operand has one."""
        by_owner, tangent = self.shadows.by_owner, self.shadows.tangent
        if not by_owner:
            return None
        found: Tangents = []
        some = False
        for arg in args:
            if type(arg) is np.ndarray:
                shadow = by_owner.get(id(arg))
                t = shadow.whole if shadow is not None else None if arg.base is None else tangent(arg)
            elif type(arg) is Batched:
                t = tangent(arg)
            elif type(arg) in (list, tuple):
                t = [tangent(a) if type(a) in (np.ndarray, Batched) else None for a in arg]
                some = some or any([each is not None for each in t])
                found.append(t)
                continue
            else:
                t = None
            some = some or t is not None
            found.append(t)
        return found if some else None

    def moves(self, array: Any) -> bool:
        """Whether an array has a tangent."""
        array = inner(array)
        return type(array) in (np.ndarray, Batched) and self.shadows.tangent(array) is not None

    def constant(self, array: Any) -> Any:
        """The same memory without a tangent."""
        array = inner(array)                               # which may get a tangent later, if it has none
        return outer(apart(array) if type(array) in (np.ndarray, Batched) else array)

    def carry(self, array: Array, former: Any) -> None:
        """Give an array that takes the place of `former` the tangent of `former`, if that fits."""
        if self.moves(former) and (array.shape, array.dtype) == (former.shape, former.dtype):
            array, former = inner(array), inner(former)
            with in_effect(others(self)), inside():
                self.shadows.give(array, fresh_copy(self.shadows.tangent(former)))

    def before_write(self, physical: Any, now: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The levels of the tangent of memory before the last write at this level; None if it had no tangent.

        `now` are the levels of the tangent after the write.
        """
        owner = owner_of(physical)
        return next((had for memory, had in self.gained if memory() is owner), now)

    def note_write(self, physical: Any, had: tuple[Any, ...] | None) -> None:
        """Note that memory was written, and the levels that its tangent had before; None if it had no tangent."""
        self.gained.appendleft((weakref.ref(owner_of(physical)), had))

    def interpret(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], write: bool, known: Tangents) -> Any:
        """The results, with their tangents as shadows."""
        if write:
            return self._write(op, call, args, known)
        if op.view:
            return below(op, call, args)
        if op.composition is not None:
            return by_composition(op, args, with_level(self))
        try:
            out, tangent = pushed(op, call, args, known)
        except NotImplementedError as error:
            raise (_lacking(op) if str(error).startswith("the derivative for") else error) from None
        if type(out) is tuple:
            for part, t in zip(out, tangent or ()):
                if t is not None:
                    self.shadows.give(part, _fitted(t, part, known))
        elif tangent is not None and (out.dtype is F32 or out.dtype in DIFFERENTIABLE):
            self.shadows.give(out, _fitted(tangent, out, known))
        return out

    def _write(self, op: Op, call: Callable[..., Any], args: tuple[Any, ...], known: Tangents) -> None:
        """Write a result over memory, and its tangent over the shadow of the memory."""
        target = args[0]
        if getattr(call, "func", None) is write_over:
            out, tangent = pushed(op, op.compute, args[1:], known[1:])
            if call.args[1] is None and target.flags.writeable:        # type: ignore[attr-defined]
                check_overlaps(op, target, [*args[1:1 + op.arity]])
                check_result(out, target)
                copy.write(put_over, target, out)
            else:
                below(op, call, args, True)
        else:
            if op.kind == "operator" and not op.steps:
                raise _lacking(op)
            tangent = known[1] if op.kernel in COPIES else pushed(op, op.compute, args, known)[1]
            if tangent is not None and tangent.size == target.size and tangent.shape != target.shape:
                tangent = unsafe_view.run(tangent, target.shape)
            below(op, call, args, True)
        if target.dtype not in DIFFERENTIABLE:
            return
        physical = parts(target)[0]
        had = self.shadows.beside(physical)
        if tangent is None and had is None:
            return
        self.note_write(physical, None if had is None else had.levels)
        self.shadows.give(target, None if tangent is None else _fitted(tangent, target, known))


def _lacking(op: Op) -> NotImplementedError:
    return NotImplementedError(f"Trying to use forward AD with {op.name} that does not support it because it has not "
                               "been implemented yet.")


def _fitted(tangent: Value, out: Any, known: Tangents) -> Any:
    """A tangent with the shape and the dtype of its array, that is the memory of no other tangent."""
    if tangent.dtype is not out.dtype and tangent.dtype != out.dtype:
        tangent = cast.run(tangent, out.dtype)
    if tangent.shape != out.shape:
        tangent = expand.run(tangent, out.shape)
    else:
        for t in known:
            if tangent is t:
                return fresh_copy(tangent)
    return tangent


def misfit(shape: Sequence[int], given: Sequence[int]) -> RuntimeError:
    """The error for a tangent of another shape than that of its tensor."""
    return noted(
        RuntimeError("Trying to set a forward gradient that has a different size than that of the original Tensor, "
                     f"this is not supported. Tensor is of size {[*shape]} while the given forward gradient is of "
                     f"size {[*given]}."), "forward-mode#size-of-tangent")


def fresh_copy(tangent: Value) -> Any:
    """New memory with a tangent's numbers, and with the tangents that levels below have for it."""
    physical, levels = parts(tangent)
    if moving(tangent) or not physical.flags.forc or lowest() is not None:
        return copy.run(tangent, "K")
    return joined(levels, physical.copy("K"))


def pushed(op: Op, call: Callable[..., Any], args: tuple[Any, ...], tangents: Tangents) -> tuple[Any, Any]:
    """The results of an operator, and their tangents: None for zero, a tuple for several results."""
    if not op.steps:
        return below(op, call, args), None
    product = PRODUCTS.get(op)
    if product is not None:
        return below(op, call, args), product.tangent(op, args, tangents)
    formula = FORMULAS.get(op)
    if formula is None and op.kind == "elementwise" and op.outputs == ("out",):
        out = below(op, call, args)
        return out, _pointwise(op, args, tangents, out)
    if op.kind == "linear":
        out = below(op, call, args)
        return out, None if _is_window(out, args[0]) else _along(op, args, tangents)
    if formula is not None:
        out = below(op, call, args)
        found = formula(op, args, tangents, out)
        if found is not NotImplemented:
            return out, found
    return transposed(op, args, tangents)


def _is_window(out: Any, x: Any) -> bool:
    """Whether an array is a window of the memory of `x`, so that the window of the tangent is its tangent."""
    return type(out) is np.ndarray and type(x) is np.ndarray and out.base is not None and out is not x and (
        owner_of(out) is owner_of(x))


def _along(op: Op, args: tuple[Any, ...], tangents: Tangents) -> Any:
    """The tangent of a linear operator: the operator, applied to the tangents."""
    if op.variadic:
        return op.run([or_zeros(a, t) for a, t in zip(args[0], tangents[0])], *args[1:])
    at = {index for index, _, _ in op.steps}
    if not any([tangents[i] is not None for i in at]):
        return None
    return op.run(*[or_zeros(a, tangents[i]) if i in at and a is not None else a for i, a in enumerate(args)])


def or_zeros(array: Array, tangent: Value | None) -> Any:
    """The tangent of an array, as an array in any case."""
    return full_beside(array, array.shape, array.dtype, 0) if tangent is None else tangent


def _pointwise(op: Op, args: tuple[Any, ...], tangents: Tangents, out: Any) -> Any:
    """The tangent of an elementwise operator: its derivatives times the tangents of its operands."""
    terms: list[tuple[Callable[..., Any], list[Any]]] = []
    for index, rule, positions in op.steps:
        t = tangents[index]
        if t is None:
            continue
        values = [saved(op.saves[i], args, out) for i in positions]
        if op.complex == "adjoint" and (out.dtype.kind == "c" or args[index].dtype.kind == "c"):
            terms.append((_unchanged, [_by_basis(rule, t, values, args[index], out)]))
        else:
            if t.dtype != out.dtype and out.dtype.kind == "c":
                t = cast.run(t, out.dtype)
            terms.append((rule, [t, *values]))
    return by_elements(terms) if terms else None


def _unchanged(t: Value) -> Any:
    return t


def _by_basis(rule: Callable[..., Any], t: Value, values: list[Any], x: Any, out: Any) -> Any:
    """The tangent by a rule that is the gradient: a real-linear map at each element, transposed by its basis."""
    real = by_rule(rule, full_beside(out, out.shape, out.dtype, 1), *values)
    total = by_rule(_real_product, real, t)
    if out.dtype.kind != "c":
        return total
    imaginary = by_rule(rule, full_beside(out, out.shape, out.dtype, 1j), *values)
    return by_rule(_complex_of, total, by_rule(_real_product, imaginary, t))


def _real_product(c: Any, t: Value) -> Any:
    return np.real(np.conj(c) * t)


def _complex_of(real: Any, imaginary: Any) -> Any:
    return real + 1j * imaginary


def transposed(op: Op, args: tuple[Any, ...], tangents: Tangents) -> tuple[Any, Any]:
    """The results and their tangents, by the gradient of the gradient, which is linear in the cotangent."""
    thread = local.thread
    grad, watchers, thread.grad, thread.watchers = thread.grad, thread.watchers, True, ()
    try:
        with inside(False):
            return _transposed(op, args, tangents)
    finally:
        thread.grad, thread.watchers = grad, watchers


def _transposed(op: Op, args: tuple[Any, ...], tangents: Tangents) -> tuple[Any, Any]:
    arity = len(args[0]) if op.variadic else op.arity
    arrays, given = (args[0], tangents[0]) if op.variadic else (args[:arity], tangents)
    inputs = [_leaf(a, given[i] is not None) if is_array(a) else a for i, a in enumerate(arrays)]
    options = outer(args[1:] if op.variadic else args[arity:])
    found = CALLS[op](inputs, *options) if op.variadic else CALLS[op](*inputs, *options)
    outs = found if type(found) in (list, tuple) else (found,)
    return arrays_of(found), arrays_of(_pull_twice(op, outs, inputs, given))


def _leaf(array: Array, moving: bool) -> Any:
    leaf = plain(outer(array))
    return as_leaf(leaf) if moving else leaf


def _pull_twice(op: Op, outs: Sequence[Any], inputs: Sequence[Any], tangents: Tangents) -> Any:
    live = [i for i, out in enumerate(outs) if edge_of(out) is not None]
    if not live:
        return None
    cotangents = [_leaf(full_beside(outs[i]._array, outs[i]._array.shape, outs[i]._array.dtype, 0), True) for i in live]
    moving = [i for i, x in enumerate(inputs) if isinstance(x, TensorBase) and edge_of(x) is not None]
    edges = [edge_of(inputs[i]) for i in moving]
    first = run_backward(starting([outs[i] for i in live], cotangents), retain_graph=True, create_graph=True,
                         inputs=edges, capture=True)
    reached = [(first[edge], plain(outer(tangents[i]))) for edge, i in zip(edges, moving)
               if edge in first and edge_of(first[edge]) is not None]
    results: list[Any] = [None] * len(outs)
    if reached:
        targets = [edge_of(u) for u in cotangents]
        second = run_backward(starting([g for g, _ in reached], [t for _, t in reached]), retain_graph=False,
                              create_graph=False, inputs=targets, capture=True)
        for i, target in zip(live, targets):
            tensor = second.get(target)
            results[i] = None if tensor is None else tensor._array
    return results[0] if op.outputs == ("out",) else tuple(results)
