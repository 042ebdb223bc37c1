"""torch.autograd.forward_ad: dual tensors, which carry a tangent through every operation.

The tangents belong to a level of forward mode (`tensors.transforms`). There is one such level at a time, for all
threads. Tangents are memory beside the memory of a tensor. So they follow views and writes in place, and they end with
the level.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from ..foundations.errors import noted
from ..foundations.modes import ThreadState, in_all_threads, local
from ..foundations.names import missing
from ..tensors.recording.public import public
from ..tensors.state import base
from ..tensors.tensor import Tensor
from ..tensors.transforms.crossing import given_tangent, lifting, make_dual as dual_of, primal_part, tangent_part
from ..tensors.transforms.forward import ForwardLevel, misfit
from ..tensors.transforms.levels import interpret
from .grad_mode import _Mode

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = missing(__name__, __all__)

# The number of the current level, -1 if there is none. PyTorch has this name.
_current_level = -1


class DualLevel(ForwardLevel):
    """The level of dual tensors, which shows the tangents in their text."""

    __slots__ = ()

    def facts(self, tensor: Tensor) -> list[str]:
        """The tangent, as the text of a dual tensor shows it."""
        return [f"tangent={tangent_part(self, tensor)}"] if self.moves(tensor._array) else []


_levels: list[DualLevel] = []


class _Switch(threading.local):
    on = True


_switch = _Switch()


class UnpackedDualTensor(NamedTuple):
    """What `unpack_dual` returns: a tensor without its tangent, and the tangent, or None."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level of forward mode. Returns its number.

    Raises RuntimeError if there is a level already: PyTorch nests levels only by `torch.func`.
    """
    global _current_level
    if _levels:
        raise noted(
            RuntimeError("Nested forward mode AD is not supported at the moment"), "forward-mode#nested-levels",
            instead="nest calls of torch.func.jvp")
    level = DualLevel()
    _levels.append(level)
    in_all_threads("dual level", lambda thread: _with(thread, level))
    if not _switch.on:
        _without(local.thread, level)
    _current_level = 0
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End a level of forward mode. Tensors have no tangents from then on.

    Raises RuntimeError if there is no level, or if `level` is not the number of the current one.
    """
    global _current_level
    number = _current_level if level is None else level
    if number != _current_level:
        raise noted(
            RuntimeError("Trying to exit a forward AD level that was not the last one that was created. This is not "
                         "supported."), "forward-mode#not-the-last-level",
            given=f"the current level is {_current_level}")
    if number < 0:
        raise noted(
            RuntimeError("Dual level must be a positive number."), "forward-mode#no-level-to-leave",
            because="there is no level to leave")
    left = weakref.ref(_levels.pop())                      # the arrangement outlives the level
    in_all_threads("dual level", lambda thread: _without(thread, left()))
    _current_level = -1


def _with(thread: ThreadState, level: DualLevel) -> None:
    thread.levels = tuple(sorted((*thread.levels, level)))
    if thread.transform is None or thread.below is not None:
        thread.transform = interpret
    thread.watchers = (*[watcher for watcher in thread.watchers if watcher is not lifting], lifting)


def _without(thread: ThreadState, left: DualLevel | None) -> None:
    """Take a dual level out of effect in a thread. Levels that a backward pass has entered again stay in effect."""
    thread.levels = tuple([level for level in thread.levels if level is not left])
    if not thread.levels:
        if thread.transform is interpret:
            thread.transform = None if thread.below is None else thread.below.record
        thread.watchers = tuple([watcher for watcher in thread.watchers if watcher is not lifting])


class dual_level(_Mode):
    """The context of a level of forward mode, as a `with` block or as a decorator.

    >>> import retrograd as torch
    >>> fwAD = torch.autograd.forward_ad
    >>> x, v = torch.tensor([1., 2.]), torch.tensor([1., 0.])
    >>> with fwAD.dual_level():
    ...     dual = fwAD.make_dual(x, v)
    ...     fwAD.unpack_dual(dual ** 3).tangent
    tensor([3., 0.])
    """

    def __enter__(self) -> int:  # type: ignore[override]
        return enter_dual_level()

    def __exit__(self, *error: object) -> None:
        exit_dual_level()


def make_dual(tensor: Tensor, tangent: Any, *, level: int | None = None) -> Any:
    """A tensor over the same memory, with a tangent of the same shape at the current level.

    What is computed from the result has tangents, too: the derivative in the direction of `tangent`. The numbers of the
    tangent are copied, in the dtype of `tensor`.

    >>> import retrograd as torch
    >>> fwAD = torch.autograd.forward_ad
    >>> with fwAD.dual_level():
    ...     fwAD.make_dual(torch.tensor(2.), torch.tensor(1.)).square()
    tensor(4., tangent=4.0)

    Raises RuntimeError if there is no level, if the shapes differ, or if either tensor has a tangent already;
    ValueError for dtypes without a derivative; NotImplementedError for sparse tensors.
    """
    level = _current_level if level is None else level
    if level < 0:
        raise noted(
            RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to "
                         "enter_dual_level() first."), "forward-mode#no-level")
    for value, name in ((tensor, "primal"), (tangent, "tangent")):
        if not (value.is_floating_point() or value.is_complex()):
            raise noted(
                ValueError(f"Expected {name} to be floating point or complex, but got: {value.dtype}"),
                "forward-mode#dtype-of-primal")
    if tensor.is_sparse or tangent.is_sparse:
        raise noted(
            NotImplementedError("Cannot access storage of SparseTensorImpl"), "forward-mode#sparse-dual",
            because="sparse tensors have no tangents")
    return _make_dual(tensor, tangent, level=level)


@public()
def _make_dual(tensor: Tensor, tangent: Any, level: int) -> Any:
    """`make_dual`, after the questions about the arguments. Classes that handle calls see this function."""
    if level != _current_level:
        raise noted(
            RuntimeError("Invalid level given to _make_dual"), "forward-mode#level-of-make-dual",
            given=f"the current level is {_current_level}")
    _check(tensor, tangent, _levels[-1])
    if not _switch.on:
        return base.sharing(tensor, tensor._array) if not tensor.requires_grad else tensor.view_as(tensor)
    if tangent.dtype != tensor.dtype:
        tangent = tangent.to(tensor.dtype)
    dual = dual_of(_levels[-1], tensor, tangent)
    if dual._edge is not None and base.stands_as_leaf(tensor):
        edge = dual._edge
        base.make_view(dual, tensor, _itself, base.ORDINARY)     # so that writes over a leaf are refused
        dual._edge = edge
    return dual


def _itself(x: Any) -> Any:
    return x


def _check(tensor: Tensor, tangent: Tensor, level: DualLevel) -> None:
    if level.moves(tensor._array):
        raise noted(
            RuntimeError("Making a dual Tensor based on a Tensor that already has a forward gradient at the same "
                         f"level {_current_level} is not supported."), "forward-mode#dual-of-a-dual",
            instead="take the primal part of unpack_dual first")
    if level.moves(tangent._array):
        raise noted(
            RuntimeError("Setting a forward grad that itself has a forward gradient at the same "
                         f"level{_current_level} is not supported."), "forward-mode#tangent-with-a-tangent",
            instead="nest calls of torch.func.jvp")
    if tensor.shape != tangent.shape:
        raise misfit(tensor.shape, tangent.shape)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The tensor without its tangent, over the same memory, and the tangent at the current level.

    The tangent is None if there is no level, or if the tensor has no tangent. Raises TypeError for a value that is no
    tensor, RuntimeError for a `level` that is not the current one if the tensor has a tangent.
    """
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise noted(
            TypeError(f"_unpack_dual(): argument 'dual' (position 1) must be Tensor, not {type(tensor).__name__}"),
            "forward-mode#unpack-dual-of-non-tensor")
    return UnpackedDualTensor(*_unpack_dual(tensor, level=level))


@public()
def _unpack_dual(dual: Tensor, level: int) -> tuple[Any, Any]:
    """`unpack_dual`, after the questions about the arguments. Classes that handle calls see this function."""
    if not _levels:
        return dual.view_as(dual), None
    current = _levels[-1]
    moving = current in local.thread.levels and current.moves(dual._array)
    if moving and level != _current_level:
        raise noted(
            RuntimeError("Invalid level given to _fw_primal"), "forward-mode#level-of-unpack-dual",
            given=f"the current level is {_current_level}")
    if not moving:
        return primal_part(current, dual), None
    given = given_tangent(current, dual)
    return primal_part(current, dual), tangent_part(current, dual) if given is None else given


def _is_fwd_grad_enabled() -> bool:
    """Whether operations of this thread compute tangents."""
    return _switch.on


class _set_fwd_grad_enabled(_Mode):
    """Set whether operations of this thread compute tangents; as a `with` block, until its end."""

    def __init__(self, mode: bool) -> None:
        self.mode, self.before = mode, _switch.on
        self._set(mode)

    def _set(self, mode: bool) -> None:
        thread, _switch.on = local.thread, mode
        for level in _levels:
            _without(thread, level)
            if mode:
                _with(thread, level)

    def __enter__(self) -> None:
        """The constructor has set the mode."""

    def __exit__(self, *error: object) -> None:
        self._set(self.before)

    def clone(self) -> _set_fwd_grad_enabled:
        """A new context manager with the same mode."""
        return type(self)(self.mode)
