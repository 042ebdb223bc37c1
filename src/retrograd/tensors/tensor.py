"""The Tensor class: its properties and its graph face. Operators and methods come from the families' mixins.

Each mixin is a table in the module of its family: method = function. This module must not know single operators.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..devices import CPU, device
from ..dtypes import DIFFERENTIABLE, dtype
from ..errors import warn
from ..graph.hooks import HookDict, RemovableHandle, register
from ..graph.versions import count
from ..modes import local
from .arguments.size import Size
from .face.absent import AbsentAttributes
from .face.calling import CallingMethods
from .face.conversion import ConversionMethods
from .face.copying import CopyingMethods
from .face.interop import InteropMethods
from .face.kinds import KindMethods
from .face.layout import LayoutMethods
from .face.legacy import LegacyMethods, construct
from .face.numpy_protocol import NumpyProtocol
from .face.storage import StorageMethods
from .face.subclassing import SubclassMethods
from .functions.creation.creation import CreationMethods
from .functions.creation.random import RandomMethods
from .functions.deprecated import DeprecatedMethods
from .functions.differences import DifferenceMethods
from .functions.elementwise.arithmetic import ArithmeticMethods
from .functions.elementwise.blending import BlendingMethods
from .functions.elementwise.comparison import ComparisonMethods
from .functions.elementwise.elementary import ElementaryMethods
from .functions.elementwise.number_parts import NumberMethods
from .functions.elementwise.piecewise import PiecewiseMethods
from .functions.elementwise.special import SpecialMethods
from .functions.indexing.histograms import HistogramMethods
from .functions.indexing.indexing import IndexingMethods
from .functions.indexing.scattering import ScatteringMethods
from .functions.indexing.sorting import SortingMethods
from .functions.indexing.uniques import UniqueMethods
from .functions.linalg.accumulating import AccumulatingMethods
from .functions.linalg.contraction import ContractionMethods
from .functions.linalg.determinants import DeterminantMethods
from .functions.linalg.distances import DistanceMethods
from .functions.linalg.factorizations import FactorizationMethods
from .functions.linalg.matrix import MatrixMethods
from .functions.linalg.norms import NormMethods
from .functions.linalg.packed_factors import FactorMethods
from .functions.linalg.products import ProductMethods
from .functions.linalg.solving import SolvingMethods
from .functions.networks.softmax import SoftmaxMethods
from .functions.quantiles import QuantileMethods
from .functions.reductions import ReductionMethods
from .functions.shapes.combining import CombiningMethods
from .functions.shapes.geometry import GeometryMethods
from .functions.shapes.joining import JoiningMethods
from .functions.shapes.rearranging import RearrangingMethods
from .functions.shapes.resizing import ResizingMethods
from .functions.shapes.shape import ShapeMethods
from .functions.shapes.view_copies import ViewCopyMethods
from .functions.shapes.view_scatters import ViewScatterMethods
from .functions.spectral import SpectralMethods
from .recording.gradients import accumulate, check_grad, run_backward, starting
from .recording.hooks import accumulating_edges, register_on, retain, warn_of_cycle
from .recording.overriding import Attention
from .recording.public import public, public_property
from .state.base import TensorBase, edge_of, meta_of, requires, set_leaf, stands_as_leaf

Hook = Callable[["Tensor"], "Tensor | None"]


if TYPE_CHECKING:                                            # a stub with the types of all methods
    from .methods import Methods
else:
    class Methods(
        ArithmeticMethods,
        BlendingMethods,
        ElementaryMethods,
        ComparisonMethods,
        ReductionMethods,
        SoftmaxMethods,
        SortingMethods,
        MatrixMethods,
        AccumulatingMethods,
        ContractionMethods,
        ShapeMethods,
        ResizingMethods,
        JoiningMethods,
        RearrangingMethods,
        ViewScatterMethods,
        GeometryMethods,
        IndexingMethods,
        LayoutMethods,
        StorageMethods,
        InteropMethods,
        ConversionMethods,
        CreationMethods,
        RandomMethods,
        SpecialMethods,
        NumberMethods,
        NumpyProtocol,
        CopyingMethods,
        NormMethods,
        HistogramMethods,
        DifferenceMethods,
        QuantileMethods,
        UniqueMethods,
        DeterminantMethods,
        SolvingMethods,
        FactorizationMethods,
        FactorMethods,
        DeprecatedMethods,
        SpectralMethods,
        DistanceMethods,
        ProductMethods,
        PiecewiseMethods,
        CombiningMethods,
        ScatteringMethods,
        ViewCopyMethods,
        CallingMethods,
        KindMethods,
        LegacyMethods,
        SubclassMethods,
        AbsentAttributes,
        TensorBase,
    ):
        __slots__ = ()


class Tensor(Methods):
    """An array that remembers how it was made.

    Make one with `tensor`, `zeros`, `rand` …; what is computed from it is a Tensor too, and where something in it
    requires grad, `backward()` brings the gradients to the leaves.
    """

    __module__ = "retrograd"                                 # where programs know it from
    __slots__ = ()
    __array_priority__ = 1000

    def __new__(cls, *args: Any, **data: Any) -> Any:
        """The old constructor: `Tensor(2, 3)` of sizes, `Tensor([1, 2])` of data. See `torch.tensor`."""
        return construct(cls, args, **data)

    # What it is

    @public_property
    def shape(self) -> Size:
        """The sizes of its dimensions."""
        return Size(self._array.shape)

    @public_property
    def dtype(self) -> dtype:
        """The type of its elements."""
        return dtype.of[self._array.dtype]

    @public_property
    def device(self) -> device:
        """Where its memory is."""
        return CPU

    @public_property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return self._array.ndim

    # What it is in the graph

    @public_property
    def requires_grad(self) -> bool:
        """Whether gradients flow to it: a leaf that asks for one, what was made from such a leaf, a view of either."""
        return requires(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if not isinstance(value, bool):
            raise RuntimeError(f"requires_grad must be a bool. It is a {type(value).__name__}.")
        if not stands_as_leaf(self):
            remedy = "This one was computed, and requires grad because of what it was computed from."
            if not value:
                remedy = ("If you want to use a computed variable in a subgraph that doesn't require differentiation "
                          "use var_no_grad = var.detach().")
            raise RuntimeError(f"you can only change requires_grad flags of leaf variables. {remedy}")
        if value and self.is_inference() and not local.thread.inference:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. A "
                               "clone of it is a normal tensor.")
        if value and self._array.dtype not in DIFFERENTIABLE:
            raise RuntimeError("only Tensors of floating point and complex dtype can require gradients. "
                               f"This one is {self.dtype!r}: convert it with .float() first.")
        if value or self._meta is not None:
            set_leaf(meta_of(self), value)

    @requires_grad.deleter
    def requires_grad(self) -> None:
        self.requires_grad = None  # type: ignore[assignment]        # which is refused, as no bool

    @public()
    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Set `requires_grad` in place and return the tensor itself. Raises RuntimeError where it cannot be changed."""
        if not isinstance(requires_grad, bool):
            raise TypeError("requires_grad_(): argument 'requires_grad' (position 1) must be bool, not "
                            f"{type(requires_grad).__name__}")
        if requires_grad and self._array.dtype not in DIFFERENTIABLE:
            raise RuntimeError("only Tensors of floating point dtype can require gradients. "
                               f"This one is {self.dtype!r}: convert it with .float() first.")
        if not requires_grad or stands_as_leaf(self):
            self.requires_grad = requires_grad
        return self

    @public_property
    def is_leaf(self) -> bool:
        """Whether no recorded operation made it."""
        return self.grad_fn is None

    @public_property
    def grad_fn(self) -> Any:
        """The node that made it; None for a leaf."""
        edge = edge_of(self)
        return None if self._edge is None else edge.node.public

    @public_property
    def output_nr(self) -> int:
        """Which output of its grad_fn it is."""
        return 0 if self._edge is None else self._edge.index             # as PyTorch, without a look at the base

    @public_property
    def retains_grad(self) -> bool:
        """Whether backward passes keep the gradient of this non-leaf."""
        return self._meta is not None and self._meta.retained is not None

    @public_property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes accumulated here; None before the first."""
        meta = self._meta
        if meta is not None and (meta.leaf or meta.grad is not None or meta.retained is not None):
            grad: Tensor | None = meta.grad
            return grad
        if self._edge is not None:
            warn("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad "
                 "attribute won't be populated during autograd.backward(). If you indeed want the .grad "
                 "field to be populated for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If "
                 "you access the non-leaf Tensor by mistake, make sure you access the leaf Tensor instead.",
                 UserWarning)
        return None

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            check_grad(self, value)
        if value is not None or self._meta is not None:
            meta_of(self).grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @public_property
    def _base(self) -> Tensor | None:
        """The tensor whose memory a view is of; None for what is no view."""
        return None if self._meta is None else self._meta.base

    @public()
    def _is_view(self) -> bool:
        return self._base is not None

    @public_property
    def _version(self) -> int:
        """How often the memory was written in place, counted over all views of it."""
        if self.is_inference():
            raise RuntimeError("Inference tensors do not track version counter.")
        return count(self._array)

    @public()
    def is_inference(self) -> bool:
        """Whether it was made under `inference_mode`."""
        return self._meta is not None and self._meta.inference

    # Backward

    @public()
    def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
                 inputs: Any = None) -> None:
        """Accumulate the gradients of this tensor into the leaves it was computed from.

        `gradient` is the cotangent to start with, of this tensor's shape; a scalar needs none. `inputs` limits the
        pass to the gradients of these tensors. Raises RuntimeError where nothing requires grad, where a cotangent
        is missing or does not fit, and where the graph was already used and freed.
        """
        cotangents = (gradient,) if gradient is None or isinstance(gradient, TensorBase) else tuple(gradient)
        starts = starting([self], cotangents)
        try:
            run_backward(starts, retain_graph=retain_graph, create_graph=create_graph,
                         inputs=accumulating_edges(inputs))
        finally:
            if create_graph:
                warn_of_cycle()

    @public()
    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `.grad` too. Does nothing for a leaf."""
        retain(self)

    @public()
    def register_hook(self, hook: Hook) -> RemovableHandle:
        """Call `hook(grad)` whenever the gradient of this tensor is computed; what it returns replaces the gradient.

        Raises RuntimeError where the tensor requires no grad. The handle's `remove()` takes the hook away.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return register_on(self, hook)

    @public()
    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call `hook(tensor)` after a gradient was accumulated into this leaf."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        meta = meta_of(self)
        if meta.post_accumulate is None:
            meta.post_accumulate = OrderedDict()
        return register(meta.post_accumulate, hook)

    @public_property
    def _backward_hooks(self) -> HookDict | None:
        """The hooks that `register_hook` added, since it has its present grad_fn; None before the first."""
        return None if self._meta is None else self._meta.hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: HookDict | None) -> None:
        meta_of(self).hooks = hooks

    @_backward_hooks.deleter
    def _backward_hooks(self) -> None:
        raise RuntimeError("Deletion of _backwards_hooks not allowed! Set it to None instead.")

    @public_property
    def _post_accumulate_grad_hooks(self) -> HookDict | None:
        return None if self._meta is None else self._meta.post_accumulate

    # The engine's word that all of a leaf's gradient is here.
    _accumulate = accumulate


Attention.begin(Tensor)
