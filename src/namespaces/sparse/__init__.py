"""torch.sparse: functions of sparse tensors, whose gradients for sparse operands are sparse, too."""

from __future__ import annotations

from ..foundations.dtypes import dtype as torch_dtype

from typing import TYPE_CHECKING, Any, Literal

from ..foundations import dtypes as _dtypes
from ..foundations.errors import warn_once as _warn_once
from ..foundations.names import missing as _missing
from ..tensors.arguments.options import check_tensors as _check_tensors
from ..tensors.functions.sparse import implementation as _implementation, sparse_coo_tensor as _sparse_coo_tensor
from ..tensors.recording.public import public as _public
from ..tensors.sparse.construction import Invariants as _Invariants
from ..tensors.tensor import Tensor

__all__ = ["ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor", "IntTensor", "LongTensor",
           "ShortTensor", "addmm", "check_sparse_tensor_invariants", "log_softmax", "mm", "sampled_addmm", "softmax",
           "spdiags", "sum"]


@_public()
def mm(mat1: Tensor, mat2: Tensor, reduce: Any = None) -> Tensor:
    """The product of matrices, the first of them sparse. The gradient of the sparse matrix has its indices.

    With `reduce`, for a CSR matrix and a dense one, an element is the "sum", the "mean", the "amax" or the "amin" of
    the products with the stored elements of a row, and 0 if there are none.

    >>> import retrograd as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 3))
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    _check_tensors("_sparse_mm", sparse=mat1, dense=mat2)
    return _implementation("_sparse_mm")(mat1, mat2, reduce)  # type: ignore[no-any-return]


@_public()
def addmm(mat: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """beta * mat + alpha * (mat1 @ mat2), for a sparse matrix `mat1`. Its gradient has its indices."""
    _check_tensors("_sparse_addmm", input=mat, mat1=mat1, mat2=mat2)
    return _implementation("_sparse_addmm")(mat, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


@_public()
def sampled_addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0) -> Tensor:
    """alpha * (mat1 @ mat2) at the indices of the CSR matrix `input`, plus beta * input."""
    _check_tensors("sparse_sampled_addmm", input=input, mat1=mat1, mat2=mat2)
    return _implementation("_sampled_addmm")(input, mat1, mat2, beta=beta, alpha=alpha)  # type: ignore[no-any-return]


@_public()
def sum(input: Tensor, dim: Any = None, dtype: torch_dtype | None = None) -> Tensor:
    """The sum over the dimensions `dim`, or over all. The gradient has the indices of the input."""
    return _implementation("_sparse_sum")(input, dim, dtype)  # type: ignore[no-any-return]


@_public()
def softmax(input: Tensor, dim: int, *, dtype: torch_dtype | None = None) -> Tensor:
    """The softmax of the stored values along a dimension. Elements that are not stored count as minus infinity."""
    _check_tensors("_sparse_softmax", input=input)
    return _implementation("_sparse_softmax")(input, dim, dtype=dtype)  # type: ignore[no-any-return]


@_public()
def log_softmax(input: Tensor, dim: int, *, dtype: torch_dtype | None = None) -> Tensor:
    """The logarithm of the softmax of the stored values along a dimension."""
    _check_tensors("_sparse_log_softmax", input=input)
    return _implementation("_sparse_log_softmax")(input, dim, dtype=dtype)  # type: ignore[no-any-return]


@_public()
def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None) -> Tensor:
    """A sparse matrix with the rows of `diagonals` on the diagonals number `offsets`. See `scipy.sparse.spdiags`."""
    return _implementation("_spdiags")(diagonals, offsets, shape, layout)  # type: ignore[no-any-return]


class _OfType:
    """An old constructor of sparse tensors with elements of one type. Better use `torch.sparse_coo_tensor`."""

    def __init__(self, dtype: _dtypes.dtype) -> None:
        self._of = dtype
        self.__name__ = f"{dtype.legacy}Tensor"

    def __call__(self, *args: Any) -> Any:
        """A sparse tensor of indices, values and a size, or an empty one of sizes."""
        given = "shape" if not args or len(args) == 1 or isinstance(args[0], int) else "indices, values, shape"
        _warn_once(f"torch.sparse.SparseTensor({given}, *, device=) is deprecated.  Please use "
                   f"torch.sparse_coo_tensor({given}, dtype=, device=).")
        if not args or isinstance(args[0], int):
            return _sparse_coo_tensor(args or (0,), dtype=self._of)
        if len(args) == 1:
            return _sparse_coo_tensor(tuple(args[0]), dtype=self._of)
        if args[1].dtype is not self._of:
            raise TypeError(f"expected torch.{self.__name__} (got torch.{args[1].dtype.legacy}Tensor). Convert the "
                            f"values with .to({self._of!r}).")
        return _sparse_coo_tensor(*args)

    def __repr__(self) -> str:
        return f"<class 'torch.sparse.{self.__name__}'>"


ByteTensor, CharTensor, DoubleTensor, FloatTensor, HalfTensor, IntTensor, LongTensor, ShortTensor = map(
    _OfType, (_dtypes.uint8, _dtypes.int8, _dtypes.float64, _dtypes.float32, _dtypes.float16, _dtypes.int32,
              _dtypes.int64, _dtypes.int16))


class check_sparse_tensor_invariants:
    """A context, or a decorator, in which new sparse tensors are checked.

    `enable()`, `disable()` and `is_enabled()` change and tell the setting outside of a context.
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Whether new sparse tensors are checked."""
        return _Invariants.checked

    @staticmethod
    def enable() -> None:
        """Check new sparse tensors from now on."""
        _Invariants.checked = True

    @staticmethod
    def disable() -> None:
        """Check no new sparse tensors from now on."""
        _Invariants.checked = False

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError("This context manager instance is already activated. Use a different context manager "
                               "instance for context nesting.")
        self.saved_state = self.is_enabled()
        _Invariants.checked = self.state

    def __exit__(self, *error: object) -> Literal[False]:
        if self.saved_state is None:
            raise AssertionError("saved_state must not be None")
        _Invariants.checked, self.saved_state = self.saved_state, None
        return False

    def __call__(self, mth: Any) -> Any:
        def test_mth(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **kwargs)

        return test_mth


if not TYPE_CHECKING:
    __getattr__, __dir__ = _missing(__name__, __all__)
