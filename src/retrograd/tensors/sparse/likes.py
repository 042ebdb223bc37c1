"""Sparse tensors that store nothing, with the size, the dtype and the layout of another tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.scalars import filling
from ...kernels.sparse.arrays import Blocks, Compressed, Coo, unsupported
from ...ops import sparse as ops
from ..arguments.options import layout as Layout, number, sparse_bsc, sparse_bsr, sparse_coo, strided
from ..functions.creation.creation import zeros
from ..recording.public import METHODS
from ..state.base import TensorBase, as_leaf, plain
from ..state.inside import is_sparse
from .construction import c_name, empty, empty_compressed, with_layout
from .conversion import dense_dim, kind_of, sparse_dim
from .recording import before_write, record, sparse, write


@sparse("zeros_like")
def zeros_like(input: Any, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
               device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
               memory_format: Any = None) -> Any:
    """See `torch.zeros_like`."""
    array, chosen = input._array, torch_dtype.of[input._array.dtype] if dtype is None else dtype
    kind = input.layout if layout is None else layout
    if kind is strided:
        if isinstance(array, Compressed):
            raise RuntimeError("empty_like with different sparse layout is not supported (self is "
                               f"{kind_of(input)} but you requested Strided)")
        return as_leaf(zeros(array.shape, dtype=chosen), requires_grad)
    if kind is sparse_coo:
        stored = sparse_dim(input) if isinstance(array, Coo) else array.ndim
        return as_leaf(empty(array.shape, chosen, stored), requires_grad)
    block = array.block if isinstance(array, Blocks) else ()
    if (kind in (sparse_bsr, sparse_bsc)) != bool(block):
        raise RuntimeError("sparse_compressed_tensor_with_dims: blocksize " + (
            f"cannot be specified for non-block layout {c_name(kind.name)}" if block
            else "needs to be a tuple of size 2, but got 0"))
    dense = dense_dim(input) if isinstance(array, (Coo, Compressed)) else 0
    return as_leaf(empty_compressed(array.shape, chosen, kind, dense, block), requires_grad)


@sparse("empty_like")
def empty_like(input: Any, *, dtype: torch_dtype | None = None, layout: Layout | None = None,
               **options: Any) -> Any:
    """See `torch.empty_like`. A compressed tensor keeps its indices."""
    array = input._array
    if not isinstance(array, Compressed) or layout not in (None, input.layout):
        return zeros_like(input, dtype=dtype, layout=layout, **options)
    values = zeros(array.values.shape, dtype=torch_dtype.of[array.dtype] if dtype is None else dtype)._array
    result: Any = plain(type(array)(
        array.compressed.copy(), array.plain.copy(), values, array.shape, array.by_rows))  # type: ignore[arg-type]
    return as_leaf(result, options.get("requires_grad", False))


def _new(name: str) -> Any:
    def made(self: Any, *sizes: Any, size: Any = None, dtype: torch_dtype | None = None,
             device: DeviceLike | None = None, requires_grad: bool = False, layout: Layout | None = None,
             pin_memory: bool = False) -> Any:
        if size is None:
            size = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
        chosen, kind = torch_dtype.of[self._array.dtype] if dtype is None else dtype, layout or self.layout
        if kind is strided:
            return METHODS[f"new_{name}"](plain(np.zeros(0)), size, dtype=chosen, requires_grad=requires_grad)
        return with_layout("empty", tuple(size), kind, chosen, device, requires_grad)

    return made


sparse("new_zeros")(_new("zeros"))
sparse("new_empty")(_new("empty"))


@sparse("ones_like")
def ones_like(input: Any, **options: Any) -> Any:
    """See `torch.ones_like`."""
    return full_like(input, 1, **options)


@sparse("full_like")
def full_like(input: Any, fill_value: Any, **options: Any) -> Any:
    """See `torch.full_like`. As in PyTorch, a compressed tensor has the number only where `input` stores elements."""
    requires_grad = options.pop("requires_grad", False)
    return as_leaf(fill_(empty_like(input, **options), fill_value), requires_grad)


@sparse("fill_")
def fill_(self: Any, value: Any) -> Any:
    """See `torch.Tensor.fill_`. Of a compressed tensor, the stored elements change."""
    array = self._array
    if not isinstance(array, Compressed) or isinstance(value, TensorBase):
        kind = "Tensor" if isinstance(value, TensorBase) else "Scalar"
        raise unsupported(f"fill_.{kind}", array.backend if is_sparse(self) else "CPU")
    value = filling(number("fill_", "value", 1, value), array.dtype, array.values.size)
    return write(self, record(ops.filled, before_write(self), value), over=True)
