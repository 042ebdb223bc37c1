"""The Tensor class: its properties and its graph face. Methods are declared where their functions are defined.

They are declared by `@public(..., method=True)` or `methods(...)`. `numpy_protocol` imports the families that do so.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..foundations.devices import CPU, device
from ..foundations.dtypes import DIFFERENTIABLE, dtype
from ..foundations.errors import noted, warn
from ..graph.hooks import HookDict, RemovableHandle, register
from ..graph.locks import moment
from ..graph.versions import count
from .arguments.size import Size, size_of
from .face.absent import AbsentAttributes
from .face.legacy import construct
from .face.numpy_protocol import NumpyProtocol
from .face.subclassing import SubclassMethods
from .recording.assigned import check_grad
from .recording.gradients import accumulate, refuse_inside, run_backward, starting
from .recording.hooks import accumulating_edges, register_on, retain, warn_of_cycle
from .recording.public import METHODS, public, public_property
from .recording.refusals import refuse_leaves_inside
from .state.base import TensorBase, edge_of, meta_of, requires, set_leaf, stands_as_leaf
from .state.inference import refuse_inference_leaf

Hook = Callable[["Tensor"], "Tensor | None"]


if TYPE_CHECKING:                                            # a stub with the types of all methods
    from .methods import Methods
else:
    class Methods(NumpyProtocol, SubclassMethods, AbsentAttributes, TensorBase):
        """What Tensor is made of beside its own methods."""

        __slots__ = ()
        vars().update(METHODS)                               # the functions and properties declared as methods


class Tensor(Methods):
    """An array that remembers how it was made.

    `tensor`, `zeros`, `rand` and other functions make tensors, and operations on tensors make new tensors. If a tensor
    requires grad, `backward()` computes the gradients of the leaves that it was computed from.
    """

    __module__ = "retrograd"                                 # where programs know it from
    __slots__ = ()
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **data: Any) -> Any:
        """The old constructor: `Tensor(2, 3)` takes sizes, `Tensor([1, 2])` takes data. Better use `torch.tensor`."""
        return construct(cls, args, **data)

    # Its data

    @public_property
    def shape(self) -> Size:
        """The sizes of the dimensions."""
        return size_of(self._array.shape)

    @public_property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return dtype.of[self._array.dtype]

    @public_property
    def device(self) -> device:
        """The device of the memory: the CPU. A wrapper says the device that it was made with."""
        return getattr(self._array, "place", CPU)

    @public_property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._array.ndim

    # Its place in the graph

    @public_property
    def requires_grad(self) -> bool:
        """Whether gradients flow to the tensor: it is a leaf that requires grad, or was computed from such a leaf."""
        return requires(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise noted(
                RuntimeError("requires_grad must be a bool"), "tensors#requires-grad-must-be-a-bool",
                given=f"a {type(value).__name__}")
        if not stands_as_leaf(self):
            more = "" if value else (" If you want to use a computed variable in a subgraph that doesn't require "
                                     "differentiation use var_no_grad = var.detach().")
            raise noted(
                RuntimeError(f"you can only change requires_grad flags of leaf variables.{more}"),
                "tensors#requires-grad-of-non-leaf",
                because="this tensor was computed from tensors that require grad")
        if value:
            refuse_inference_leaf(self)
        if value and self._array.dtype not in DIFFERENTIABLE:
            raise noted(
                RuntimeError("only Tensors of floating point and complex dtype can require gradients"),
                "tensors#only-floating-point", given=f"{self.dtype!r}: convert it with .float() first")
        if value or self._grad_meta is not None:
            set_leaf(meta_of(self), value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        self.requires_grad = None  # type: ignore[assignment]        # raises, since None is no bool

    @public()
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place and return the tensor itself. Raises RuntimeError if it cannot be changed."""
        refuse_leaves_inside()
        if not isinstance(requires_grad, bool):
            raise noted(
                TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, "
                          f"not {type(requires_grad).__name__}"), "tensors#requires-grad-must-be-a-bool")
        if requires_grad and self._array.dtype not in DIFFERENTIABLE:
            raise noted(
                RuntimeError("only Tensors of floating point dtype can require gradients"),
                "tensors#only-floating-point", given=f"{self.dtype!r}: convert it with .float() first")
        if not requires_grad or stands_as_leaf(self):
            self.requires_grad = requires_grad
        return self

    @public_property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made the tensor."""
        return self.grad_fn is None

    @public_property
    def grad_fn(self) -> Any:
        """The node that made the tensor; None for a leaf."""
        edge = edge_of(self)
        return None if self._edge is None else edge.node.public

    @public_property
    def output_nr(self) -> int:
        """The index of the tensor among the outputs of its grad_fn."""
        return 0 if self._edge is None else self._edge.index             # like PyTorch, without a look at the base

    @public_property
    def retains_grad(self) -> bool:
        """Whether backward passes keep the gradient of this non-leaf."""
        return self._grad_meta is not None and self._grad_meta.retained is not None

    @public_property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated; None before the first pass."""
        meta = self._grad_meta
        if meta is not None and (meta.leaf or meta.grad is not None or meta.retained is not None):
            grad: Tensor | None = meta.grad
            return grad
        if self._edge is not None:
            warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its "
                 ".grad attribute won't be populated during autograd.backward(). If you indeed want the "
                 ".grad field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf "
                 "Tensor. If you access the non-leaf Tensor by mistake, make sure you access the leaf "
                 "Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.", UserWarning)
        return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        if value is not None or self._grad_meta is not None:
            meta_of(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    _grad = grad

    @public_property
    def _grad_fn(self) -> Any:
        """`grad_fn`, which None may be assigned to. This detaches the tensor."""
        return self.grad_fn

    @_grad_fn.setter
    def _grad_fn(self, value: None) -> None:
        if value is not None:
            raise noted(RuntimeError("_grad_fn can be only set to None"), "tensors#grad-fn-assigned")
        self.detach_()

    @_grad_fn.deleter
    def _grad_fn(self) -> None:
        raise noted(RuntimeError("Deletion of _grad_fn not allowed. Detach tensor instead!"), "tensors#grad-fn-deleted")

    @public_property
    def _base(self) -> Tensor | None:
        """The tensor whose memory a view shows; None if the tensor is no view."""
        return None if self._grad_meta is None else self._grad_meta.base

    @public()
    def _is_view(self) -> bool:
        return self._base is not None

    @public_property
    def _version(self) -> int:
        """The number of in-place writes to the memory, through all tensors that share it."""
        if self.is_inference():
            raise noted(
                RuntimeError("Inference tensors do not track version counter."), "tensors#version-of-inference-tensor")
        return count(self._array)

    @public()
    def is_inference(self) -> bool:
        """Whether the tensor was made under `inference_mode`."""
        return self._grad_meta is not None and self._grad_meta.inference

    # Backward

    @public()
    def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
                 inputs: Any = None) -> None:
        """Accumulate the gradients of this tensor into the leaves that it was computed from.

        `gradient` is the cotangent to start with, of this tensor's shape; a scalar needs none. `inputs` limits the pass
        to the gradients of these tensors. Raises RuntimeError if nothing requires grad, if a cotangent is missing or
        does not fit, and if the graph was already used and freed.
        """
        refuse_inside()
        cotangents = (gradient,) if gradient is None or isinstance(gradient, TensorBase) else tuple(gradient)
        starts = starting([self], cotangents)
        try:
            run_backward(starts, retain_graph=retain_graph, create_graph=create_graph,
                         inputs=None if inputs is None else accumulating_edges(inputs))
        finally:
            if create_graph:
                warn_of_cycle()

    @public()
    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad`, too. For a leaf, the call does nothing."""
        retain(self)

    @public()
    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad)` with each gradient of this tensor. If the hook returns a tensor, it replaces the gradient.

        Raises RuntimeError if the tensor requires no grad. The `remove()` of the returned handle removes the hook.
        """
        if not self.requires_grad:
            raise noted(
                RuntimeError("cannot register a hook on a tensor that doesn't require gradient"),
                "hooks#hook-without-grad")
        return register_on(self, hook)

    @public()
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(tensor)` after a gradient has been accumulated into this leaf."""
        if not self.requires_grad:
            raise noted(
                RuntimeError("cannot register a hook on a tensor that doesn't require gradient"),
                "hooks#hook-without-grad")
        if not self.is_leaf:
            raise noted(
                RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors"),
                "hooks#post-accumulate-hook-of-non-leaf")
        meta = meta_of(self)
        with moment:
            if meta.post_accumulate is None:
                meta.post_accumulate = OrderedDict()
            return register(meta.post_accumulate, hook)

    @public_property
    def _backward_hooks(self) -> HookDict | None:
        """The hooks that `register_hook` added to the present grad_fn; None before the first."""
        return None if self._grad_meta is None else self._grad_meta.hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: HookDict | None) -> None:
        meta_of(self).hooks = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise noted(
            RuntimeError("Deletion of _backwards_hooks not allowed!"), "hooks#backward-hooks-deleted",
            instead="set it to None instead")

    @public_property
    def _post_accumulate_grad_hooks(self) -> HookDict | None:
        return None if self._grad_meta is None else self._grad_meta.post_accumulate

    # The engine calls this after the whole gradient of a leaf has been accumulated.
    _accumulate = accumulate
