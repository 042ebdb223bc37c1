"""The attribute `data`: the memory of a tensor without history, and other memory for a tensor."""

from __future__ import annotations

from ...foundations.dtypes import DIFFERENTIABLE
from ...foundations.errors import kind_of, noted
from ...foundations.modes import local
from ...graph.versions import new_lineage
from ..recording.public import methods, public_property
from ..state.base import TensorBase, edge_of, sharing
from ..state.dispatch import is_wrapper
from ..state.inside import keep_tangents, refuse_samples
from .storage import put_behind


def data(self: TensorBase) -> TensorBase:
    """A tensor over the same memory without history, with a version of its own. Assigning to it replaces the memory."""
    refuse_samples("data", self, said="accessing `{}` under vmap transform is not allowed.")
    if is_wrapper(self):
        return self.detach()  # type: ignore[no-any-return]
    return sharing(self, new_lineage(self._array))  # type: ignore[no-any-return]


def set_data(self: TensorBase, value: TensorBase) -> None:
    """Give this tensor the memory of another, of any shape and type. Nothing is recorded. Tangents stay.

    Raises TypeError if `value` is no tensor, RuntimeError for integers if the tensor requires grad, and inside of a
    transformed function.
    """
    refuse_samples("data", self, said="mutating directly with `.{}` under vmap transform is not allowed.")
    if local.thread.functions:
        raise noted(
            RuntimeError("mutating directly with `.data` inside functorch transform is not allowed."),
            instead="compute a new tensor")
    if not isinstance(value, TensorBase):
        raise TypeError(f"Variable data has to be a tensor, but got {kind_of(value)}")
    if value.is_meta != self.is_meta:
        raise incompatible("one of them is on the device meta")
    new = value._array
    if edge_of(self) is not None and new.dtype not in DIFFERENTIABLE:
        raise noted(
            RuntimeError("data set to a tensor that requires gradients must be floating point or complex dtype"),
            "tensors#dtype-of-data", given=f"torch.{new.dtype.name}")
    if self._grad_meta is not None and (new.shape, new.dtype) != (self._array.shape, self._array.dtype):
        self._grad_meta.accumulator = self._grad_meta.dormant = None      # its shape is the old one
    former = self._array
    put_behind(self, new)
    keep_tangents(self._array, former)


def incompatible(given: str) -> RuntimeError:
    """The error for memory of another kind."""
    return noted(
        RuntimeError("Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible "
                     "tensor type."), given=given)


def refuse_deletion(self: TensorBase) -> None:
    """`del tensor.data` raises RuntimeError, since a tensor must have memory."""
    raise noted(
        RuntimeError("Deleting tensor data is not allowed. Delete tensor instead!"),
        instead="to free the memory and keep the tensor, assign an empty one: tensor.data = torch.empty(0)")


methods(data=public_property(data, set_data, refuse_deletion))
