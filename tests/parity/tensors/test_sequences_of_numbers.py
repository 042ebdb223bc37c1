"""What functions make of sequences of tensors, arrays and numbers, for each dtype: the same as in PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from comparing.same_text import LIBRARIES

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool", "complex64", "complex128")
ARRAYS = (np.float32, np.float64, np.float16, np.int64, np.uint8, np.bool_, np.complex64)
WAYS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "tensor": lambda torch, data, dtype: torch.tensor(data, dtype=dtype),
    "as_tensor": lambda torch, data, dtype: torch.as_tensor(data, dtype=dtype),
    "asarray": lambda torch, data, dtype: torch.asarray(data, dtype=dtype),
    "new_tensor": lambda torch, data, dtype: torch.zeros(1).new_tensor(data, dtype=dtype),
    "sparse": lambda torch, data, dtype: torch.sparse_coo_tensor([[*range(len(data))]], data, dtype=dtype).to_dense(),
    "former": lambda torch, data, dtype: torch.DoubleTensor(data) if dtype == torch.float64 else torch.Tensor(data),
}


def sequences(torch: Any) -> Iterator[tuple[str, Any]]:
    """Sequences, and what they are."""
    for name in DTYPES:
        dtype = getattr(torch, name)
        one, two = torch.tensor(1, dtype=dtype), torch.tensor(2, dtype=dtype)
        yield f"tensors {name}", [one, two]
        yield f"nested tensors {name}", [[one], [two]]
        yield f"tensors of one number {name}", [one.view(1), two.view(1)]
        yield f"a tensor and numbers {name}", [one, 2, 2.5]
        yield f"a number and a tensor {name}", (2.5, one)
        yield f"tensors of two types {name}", [one, torch.tensor(1.5)]
        if dtype.is_floating_point or dtype.is_complex:
            yield f"a tensor that requires grad {name}", [one.clone().requires_grad_(), two]
    for kind in ARRAYS:
        yield f"arrays {kind.__name__}", [np.array([1, 2], kind), np.array([3, 4], kind)]
        yield f"numbers of NumPy {kind.__name__}", [kind(1), kind(2)]
        yield f"a number of NumPy and of Python {kind.__name__}", [kind(1), 2.5]
        yield f"arrays without dims {kind.__name__}", [np.array(1, kind), np.array(2, kind)]


def made(torch: Any, way: str, dtype: str | None) -> list[str]:
    """What a function makes of all sequences."""
    found = []
    for name, data in sequences(torch):
        try:
            result = WAYS[way](torch, data, None if dtype is None else getattr(torch, dtype))
            seen = f"{result.dtype} {[*result.shape]} {result.tolist()} {result.requires_grad} {result.is_leaf}"
        except (TypeError, ValueError, RuntimeError) as error:
            seen = f"{type(error).__name__}: {error}"
        found.append(f"{name}: {seen}".replace("retrograd", "torch"))
    return found


@pytest.mark.parametrize("dtype", [None, *DTYPES])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore")
def test_the_same_is_made_of_sequences(way: str, dtype: str | None) -> None:
    theirs, ours = [made(library, way, dtype) for library in LIBRARIES]
    assert ours == theirs
