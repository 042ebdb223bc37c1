"""Products of matrices some of whose sizes are set at run time: calls of NumPy's BLAS, by its address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...foundations.dtypes import F32
from ...kernels.native import door, openblas
from ..program.symbols import Extent
from .lanes import Code, Module, Unknown
from .products import Product
from .sized_writing import number_at

_ROWS, _TRANSPOSED, _AS_IT_IS = 101, 112, 111               # the values in <cblas.h>


class SizedProduct(NamedTuple):
    """A product that reads some of its sizes from the table, at `slot`."""

    product: Product
    slot: Callable[[Any], int]


def has_blas(dtype: np.dtype[Any]) -> bool:
    """Whether NumPy's BLAS can be called by address."""
    return _gemm(dtype) is not None


def _gemm(dtype: np.dtype[Any]) -> Any:
    letter = "s" if dtype == F32 else "d"
    return openblas.function(f"cblas_{letter}gemm", f"fffnnn{letter}pnpn{letter}pn")


def write_sized_product(module: Module, sized: SizedProduct, name: str) -> None:
    """Add the function `product<name>(table)` to the module."""
    product, code = sized.product, Code(module, 1)
    gemm = _gemm(product.dtype)
    if gemm is None:
        raise Unknown("NumPy's BLAS cannot be reached")
    address = door.ctypes.cast(gemm, door.ctypes.c_void_p).value
    kind, size = "float" if product.dtype == F32 else "double", f"i{np.dtype(openblas.size_dtype()).itemsize * 8}"
    x, y, out = [code.put(f"load ptr, ptr {code.put(f'getelementptr ptr, ptr %table, i64 {slot}')}")
                 for slot in product.slots]
    m, n, k = [_number(code, sized, count, size) for count in (product.m, product.n, product.k)]
    a, b = product.transposes
    values: list[tuple[str, Any]] = [
        ("i32", _ROWS), *[("i32", _TRANSPOSED if t else _AS_IT_IS) for t in (a, b)], (size, m), (size, n), (size, k),
        (kind, "1.0"), ("ptr", x), (size, m if a else k), ("ptr", y), (size, k if b else n), (kind, "0.0"),
        ("ptr", out), (size, n)]
    code.do(f"call void inttoptr (i64 {address} to ptr)({', '.join([f'{type} {value}' for type, value in values])})")
    module.functions[f"product{name}"] = code.function(f"internal void @product{name}(ptr %table)")


def _number(code: Code, sized: SizedProduct, count: int, size: str) -> int | str:
    """The text of a size, as an integer of this type."""
    if not isinstance(count, Extent):
        return count
    found = number_at(code, sized.slot(count.expression))
    return found if size == "i64" else code.put(f"trunc i64 {found} to {size}")
