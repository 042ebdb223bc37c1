"""The sparse kinds of array: coordinates (COO), compressed rows or columns (CSR, CSC), and those of blocks (BSR, BSC).

A sparse array holds NumPy arrays. It has what the layers above ask of any array: a shape, a dtype, flags. A call of a
NumPy function or of an operator with a sparse array goes to the kernel that `kernels` of its class holds under that
function or operator. Without such a kernel the call raises PyTorch's error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

from ...foundations.dtypes import F32, NARROW, Array
from ...foundations.errors import no_kernel
from ..kinds import OtherArray
from ..networks.rounds import Rounds
from ..options import takes_narrow


class _Flags:
    """The flags of an array that does not lie row by row, because it has no memory of its own."""

    c_contiguous = f_contiguous = forc = carray = fnc = owndata = False
    writeable = True


def unsupported(name: str, backend: str) -> NotImplementedError:
    """PyTorch's error for a function that has no sparse kernel."""
    return no_kernel(f"aten::{name}", backend, instead="call it on x.to_dense()")


def of_values(function: Callable[..., Any], values: Array, *options: Any) -> Array:
    """A function of the stored elements. As of a dense array, a kernel receives narrow floats as float32."""
    dtype = values.dtype
    if dtype not in NARROW or takes_narrow(function, dtype):
        return np.asarray(function(values, *options))
    found = np.asarray(function(values.astype(F32), *options))
    return found.astype(dtype) if found.dtype == F32 else found


class SparseLike(OtherArray):
    """What all sparse arrays share. `values` are the elements that are stored."""

    __slots__ = ()
    kernels: ClassVar[dict[Any, Callable[..., Any]]]
    backend: ClassVar[str]
    # The class of a tensor over such an array, given its class over a dense array. The tensors fill it in.
    face: ClassVar[Callable[[type[Any]], type[Any]]]

    flags = _Flags()
    base = None
    strides = (0, 0)                                       # for rules that ask how a matrix lies in memory
    shape: tuple[int, ...]
    values: Array

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        dtype: np.dtype[Any] = self.values.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, stored or not."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return int(self.values.dtype.itemsize)

    @property
    def parts(self) -> tuple[Array, ...]:
        """The NumPy arrays that the array holds: the indices, and then the values."""
        raise NotImplementedError

    @property
    def nbytes(self) -> int:
        """The number of bytes of what is stored."""
        return sum([part.nbytes for part in self.parts])

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        kind = self.backend.removesuffix("CPU")
        raise TypeError(f"can't convert {kind} layout tensor to numpy. Use Tensor.to_dense() first.")

    def reshape(self, *shape: Any) -> NoReturn:
        """Raises NotImplementedError, since the stored elements cannot be laid out anew."""
        raise unsupported("reshape", self.backend)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = (None,), **options: Any) -> Any:
        kernel = self.kernels.get(ufunc)
        if kernel is None or method != "__call__":
            raise unsupported(ufunc.__name__, self.backend)
        target = out[0] if type(out) is tuple else None
        return kernel(*inputs) if target is None else kernel(*inputs, target)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: tuple[Any, ...],
                           kwargs: dict[str, Any]) -> Any:
        return self.__op__(function, args, kwargs)

    def __neg__(self) -> Any:
        return np.negative(self)

    def __add__(self, other: Any) -> Any:
        return np.add(self, other)

    def __sub__(self, other: Any) -> Any:
        return np.subtract(self, other)

    def __mul__(self, other: Any) -> Any:
        return np.multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return np.multiply(other, self)

    def __truediv__(self, other: Any) -> Any:
        return np.true_divide(self, other)

    @staticmethod
    def __op__(op: Any, args: tuple[Any, ...], options: dict[str, Any] | None = None) -> Any:
        """The result of an operator or of a NumPy function."""
        given = args[0] if args and type(args[0]) in (list, tuple) else args
        array = next(x for x in given if isinstance(x, SparseLike))
        kernel = array.kernels.get(op)
        if kernel is None:
            name: str = getattr(op, "name", "") or op.__name__
            raise unsupported(name, array.backend)
        return kernel(*args, **(options or {}))


class Coo(SparseLike):
    """A sparse array by coordinates.

    `indices` has a row for each sparse dimension and a column for each stored element. `values` has the stored elements
    along its first dimension; its other dimensions are the dense dimensions. The indices of a `coalesced` array are in
    order, and none occurs twice. Elements with the same index add up. `rounds` holds the rounds of the last products.
    Arrays with the same indices share this list.
    """

    __slots__ = ("coalesced", "indices", "rounds", "shape", "values")
    kernels: ClassVar[dict[Any, Callable[..., Any]]] = {}
    backend = "SparseCPU"

    def __init__(self, indices: Array, values: Array, shape: tuple[int, ...], coalesced: bool = False,
                 rounds: list[Rounds] | None = None) -> None:
        self.indices, self.values, self.shape, self.coalesced = indices, values, shape, coalesced or values.shape[0] < 2
        self.rounds = [] if rounds is None else rounds

    @property
    def nnz(self) -> int:
        """The number of stored elements."""
        return int(self.values.shape[0])

    @property
    def parts(self) -> tuple[Array, ...]:
        return self.indices, self.values

    def with_values(self, values: Array) -> Coo:
        """An array with the same indices and other values."""
        shape = (*self.shape[:self.indices.shape[0]], *values.shape[1:])
        return Coo(np.ascontiguousarray(self.indices), values, shape, rounds=self.rounds).marked(self.coalesced)

    def marked(self, coalesced: bool) -> Coo:
        """The array, which counts as coalesced or not, however few elements it stores."""
        self.coalesced = coalesced
        return self

    def take(self, other: Coo) -> None:
        """Become what another array is, as a write in place does."""
        self.indices, self.values, self.shape, self.coalesced, self.rounds = (
            other.indices, other.values, other.shape, other.coalesced, other.rounds)

    def kept(self, alone: bool) -> Coo:
        """The array as the gradient of a leaf.

        As PyTorch does, an array that has no other holder (`alone`) is taken apart: it is not known to be coalesced any
        more. An array whose parts do not lie row by row is copied.
        """
        taken = alone and self.indices.flags.c_contiguous and self.values.flags.c_contiguous
        found = Coo(np.ascontiguousarray(self.indices), np.ascontiguousarray(self.values), self.shape,
                    rounds=self.rounds)
        return found if taken else found.marked(self.coalesced)

    def added(self, other: Any) -> Any:
        """The array itself with a sparse array added, or the dense sum with a dense one."""
        return self.kernels[np.add](self, other, self if isinstance(other, Coo) else None)


class Compressed(SparseLike):
    """A sparse matrix with compressed rows (CSR), or columns (CSC).

    `plain` holds the index of each stored element in its row, for CSR. Row i has the elements from `compressed[i]` to
    `compressed[i + 1]`. With leading dimensions, all arrays are stacks. `rounds` is as in `Coo`.
    """

    __slots__ = ("by_rows", "compressed", "plain", "rounds", "shape", "values")
    kernels: ClassVar[dict[Any, Callable[..., Any]]] = {}
    backend = "SparseCsrCPU"

    def __init__(self, compressed: Array, plain: Array, values: Array, shape: tuple[int, ...],
                 by_rows: bool = True, rounds: list[Rounds] | None = None) -> None:
        self.compressed, self.plain, self.values, self.shape, self.by_rows = compressed, plain, values, shape, by_rows
        self.rounds = [] if rounds is None else rounds

    @property
    def nnz(self) -> int:
        """The number of stored elements, of one matrix of a stack."""
        return int(self.plain.shape[-1])

    @property
    def parts(self) -> tuple[Array, ...]:
        return self.compressed, self.plain, self.values

    def with_values(self, values: Array) -> Self:
        """An array with the same indices and other values."""
        return type(self)(self.compressed, self.plain, values, self.shape, self.by_rows, self.rounds)

    def take(self, other: Compressed) -> None:
        """Become what another array is, as a write in place does."""
        self.compressed, self.plain, self.values, self.shape, self.by_rows, self.rounds = (
            other.compressed, other.plain, other.values, other.shape, other.by_rows, other.rounds)

    def kept(self, alone: bool) -> Self:
        """The array as the gradient of a leaf."""
        return self.with_values(self.values)

    def added(self, other: Any) -> Any:
        """The sum with another array."""
        return self.kernels[np.add](self, other)


class Blocks(Compressed):
    """A sparse matrix of blocks, with compressed rows of blocks (BSR), or columns (BSC).

    The indices count blocks, and `values` has the shape (blocks, rows of a block, columns of a block).
    """

    __slots__ = ()
    kernels: ClassVar[dict[Any, Callable[..., Any]]] = {}

    @property
    def block(self) -> tuple[int, int]:
        """The sizes of a block."""
        rows, columns = self.values.shape[-2:]
        return int(rows), int(columns)
