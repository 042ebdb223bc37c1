"""Small matrix products inside of a native function: a call of NumPy's BLAS, or straight code for tiny ones."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...dtypes import F32
from ...kernels.native import openblas
from .lanes import Code, Lanes, Module, Unknown, fused
from .vector_math import shuffled

# Up to this many multiplications a product is straight code.
_TINY = 512
_ROWS, _TRANSPOSED, _AS_IT_IS = 101, 112, 111               # the values in <cblas.h>


class Product(NamedTuple):
    """out = a @ b, for an (m, k) and a (k, n) matrix. `slots` are those of a, b and out, which lie row by row.

    `transposes` says of a and b whether their memory holds the transposed matrix, row by row. `dtype` is float32 or
    float64. A tiny product adds along k one after the other, rounding once for each term if the machine can.
    """

    slots: tuple[int, int, int]
    m: int
    n: int
    k: int
    transposes: tuple[bool, bool]
    dtype: np.dtype[Any]


def _as_it_is(code: Code, number: int) -> int:
    return number


def has_blas(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's BLAS can be called by address."""
    return _gemm(dtype) is not None


def _gemm(dtype: np.dtype[Any]) -> Any:
    letter = "s" if dtype == F32 else "d"
    return openblas.function(f"cblas_{letter}gemm", f"fffnnn{letter}pnpn{letter}pn")


def write_product(module: Module, product: Product, name: str, number: Callable[[Code, int], Any] = _as_it_is) -> None:
    """Add the function `product<name>(table)` to the module. `number` gives the text of a size in the code."""
    tiny = number is _as_it_is and 0 < product.m * product.n * product.k <= _TINY
    code = Code(module, 1)
    places = [code.put(f"load ptr, ptr {code.put(f'getelementptr ptr, ptr %table, i64 {slot}')}")
              for slot in product.slots]
    if tiny:
        _write_tiny(code, product, places)
    else:
        _write_call(code, product, places, number)
    module.functions[f"product{name}"] = code.function(f"internal void @product{name}(ptr %table)")


def _write_call(code: Code, product: Product, places: list[str], number: Callable[[Code, int], Any]) -> None:
    gemm = _gemm(product.dtype)
    if gemm is None:
        raise Unknown("NumPy's BLAS cannot be reached")
    address = ctypes.cast(gemm, ctypes.c_void_p).value
    kind, size = "float" if product.dtype == F32 else "double", f"i{np.dtype(openblas.size_dtype()).itemsize * 8}"
    m, n, k = [number(code, count) for count in (product.m, product.n, product.k)]
    if size != "i64":
        m, n, k = [code.put(f"trunc i64 {count} to {size}") if isinstance(count, str) else count for count in (m, n, k)]
    a, b = product.transposes
    values: list[tuple[str, Any]] = [
        ("i32", _ROWS), *[("i32", _TRANSPOSED if t else _AS_IT_IS) for t in (a, b)], (size, m), (size, n), (size, k),
        (kind, "1.0"), ("ptr", places[0]), (size, m if a else k), ("ptr", places[1]), (size, k if b else n),
        (kind, "0.0"), ("ptr", places[2]), (size, n)]
    code.do(f"call void inttoptr (i64 {address} to ptr)({', '.join([f'{type} {value}' for type, value in values])})")


def _write_tiny(code: Code, product: Product, places: list[str]) -> None:
    m, n, k, (a_turned, b_turned) = product.m, product.n, product.k, product.transposes
    wide = code.module.host.bits // 8 // product.dtype.itemsize
    numbers = {(i, p): _number(code, product, places[0], p * m + i if a_turned else i * k + p)
               for i in range(m) for p in range(k)}
    for start in range(0, n, wide):
        code.width = count = min(wide, n - start)
        rows = [_row(code, product, places[1], [
            j * k + p if b_turned else p * n + j for j in range(start, start + count)]) for p in range(k)]
        for i in range(m):
            total = _splat(code, product, numbers[i, 0]) * rows[0]
            for p in range(1, k):
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
