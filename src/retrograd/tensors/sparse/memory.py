"""What needs the memory of dense tensors, and so cannot be done with sparse ones; and writes in place."""

from __future__ import annotations

from typing import Any, NoReturn

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import Shape, float64
from ...foundations.errors import kind_of as name_of, noted, user_site
from ...graph.versions import written
from ...kernels.sparse import blocks, compressed, coordinates
from ...kernels.sparse.arrays import Blocks, Compressed, Coo, SparseLike, unsupported
from ...ops.elementwise import arithmetic
from ..arguments.options import check_tensor
from ..arguments.size import Size
from ..functions.creation.creation import tensor, warn_of_copy
from ..recording.public import METHODS
from ..state.base import TensorBase, plain, requires
from ..state.inside import is_sparse
from .construction import empty, sparse_coo_tensor
from .conversion import (
    coo_of,
    copied,
    dense_dim as dense_dims,
    kind_of,
    sparse_dim as sparse_dims,
)
from .recording import record, sparse, write


@sparse("numpy", "__array__")
def numpy(self: Any, *args: Any, **options: Any) -> NoReturn:
    name = "Sparse" if isinstance(self._array, Coo) else kind_of(self)
    raise TypeError(f"can't convert {name} layout tensor to numpy. Use Tensor.to_dense() first.")


@sparse("new_tensor")
def new_tensor(self: Any, data: Any, **options: Any) -> Any:
    if isinstance(self._array, Compressed):
        raise noted(
            RuntimeError(f"Cannot map DispatchKey {kind_of(self)}CPU to a unique layout."),
            instead="use torch.tensor(data, dtype=x.dtype)")
    if is_sparse(data):
        warn_of_copy("tensor.new_tensor")
        return copied(data, options.get("dtype") or self.dtype, options.get("requires_grad", False))
    return METHODS["new_tensor"](plain(self._array.values), data, **options)


@sparse("new")
def new(self: Any, *args: Any, device: DeviceLike | None = None) -> Any:
    """The old constructor: of sizes, of a `Size`, or of indices, values and perhaps sizes."""
    if isinstance(self._array, Compressed):
        raise noted(
            RuntimeError(f"Cannot map DispatchKey {kind_of(self)}CPU to a unique layout."),
            instead="use x.new_zeros()")
    if len(args) in (2, 3) and isinstance(args[0], TensorBase) and isinstance(args[1], TensorBase):
        return sparse_coo_tensor(*args)
    sizes = args[0] if len(args) == 1 and isinstance(args[0], Size) else args or (0,)
    if not all(isinstance(size, int) for size in sizes):
        raise TypeError(f"new() received an invalid combination of arguments - got ({', '.join(map(name_of, args))}), "
                        f"but expected one of:\n{_WAYS_OF_NEW}")
    return empty(tuple(sizes), self.dtype)


@sparse("data_ptr", "tolist", "const_data_ptr")
def data_ptr(self: Any) -> NoReturn:
    raise noted(
        RuntimeError("Cannot access data pointer of Tensor that doesn't have storage"),
        instead="call it on x.to_dense()")


@sparse("storage_offset")
def storage_offset(self: Any) -> int:
    return 0


@sparse("storage", "untyped_storage", "_typed_storage")
def storage(self: Any) -> NoReturn:
    kind = "Sparse" if isinstance(self._array, Coo) else "SparseCsr"
    raise noted(
        NotImplementedError(f"Cannot access storage of {kind}TensorImpl"), instead="take the storage of x.to_dense()")


@sparse("stride")
def stride(self: Any, dim: Any = None) -> Any:
    if not isinstance(self._array, Coo):
        raise noted(RuntimeError("Sparse CSR tensors do not have strides"), instead="call it on x.to_dense()")
    return (0,) * self._array.ndim if dim is None else 0


@sparse("is_contiguous")
def is_contiguous(self: Any, memory_format: Any = None) -> bool:
    if not isinstance(self._array, Coo):
        raise noted(RuntimeError("Sparse CSR tensors do not have is_contiguous"), instead="call it on x.to_dense()")
    return False


@sparse("contiguous")
def contiguous(self: Any, memory_format: Any = None) -> NoReturn:
    raise noted(
        RuntimeError("unsupported memory format option Contiguous"),
        because="a sparse tensor has no order of elements: leave contiguous() out")


@sparse("expand", "expand_as", "broadcast_to", "repeat", "tile")
def expand(self: Any, *sizes: Any) -> NoReturn:
    kind = "Sparse" if isinstance(self._array, Coo) else kind_of(self)
    raise noted(RuntimeError(f"expand is unsupported for {kind} tensors"), instead="call it on x.to_dense()")


@sparse("reshape", "flatten", "outer", "einsum", "ravel")
def reshape(self: Any, *sizes: Any, **options: Any) -> NoReturn:
    said = "reshape is not implemented for sparse tensors"
    if isinstance(getattr(self, "_array", None), Compressed):
        said = "Sparse CSR tensors do not have is_contiguous"
    raise noted(RuntimeError(said), instead="call it on x.to_dense()")


@sparse("item")
def item(self: Any) -> Any:
    if self._array.size != 1:
        raise RuntimeError(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
    return coordinates.to_dense(compressed_or_coo(self._array)).item()

# What a refusal of `sparse_resize_` says one can do.
_RESIZING = """You could try the following options:
1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.
2. If you need to resize this tensor, you have the following options:
    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, and \
then try the same call again.
    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."""
_WAYS_OF_NEW = """ * (*, torch.device device = None)
 * (Tensor indices, Tensor values, *, torch.device device = None)
 * (Tensor indices, Tensor values, tuple of ints size, *, torch.device device = None)
 * (tuple of ints size, *, torch.device device = None)
"""


def compressed_or_coo(array: SparseLike) -> Coo:
    """A sparse array by coordinates."""
    if isinstance(array, Blocks):
        return blocks.to_coo(array)
    return compressed.to_coo(array) if isinstance(array, Compressed) else array  # type: ignore[return-value]


# In place

@sparse("copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    if isinstance(src, (int, float, complex)):
        src = tensor(src, dtype=float64 if isinstance(src, float) else None)
    check_tensor("copy_", src, "other", 1)
    if isinstance(self._array, Compressed) and kind_of(self) != kind_of(src):
        raise noted(
            RuntimeError("torch.copy_: copy of sparse compressed tensors having different layouts is not supported. "
                         f"self layout is {kind_of(self)} and src layout is {kind_of(src)}"),
            instead="convert one of the two tensors to the layout of the other")
    if is_sparse(self) != is_sparse(src):
        raise noted(
            RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                         f"{self.type()} and src type = {src.type()}"),
            instead="convert one with .to_dense() or .to_sparse()")
    if self._array.shape != src._array.shape:
        raise noted(
            RuntimeError(f"sparse tensors of sizes {list(self._array.shape)} and {list(src._array.shape)} do not "
                         "broadcast"), instead="copy from a sparse tensor of the same size")
    return write(self, record(arithmetic.copy, self, src), refusal=None)


@sparse("zero_")
def zero_(self: Any) -> Any:
    return write(self, record(arithmetic.zero, self))


@sparse("sparse_resize_")
def sparse_resize_(self: TensorBase, size: Shape, sparse_dim: int, dense_dim: int) -> Any:
    array, shape = coo_of("sparse_resize_", self), tuple(int(n) for n in size)
    if sparse_dim + dense_dim != len(shape):
        raise RuntimeError("'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = "
                           f"{len(shape)}, sparse_dim = {sparse_dim}, dense_dim = {dense_dim}")
    held = array.indices.shape[0]
    if array.nnz and (sparse_dim != held or dense_dim != array.values.ndim - 1):
        kind = "sparse" if sparse_dim != held else "dense"
        counts = (held, sparse_dim) if sparse_dim != held else (array.values.ndim - 1, dense_dim)
        raise RuntimeError(f"changing the number of {kind} dimensions (from {counts[0]} to {counts[1]}) on a non-empty "
                           f"sparse tensor is not supported.\n{_RESIZING}")
    if array.nnz and any(new < old for new, old in zip(shape[:held], array.shape)):
        raise RuntimeError(f"shrinking the size of sparse dimensions (from {list(array.shape[:held])} to "
                           f"{list(shape[:held])}) on a non-empty sparse tensor is not supported.\n{_RESIZING}")
    if requires(self):
        if self.is_leaf:
            raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
        raise noted(
            RuntimeError("derivative for aten::sparse_resize_ is not implemented"), instead="call it on x.detach()")
    wide = empty(shape, self.dtype, sparse_dim)._array
    if array.nnz:
        wide.indices, wide.coalesced = array.indices, array.coalesced
        wide.values = coordinates.resized(array.values, (array.nnz, *shape[sparse_dim:]))
    array.take(wide)
    written(array, user_site())
    return self


@sparse("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> Any:
    array = coo_of("sparse_resize_and_clear_", self)
    array.take(empty(tuple(size), self.dtype, sparse_dim)._array)
    written(array, user_site())
    return self


@sparse("resize_as_sparse_")
def resize_as_sparse_(self: TensorBase, other: TensorBase) -> Any:
    check_tensor("resize_as_sparse_", other, "the_template", 1)
    return sparse_resize_(self, other._array.shape, sparse_dims(other), dense_dims(other))


@sparse("resize_as_")
def resize_as_(self: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    if not is_sparse(self):
        return self.resize_(the_template._array.shape)
    if memory_format is not None:
        raise RuntimeError("Unsupported memory format for sparse tensor resize_as_ :"
                           + str(memory_format).removeprefix("torch.").removesuffix("_format").title().replace("_", ""))
    if not is_sparse(the_template):
        raise unsupported("resize_", self._array.backend)
    return resize_as_sparse_(self, the_template)
