"""The context of one call of a Function, as its author and its users see it. The context is the `grad_fn` as well.

PyTorch has one object for both. Here there are two objects, because the engine's node has names of its own and users
may set attributes of any name. The context that users hold keeps the node alive, while the node keeps only the
attributes. If a node is asked for its context after users dropped it, the node makes a new context with the same
attributes. So there is no reference cycle, and users cannot see a difference.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from ..foundations.errors import noted, warn
from ..graph.hooks import RemovableHandle
from ..tensors.state.base import TensorBase
from .function_node import FunctionNode

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


def _refuse(name: str, what: str) -> Callable[..., Any]:
    """The getter or setter of a field that cannot be read or written."""

    def refuse(*args: Any) -> Any:
        raise noted(
            AttributeError(f"attribute '{name}' of 'torch._C._FunctionBase' objects is not {what}"),
            "context#saved-tensors-not-writable")

    return refuse


def _only_read(read: Callable[[Any], Any]) -> property:
    return property(read, _refuse(read.__name__, "writable"), doc=read.__doc__)


class _FunctionBase:
    """The part of a context that its node answers. Users may set further attributes on a context."""

    __slots__ = ("__dict__", "__weakref__", "_node")
    _node: FunctionNode

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        self = object.__new__(cls)
        self._node = node = FunctionNode(cls)
        node.attributes, node.context = self.__dict__, weakref.ref(self)
        node.needs_input_grad = None
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle '{type(self).__name__}' object")

    # The marks of FunctionCtx set these attributes. They are read and deleted when forward has returned.
    to_save: Any = None
    dirty_tensors: Any = None
    non_differentiable: Any = None
    saved_for_forward: Any = None

    @property
    def needs_input_grad(self) -> Any:
        """For each argument of forward, whether it requires grad."""
        return self._node.needs_input_grad

    @needs_input_grad.setter
    def needs_input_grad(self, value: Any) -> None:
        self._node.needs_input_grad = value

    def _set_materialize_grads(self, value: Any) -> None:
        if not isinstance(value, bool):
            raise noted(
                TypeError("set_materialize_grads received an invalid combination of arguments - got (), but "
                          "expected (bool)"), "context#set-materialize-grads-takes-a-bool",
                given=f"the argument is of type {type(value).__name__}")
        self._node.materialize = value

    materialize_grads = property(_refuse("materialize_grads", "readable"), _set_materialize_grads)

    @_only_read
    def saved_tensors(self) -> Any:
        """The tensors of `save_for_backward`. Raises RuntimeError if they were freed or modified in place."""
        return self._node.unpacked()

    @_only_read
    def saved_variables(self) -> Any:
        """`saved_tensors` under its old name."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self._node.unpacked()

    @_only_read
    def _raw_saved_tensors(self) -> Any:
        """The tensors of `save_for_backward`, to register hooks on them."""
        return self._node.raw()

    @_only_read
    def next_functions(self) -> Any:
        """For each tensor argument of forward, the node that made it and the number of the output."""
        return self._node.next_functions

    @_only_read
    def metadata(self) -> Any:
        """A dictionary for the user's own notes about this node."""
        return self._node.metadata

    @_only_read
    def requires_grad(self) -> Any:
        """True."""
        return True

    def name(self) -> str:
        """The name of the class, followed by 'Backward'."""
        return self._node.name()

    def _sequence_nr(self) -> int:
        return self._node._sequence_nr()

    def _register_hook_dict(self, tensor: Tensor) -> None:
        self._node._register_hook_dict(tensor)

    @property
    def _input_metadata(self) -> Any:
        return self._node._input_metadata

    def register_hook(self, fn: Callable[..., Any]) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node ran, as on any node."""
        return self._node.register_hook(fn)

    def register_prehook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs, as on any node."""
        return self._node.register_prehook(fn)


class FunctionCtx:
    """The methods by which `forward` and `setup_context` describe a call."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `backward`, which reads them from `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for `jvp`."""
        if not all(t is None or isinstance(t, TensorBase) for t in tensors):
            raise noted(
                AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors "
                               "as attributes on ctx."), "context#save-for-forward-takes-tensors")
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Declare the inputs that `forward` wrote to in place. `forward` must return each of them."""
        self.dirty_tensors = args

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Does nothing: autograd knows which tensors share memory."""
        warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
             "tracked. Note that calls to `set_()` are not tracked", FutureWarning)

    def mark_non_differentiable(self, *args: Any) -> None:
        """Declare the outputs that have no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether an absent gradient of an output reaches `backward` as zeros (the default) or as None."""
        self.materialize_grads = value


class _HookMixin:
    """A base class of PyTorch's that once kept hooks."""

    __slots__ = ()


class BackwardCFunction(_FunctionBase, FunctionCtx, _HookMixin):
    """The class of all contexts, and so of the `grad_fn` of a Function's outputs."""

    _forward_cls: ClassVar[Any]

    def apply(self, *args: Any) -> Any:
        """Call the user's backward."""
        return self._node.called(self, args)

    def apply_boxed(self, *args: Any) -> Any:
        """Call the user's backward with one list of gradients."""
        return self._forward_cls._backward_or_vjp()(self, *args)

    def apply_jvp(self, *args: Any) -> Any:
        """Call the user's jvp."""
        return self._forward_cls.jvp(self, *args)


# Users find the classes in this module.
for _public in (FunctionCtx, _HookMixin, BackwardCFunction):
    _public.__module__ = "retrograd.autograd.function"
