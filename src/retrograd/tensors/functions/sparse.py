"""The public functions and methods for sparse tensors. What they do is in `tensors.sparse`, imported at the first call.
"""

from __future__ import annotations

from typing import Any

from ...foundations.devices import DeviceLike
from ...foundations.dtypes import dtype as torch_dtype
from ...foundations.names import reached
from ..recording.public import public
from ..state.base import TensorBase
from .linalg.matrix import mm


def implementation(name: str) -> Any:
    """What a public function does, by its name."""
    return reached("tensors.sparse.public").TABLE[name]


@public()
def sparse_coo_tensor(indices: Any = None, values: Any = None, size: Any = None, *, dtype: torch_dtype | None = None,
                      device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
                      check_invariants: bool | None = None, is_coalesced: bool | None = None) -> TensorBase:
    """A sparse tensor of indices (sparse_dim, nnz) and values (nnz, *dense sizes).

    Elements with the same index add up. Without `size`, the smallest size that fits is taken. With `size` alone, the
    tensor stores nothing. Raises RuntimeError if the sizes do not fit; with `check_invariants`, if an index is out of
    range.

    >>> import retrograd as torch
    >>> torch.sparse_coo_tensor([[0, 1], [2, 0]], [3., 4.], (2, 3)).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return implementation("sparse_coo_tensor")(  # type: ignore[no-any-return]
        indices, values, size, dtype=dtype, device=device, pin_memory=pin_memory, requires_grad=requires_grad,
        check_invariants=check_invariants, is_coalesced=is_coalesced)


@public()
def sparse_compressed_tensor(compressed_indices: TensorBase, plain_indices: TensorBase, values: TensorBase,
                             size: Any = None, *, dtype: torch_dtype | None = None, layout: Any = None,
                             device: DeviceLike | None = None, pin_memory: bool = False, requires_grad: bool = False,
                             check_invariants: bool | None = None) -> TensorBase:
    """A sparse matrix with compressed rows (`layout=torch.sparse_csr`) or columns (`layout=torch.sparse_csc`)."""
    return implementation("sparse_compressed_tensor")(  # type: ignore[no-any-return]
        compressed_indices, plain_indices, values, size, dtype=dtype, layout=layout, device=device,
        requires_grad=requires_grad, check_invariants=check_invariants)


@public()
def sparse_csr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *,
                      dtype: torch_dtype | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> TensorBase:
    """A sparse matrix with compressed rows. Row i has the values from `crow_indices[i]` to `crow_indices[i + 1]`.

    >>> import retrograd as torch
    >>> torch.sparse_csr_tensor([0, 1, 2], [2, 0], [3., 4.]).to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """
    return implementation("sparse_csr_tensor")(  # type: ignore[no-any-return]
        crow_indices, col_indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad,
        check_invariants=check_invariants)


@public()
def sparse_csc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *,
                      dtype: torch_dtype | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> TensorBase:
    """A sparse matrix with compressed columns. See `torch.sparse_csr_tensor`."""
    return implementation("sparse_csc_tensor")(  # type: ignore[no-any-return]
        ccol_indices, row_indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad,
        check_invariants=check_invariants)


@public()
def sparse_bsr_tensor(crow_indices: Any, col_indices: Any, values: Any, size: Any = None, *,
                      dtype: torch_dtype | None = None, device: Any = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> TensorBase:
    """A sparse matrix of blocks with compressed rows of blocks. `values` has the blocks, as (nnz, rows, columns).

    >>> import retrograd as torch
    >>> torch.sparse_bsr_tensor([0, 1], [1], [[[3., 4.]]]).to_dense()
    tensor([[0., 0., 3., 4.]])
    """
    return implementation("sparse_bsr_tensor")(  # type: ignore[no-any-return]
        crow_indices, col_indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad,
        check_invariants=check_invariants)


@public()
def sparse_bsc_tensor(ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, *,
                      dtype: torch_dtype | None = None, device: DeviceLike | None = None, pin_memory: bool = False,
                      requires_grad: bool = False, check_invariants: bool | None = None) -> TensorBase:
    """A sparse matrix of blocks with compressed columns of blocks. See `torch.sparse_bsr_tensor`."""
    return implementation("sparse_bsc_tensor")(  # type: ignore[no-any-return]
        ccol_indices, row_indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad,
        check_invariants=check_invariants)


# Products

def _product(name: str) -> Any:
    @public(f"{name}(Tensor input, Tensor mat2)", name=name,
            doc="The product of two matrices: an old name of `mm`, for a sparse and a dense matrix.")
    def product(input: TensorBase, mat2: TensorBase) -> TensorBase:
        return mm(input, mat2)  # type: ignore[no-any-return]

    return product


dsmm, hsmm, spmm = map(_product, ("dsmm", "hsmm", "spmm"))


@public("hspmm(Tensor mat1, Tensor mat2, *, Tensor out=None)")
def hspmm(mat1: TensorBase, mat2: TensorBase, *, out: TensorBase | None = None) -> TensorBase:
    """The product of a sparse and a dense matrix, with one sparse and one dense dimension."""
    return implementation("hspmm")(mat1, mat2, out=out)  # type: ignore[no-any-return]


@public("smm(Tensor input, Tensor mat2)", method=True)
def smm(input: TensorBase, mat2: TensorBase) -> TensorBase:
    """The product of a sparse and a dense matrix, as a sparse matrix that stores all elements."""
    return implementation("smm")(input, mat2)  # type: ignore[no-any-return]


@public("sspaddmm(Tensor input, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1, Tensor out=None)",
        method=True)
def sspaddmm(input: TensorBase, mat1: TensorBase, mat2: TensorBase, *, beta: Any = 1, alpha: Any = 1,
             out: TensorBase | None = None) -> TensorBase:
    """beta * input + alpha * (mat1 @ mat2) for sparse matrices `input` and `mat1`, as a sparse matrix."""
    return implementation("sspaddmm")(  # type: ignore[no-any-return]
        input, mat1, mat2, beta=beta, alpha=alpha, out=out)


# Layouts, and the parts of sparse tensors

@public(method=True)
def to_sparse(self: TensorBase, sparse_dim: Any = None, *, layout: Any = None, blocksize: Any = None,
              dense_dim: Any = None) -> TensorBase:
    """The tensor as a sparse tensor, by coordinates unless `layout` is given; with `sparse_dim` sparse dimensions.

    >>> import retrograd as torch
    >>> torch.eye(2).to_sparse()
    tensor(indices=tensor([[0, 1],
                           [0, 1]]),
           values=tensor([1., 1.]),
           size=(2, 2), nnz=2, layout=torch.sparse_coo)
    """
    return implementation("to_sparse")(  # type: ignore[no-any-return]
        self, sparse_dim, layout=layout, blocksize=blocksize, dense_dim=dense_dim)


@public(method=True)
def to_sparse_coo(self: Any) -> TensorBase:
    """The tensor as a sparse tensor by coordinates."""
    return implementation("to_sparse_coo")(self)  # type: ignore[no-any-return]


@public(method=True)
def to_sparse_csr(self: TensorBase, dense_dim: Any = None) -> TensorBase:
    """The matrix with compressed rows."""
    return implementation("to_sparse_csr")(self, dense_dim)  # type: ignore[no-any-return]


@public(method=True)
def to_sparse_csc(self: TensorBase, dense_dim: Any = None) -> TensorBase:
    """The matrix with compressed columns."""
    return implementation("to_sparse_csc")(self, dense_dim)  # type: ignore[no-any-return]


@public(method=True)
def to_sparse_bsr(self: TensorBase, blocksize: Any, dense_dim: Any = None) -> TensorBase:
    """The matrix in blocks with compressed rows of blocks. `blocksize` has the sizes of a block.

    >>> import retrograd as torch
    >>> torch.eye(4).to_sparse_bsr((2, 2)).values().shape
    torch.Size([2, 2, 2])
    """
    return implementation("to_sparse_bsr")(self, blocksize, dense_dim)  # type: ignore[no-any-return]


@public(method=True)
def to_sparse_bsc(self: TensorBase, blocksize: Any, dense_dim: Any = None) -> TensorBase:
    """The matrix in blocks with compressed columns of blocks. See `to_sparse_bsr`."""
    return implementation("to_sparse_bsc")(self, blocksize, dense_dim)  # type: ignore[no-any-return]


@public(method=True)
def sparse_mask(self: Any, mask: TensorBase) -> TensorBase:
    """The elements of the tensor at the indices of the sparse tensor `mask`, as a sparse tensor."""
    return implementation("sparse_mask")(self, mask)  # type: ignore[no-any-return]


@public(method=True)
def coalesce(self: Any) -> TensorBase:
    """The sparse tensor with its indices in order and each index once. The values with the same index are added."""
    return implementation("coalesce")(self)  # type: ignore[no-any-return]


@public(method=True)
def is_coalesced(self: Any) -> bool:
    """Whether the indices are known to be in order, each once."""
    return implementation("is_coalesced")(self)  # type: ignore[no-any-return]


@public(method=True)
def indices(self: Any) -> TensorBase:
    """The indices of a coalesced sparse tensor, as (sparse_dim, nnz)."""
    return implementation("indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def values(self: Any) -> TensorBase:
    """The stored values of a coalesced sparse tensor, or of a matrix with compressed rows or columns."""
    return implementation("values")(self)  # type: ignore[no-any-return]


@public(method=True)
def _indices(self: Any) -> TensorBase:
    return implementation("_indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def _values(self: Any) -> TensorBase:
    return implementation("_values")(self)  # type: ignore[no-any-return]


@public(method=True)
def _nnz(self: Any) -> int:
    return implementation("_nnz")(self)  # type: ignore[no-any-return]


@public(method=True)
def _coalesced_(self: Any, coalesced: bool) -> TensorBase:
    return implementation("_coalesced_")(self, coalesced)  # type: ignore[no-any-return]


@public(method=True)
def sparse_dim(self: Any) -> int:
    """The number of sparse dimensions: 0 for a dense tensor."""
    return 0


@public(method=True)
def dense_dim(self: Any) -> int:
    """The number of dense dimensions: all of a dense tensor."""
    return self._array.ndim  # type: ignore[no-any-return]


@public(method=True)
def _dimI(self: Any) -> int:
    return implementation("_dimI")(self)  # type: ignore[no-any-return]


@public(method=True)
def _dimV(self: Any) -> int:
    return implementation("_dimV")(self)  # type: ignore[no-any-return]


@public(method=True)
def crow_indices(self: Any) -> TensorBase:
    """Where the rows of a matrix with compressed rows begin and end."""
    return implementation("crow_indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def col_indices(self: Any) -> TensorBase:
    """The column of each stored value of a matrix with compressed rows."""
    return implementation("col_indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def ccol_indices(self: Any) -> TensorBase:
    """Where the columns of a matrix with compressed columns begin and end."""
    return implementation("ccol_indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def row_indices(self: Any) -> TensorBase:
    """The row of each stored value of a matrix with compressed columns."""
    return implementation("row_indices")(self)  # type: ignore[no-any-return]


@public(method=True)
def sparse_resize_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> TensorBase:
    """Give a sparse tensor another size in place. A tensor that stores elements cannot shrink."""
    return implementation("sparse_resize_")(self, size, sparse_dim, dense_dim)  # type: ignore[no-any-return]


@public(method=True)
def sparse_resize_and_clear_(self: Any, size: Any, sparse_dim: int, dense_dim: int) -> TensorBase:
    """Give a sparse tensor another size in place, and remove its elements."""
    return implementation("sparse_resize_and_clear_")(  # type: ignore[no-any-return]
        self, size, sparse_dim, dense_dim)


@public(method=True)
def resize_as_sparse_(input: TensorBase, the_template: Any) -> TensorBase:
    """Give a sparse tensor the size of another in place."""
    return implementation("resize_as_sparse_")(input, the_template)  # type: ignore[no-any-return]


# Copies of the parts

def _copy_of(part: str) -> Any:
    @public(f"{part}_copy(Tensor input, *, Tensor out=None)", name=f"{part}_copy",
            doc=f"A copy of `{part}` of a compressed sparse tensor.")
    def function(input: TensorBase, *, out: TensorBase | None = None) -> TensorBase:
        return implementation(f"{part}_copy")(input, out=out)  # type: ignore[no-any-return]

    return function


crow_indices_copy, col_indices_copy, ccol_indices_copy, row_indices_copy, indices_copy, values_copy = map(
    _copy_of, ("crow_indices", "col_indices", "ccol_indices", "row_indices", "indices", "values"))
