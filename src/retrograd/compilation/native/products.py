"""Matrix products inside of a native function: in tiles, or as straight code for tiny ones.

Products some of whose sizes are set at run time are calls of NumPy's BLAS, by its address.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F32
from ...kernels.native import door, openblas
from ..program.symbols import Extent
from .lanes import TYPES, Code, Lanes, Unknown, fused
from .modules import Module
from .table import address_at, size_at
from .tiles import Sizes, by_rows, write_tiled
from .vector_math import shuffled

# Up to this many multiplications a product is straight code.
_TINY = 512
# Products of stacks have about so many pieces, if a piece takes long enough, in nanoseconds.
_PIECES, _ENOUGH = 16, 3000
# The values in <cblas.h>.
_ROWS, _TRANSPOSED, _AS_IT_IS = 101, 112, 111


class Stack(NamedTuple):
    """A dim of stacks of matrices: how many there are, and how many numbers they are apart in a, b and out."""

    number: int
    steps: tuple[int, int, int]


class Product(NamedTuple):
    """out = a @ b, for an (m, k) and a (k, n) matrix. `slots` are those of a, b and out, which lie row by row.

    `transposes` says of a and b whether their memory holds the transposed matrix, row by row. `dtype` is float32 or
    float64. No dim is 0. A product adds along k one after the other, in blocks of 256 terms, rounding once for each
    term if the machine can. If `sizes` is given, a and b lie as it says; `stacks` are dims around the matrices.

    If some of m, n and k are set at run time, `slot` gives the slots of the table where they stand then.
    """

    slots: tuple[int, int, int]
    m: int
    n: int
    k: int
    transposes: tuple[bool, bool]
    dtype: np.dtype[Any]
    sizes: Sizes | None = None
    stacks: tuple[Stack, ...] = ()
    slot: Callable[[Any], int] | None = None

    @property
    def work(self) -> int:
        """How many multiplications it takes."""
        return self.m * self.n * self.k * math.prod([stack.number for stack in self.stacks])


class Made(NamedTuple):
    """The function `product<name>(table, begin, end)` makes a range of [0, extent); `cost` is in nanoseconds."""

    extent: int
    cost: float


def write_product(module: Module, product: Product, name: str) -> Made:
    """Add the function to the module."""
    code = Code(module, 1)
    cost = product.work / (3 * module.host.lanes(product.dtype))
    places = [address_at(code, slot) for slot in product.slots]
    extent = 1
    if product.slot is not None:
        cost = 0.0
        _write_call(code, product, places)
    elif product.work <= _TINY and product.sizes is None:
        _write_tiny(code, product, places)
    else:
        extent = _write_stacks(code, product, places, cost)
    module.functions[f"product{name}"] = code.function(
        f"internal void @product{name}(ptr %table, i64 %begin, i64 %end)")
    return Made(extent, cost)


def _write_stacks(code: Code, product: Product, places: list[str], cost: float) -> int:
    """The pieces of all matrices. Returns how many they are."""
    count, element = math.prod([stack.number for stack in product.stacks]), TYPES[product.dtype]
    sizes = product.sizes or by_rows(product.m, product.n, product.k, product.transposes)
    tiled = write_tiled(code.module, sizes, product.dtype, even(int(min(_PIECES, cost / _ENOUGH) / count)))
    if not product.stacks:
        code.do(f"call void @{tiled.name}({_pointers(places)}, i64 %begin, i64 %end)")
        return tiled.pieces

    def body(i: str) -> None:
        index, own = code.put(f"udiv i64 {i}, {tiled.pieces}"), places
        for stack in reversed(product.stacks):
            place = code.put(f"urem i64 {index}, {stack.number}")
            index = code.put(f"udiv i64 {index}, {stack.number}")
            own = [code.put(f"getelementptr {element}, ptr {start}, i64 {code.put(f'mul i64 {place}, {step}')}")
                   for start, step in zip(own, stack.steps)]
        piece = code.put(f"urem i64 {i}, {tiled.pieces}")
        code.do(f"call void @{tiled.name}({_pointers(own)}, i64 {piece}, i64 {code.put(f'add i64 {piece}, 1')})")

    code.loop("%begin", "%end", 1, body)
    return count * tiled.pieces


def even(parts: int) -> int:
    """The greatest power of two that is no greater: so many parts are as much work for each of two or four threads."""
    return 1 << parts.bit_length() - 1 if parts > 0 else 0


def _pointers(places: Sequence[str]) -> str:
    return ", ".join([f"ptr {place}" for place in places])


def _write_tiny(code: Code, product: Product, places: list[str]) -> None:
    m, n, k, (a_turned, b_turned) = product.m, product.n, product.k, product.transposes
    wide = code.module.host.lanes(product.dtype)
    numbers = {(i, p): _number(code, product, places[0], p * m + i if a_turned else i * k + p)
               for i in range(m) for p in range(k)}
    for start in range(0, n, wide):
        code.width = count = min(wide, n - start)
        rows = [_row(code, product, places[1], [
            j * k + p if b_turned else p * n + j for j in range(start, start + count)]) for p in range(k)]
        for i in range(m):
            total: Any = 0.0                               # since a sum is never -0.0
            for p in range(k):
                total = fused(_splat(code, product, numbers[i, p]), rows[p], total)
            code.do(f"store {total.type} {total.name}, ptr {_place(code, product, places[2], i * n + start)}, "
                    f"align {product.dtype.itemsize}")


def _place(code: Code, product: Product, pointer: str, index: int) -> str:
    return code.put(f"getelementptr i8, ptr {pointer}, i64 {index * product.dtype.itemsize}")


def _number(code: Code, product: Product, pointer: str, index: int) -> str:
    type = "float" if product.dtype == F32 else "double"
    return code.put(f"load {type}, ptr {_place(code, product, pointer, index)}")


def _row(code: Code, product: Product, pointer: str, indices: list[int]) -> Lanes:
    """The numbers at these places as a vector."""
    type = code.type(product.dtype)
    if indices == [*range(indices[0], indices[0] + len(indices))]:
        return code.vector(code.put(f"load {type}, ptr {_place(code, product, pointer, indices[0])}, "
                                    f"align {product.dtype.itemsize}"), product.dtype)
    name, element = "poison", type.partition("x ")[2][:-1]
    for lane, index in enumerate(indices):
        number = _number(code, product, pointer, index)
        name = code.put(f"insertelement {type} {name}, {element} {number}, i32 {lane}")
    return code.vector(name, product.dtype)


def _splat(code: Code, product: Product, number: str) -> Lanes:
    type = code.type(product.dtype)
    one = code.put(f"insertelement {type} poison, {type.partition('x ')[2][:-1]} {number}, i32 0")
    return code.vector(shuffled(code, type, one, one, [0] * code.width), product.dtype)


def has_blas(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's BLAS can be called by address."""
    return _gemm(dtype) is not None


def _gemm(dtype: np.dtype[Any]) -> Any:
    letter = "s" if dtype == F32 else "d"
    return openblas.function(f"cblas_{letter}gemm", f"fffnnn{letter}pnpn{letter}pn")


def _write_call(code: Code, product: Product, places: list[str]) -> None:
    gemm = _gemm(product.dtype)
    if gemm is None:
        raise Unknown("NumPy's BLAS cannot be reached")
    address = door.ctypes.cast(gemm, door.ctypes.c_void_p).value
    kind, size = "float" if product.dtype == F32 else "double", f"i{np.dtype(openblas.size_dtype()).itemsize * 8}"
    m, n, k = [_size(code, product, count, size) for count in (product.m, product.n, product.k)]
    (a, b), (x, y, out) = product.transposes, places
    values: list[tuple[str, Any]] = [
        ("i32", _ROWS), *[("i32", _TRANSPOSED if t else _AS_IT_IS) for t in (a, b)], (size, m), (size, n), (size, k),
        (kind, "1.0"), ("ptr", x), (size, m if a else k), ("ptr", y), (size, k if b else n), (kind, "0.0"),
        ("ptr", out), (size, n)]
    code.do(f"call void inttoptr (i64 {address} to ptr)({', '.join([f'{type} {value}' for type, value in values])})")


def _size(code: Code, product: Product, count: int, size: str) -> int | str:
    """The text of a size, as an integer of this type."""
    if not isinstance(count, Extent) or product.slot is None:
        return count
    found = size_at(code, product.slot(count.expression))
    return found if size == "i64" else code.put(f"trunc i64 {found} to {size}")
