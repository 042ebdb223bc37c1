"""torch.asarray and torch.from_dlpack: which memory, which history and which class the result has, as in PyTorch."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from comparing.same_text import same

OBJECTS: dict[str, Callable[[Any], Any]] = {
    "leaf": lambda torch: torch.tensor([1., 2.], requires_grad=True),
    "computed": lambda torch: torch.tensor([1., 2.], requires_grad=True) * 2,
    "plain": lambda torch: torch.tensor([1., 2.]),
    "ints": lambda torch: torch.tensor([1, 2]),
    "view": lambda torch: (torch.tensor([1., 2.], requires_grad=True) * 2)[:1],
    "view of a plain tensor": lambda torch: torch.ones(3)[:1],
    "expanded": lambda torch: torch.ones(1, requires_grad=True).expand(3),
    "detached": lambda torch: torch.ones(2, requires_grad=True).detach(),
    "complex": lambda torch: torch.ones(2, dtype=torch.complex64, requires_grad=True),
    "parameter": lambda torch: torch.nn.Parameter(torch.ones(2)),
    "subclass": lambda torch: torch.ones(2).as_subclass(type("Own", (torch.Tensor,), {})),
    "list": lambda torch: [1., 2.],
    "list of tensors": lambda torch: [torch.tensor(1., requires_grad=True), torch.tensor(2.)],
    "array": lambda torch: np.array([1., 2.]),
    "number of NumPy": lambda torch: np.float64(1.5),
    "number": lambda torch: 3.0,
    "buffer": lambda torch: bytearray(8),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_asarray(name: str) -> None:
    for dtype, copy, requires_grad in itertools.product((None, "float64", "int64"), (None, True, False),
                                                        ("no", None, True, False)):
        def case(torch: Any, dtype: Any = dtype, copy: Any = copy, requires_grad: Any = requires_grad) -> Any:
            given, options = OBJECTS[name](torch), {"copy": copy}
            if requires_grad != "no":
                options["requires_grad"] = requires_grad
            if dtype is not None:
                options["dtype"] = getattr(torch, dtype)
            result = torch.asarray(given, **options)
            shared = isinstance(given, torch.Tensor) and result.data_ptr() == given.data_ptr()
            return (type(result).__name__, result.requires_grad, result.is_leaf, result.dtype, result.tolist(),
                    result.grad_fn and result.grad_fn.name(), result is given, shared, result._is_view(),
                    isinstance(given, torch.Tensor) and given.requires_grad)

        same(case)


def _taken(torch: Any, tensor: Any) -> Any:
    """A tensor that another one's capsule makes, and what a write to it does."""
    capsule = torch.utils.dlpack.to_dlpack(tensor)
    result = torch.from_dlpack(capsule)
    del capsule
    gc.collect()
    result.mul_(2)
    return tensor.tolist(), result.tolist(), result.dtype, result.stride(), result.numpy().flags.writeable


class Older:
    """An array of a library that knows DLPack as it was before version 1."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "complex64"])
def test_capsules_share_memory_to_write_to(dtype: str) -> None:
    same(lambda torch: _taken(torch, torch.ones(3, dtype=getattr(torch, dtype))))


@pytest.mark.parametrize("case", [
    lambda torch: _taken(torch, torch.arange(6.).reshape(2, 3).t()),
    lambda torch: _taken(torch, torch.tensor(3.)),
    lambda torch: _taken(torch, torch.empty(0, 3)),
    lambda torch: (array := np.arange(3.), torch.from_dlpack(Older(array)).mul_(2), array.tolist())[1:],
    lambda torch: (array := np.arange(3.), torch.from_dlpack(array).mul_(2), array.tolist())[1:],
    lambda torch: (capsule := torch.utils.dlpack.to_dlpack(torch.ones(2)), torch.from_dlpack(capsule),
                   torch.from_dlpack(capsule)),
    lambda torch: torch.from_dlpack(3),
    lambda torch: torch.from_dlpack(torch.ones(2, requires_grad=True)),
])
def test_dlpack(case: Callable[[Any], Any]) -> None:
    same(case)


def test_memory_lives_as_long_as_the_tensor() -> None:
    def case(torch: Any) -> Any:
        result = torch.from_dlpack(torch.utils.dlpack.to_dlpack(torch.full((100_000,), 3.)))
        gc.collect()
        others = [torch.rand(100_000) for _ in range(5)]
        return result.sum().item(), len(others)

    same(case)


@pytest.mark.parametrize("options", [
    {}, {"device_type": "cuda"}, {"devices": [], "device_type": "cpu"}, {"device_type": "meta"}, {"devices": [0]},
    {"device_type": "nowhere"}, {"devices": range(0)}, {"devices": [0], "enabled": False}, {"enabled": False},
    {"devices": [0], "device_type": "cpu"}, {"device_type": "mps"}])
def test_fork_rng(options: dict[str, Any]) -> None:
    def case(torch: Any) -> Any:
        torch.manual_seed(0)
        with torch.random.fork_rng(**options):
            inside = torch.rand(1).item()
        return inside, torch.rand(1).item()

    same(case)
