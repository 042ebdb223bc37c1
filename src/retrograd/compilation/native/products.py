"""Small matrix products inside of a native function: in tiles, or as straight code for tiny ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F32
from .lanes import Code, Lanes, Module, fused
from .tiles import write_tiled
from .vector_math import shuffled

# Up to this many multiplications a product is straight code.
_TINY = 512


class Product(NamedTuple):
    """out = a @ b, for an (m, k) and a (k, n) matrix. `slots` are those of a, b and out, which lie row by row.

    `transposes` says of a and b whether their memory holds the transposed matrix, row by row. `dtype` is float32 or
    float64. No dim is 0. A product adds along k one after the other, in blocks of 256 terms, rounding once for each
    term if the machine can.
    """

    slots: tuple[int, int, int]
    m: int
    n: int
    k: int
    transposes: tuple[bool, bool]
    dtype: np.dtype[Any]


def write_product(module: Module, product: Product, name: str) -> None:
    """Add the function `product<name>(table)` to the module."""
    code = Code(module, 1)
    places = [code.put(f"load ptr, ptr {code.put(f'getelementptr ptr, ptr %table, i64 {slot}')}")
              for slot in product.slots]
    if product.m * product.n * product.k <= _TINY:
        _write_tiny(code, product, places)
    else:
        tiled = write_tiled(module, (product.m, product.n, product.k), product.transposes, product.dtype)
        code.do(f"call void @{tiled}({', '.join([f'ptr {place}' for place in places])})")
    module.functions[f"product{name}"] = code.function(f"internal void @product{name}(ptr %table)")


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
