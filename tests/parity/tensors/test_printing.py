"""What tensors print, against real PyTorch: random arrays, options, suffixes, default types and wrappers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from retrograd.foundations import dtypes
from retrograd.tensors.face import printing

SEEDS = range(8)
ARRAYS_A_SEED = 500
NAMES = ["float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "bool"]
UNSIGNED = ["uint16", "uint32", "uint64"]  # types of PyTorch that retrograd has none for; their texts are the same
PIVOTS = [0.0, -0.0, 1.0, 1000.0, 1000.5, 1001.0, 9.99999, 99999.5, 1e8, 1e8 + 1, 1e-4, 9.9999e-5, 0.00012345, 1e-300]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]

Options = dict[str, Any]


@pytest.fixture(autouse=True)
def _defaults_restored() -> Iterator[None]:
    yield
    set_both(profile="default")
    torch.set_default_dtype(torch.float32)
    dtypes.set_default_dtype(dtypes.float32)


def set_both(**options: Any) -> None:
    torch.set_printoptions(**options)
    printing.set_printoptions(**options)


def shape_of(rng: np.random.Generator) -> tuple[int, ...]:
    if rng.random() < 0.3:
        return (int(rng.integers(0, 70)),)
    smallest = 0 if rng.random() < 0.1 else 1
    return tuple(int(size) for size in rng.integers(smallest, 10, rng.integers(0, 5)))


def floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    kinds: list[Callable[[], Any]] = [
        lambda: rng.normal(size=shape) * 10.0 ** rng.integers(-8, 9),
        lambda: rng.normal(size=shape) * 10.0 ** rng.uniform(-4, 4, shape),
        lambda: rng.integers(-(10 ** rng.integers(1, 10)), 10 ** rng.integers(1, 10), shape).astype(float),
        lambda: rng.choice(PIVOTS, shape) * rng.choice([-1, 1], shape),
        lambda: rng.integers(0, 2**64, shape, dtype=np.uint64).view(np.float64),
        lambda: rng.uniform(1, 2) * rng.uniform(0.999, 1000.001, shape),
    ]
    values = np.asarray(kinds[rng.integers(len(kinds))]())
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < rng.uniform(0, 1), rng.choice(SPECIAL, shape), values)
    return values


def array_of(rng: np.random.Generator, name: str) -> np.ndarray[Any, Any]:
    shape, dtype = shape_of(rng), np.dtype(name)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < rng.choice([0, 0.5, 1]))
    if dtype.kind in "iu":
        info, bits = np.iinfo(dtype), int(rng.integers(1, 8 * dtype.itemsize + 1))
        low, high = max(info.min, -(2**bits)), min(info.max, 2**bits)
        return np.asarray(rng.integers(low, high, shape, dtype=dtype, endpoint=True))
    with np.errstate(all="ignore"):
        if dtype.kind == "c":
            values = np.empty(shape, dtype)
            values.real, values.imag = floats(rng, shape), floats(rng, shape)
            return values
        if rng.random() < 0.1:  # every bit pattern, among them the tiniest numbers and all kinds of nan
            return rng.integers(0, 256, (*shape, dtype.itemsize), dtype=np.uint8).view(dtype)[..., 0]
        return floats(rng, shape).astype(dtype)


def options_of(rng: np.random.Generator) -> Options:
    if rng.random() < 0.3:
        return {"profile": str(rng.choice(["default", "short", "full"]))}
    return {
        "precision": int(rng.integers(0, 12)),
        "threshold": float(rng.choice([0, 5, 20, 100, 1000, np.inf])),
        "edgeitems": int(rng.integers(0, 5)),
        "linewidth": int(rng.integers(0, 160)),
        "sci_mode": rng.choice([None, True, False]),
    }


def made_by(name: str) -> Any:
    """A function of PyTorch's autograd that changes nothing, and whose node has this name and `Backward`."""
    return type(name, (torch.autograd.Function,), {"forward": staticmethod(lambda context, x: x.clone())})


def both(array: np.ndarray[Any, Any], grad_fn_length: int | None) -> tuple[str, str]:
    """(the text of retrograd, that of PyTorch) for this array; with a history if the length of its name is given."""
    tensor = torch.from_numpy(array.copy())
    if grad_fn_length is None or array.dtype.kind not in "fc":
        return printing.repr_of(array), repr(tensor)
    tensor.requires_grad_()
    if grad_fn_length == 0:
        return printing.repr_of(array, requires_grad=True), repr(tensor)
    made = made_by("N" * grad_fn_length).apply(tensor)
    return printing.repr_of(array, requires_grad=True, grad_fn_name=type(made.grad_fn).__name__), repr(made)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_arrays_under_the_default_options(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(ARRAYS_A_SEED):
        array = array_of(rng, str(rng.choice(NAMES)))
        ours, theirs = both(array, int(rng.integers(0, 40)) if rng.random() < 0.4 else None)
        assert ours == theirs, repr(array)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_arrays_under_random_options_and_default_types(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(ARRAYS_A_SEED):
        options, array = options_of(rng), array_of(rng, str(rng.choice(NAMES)))
        set_both(**options)
        default = str(rng.choice(["float16", "float32", "float64"]))
        torch.set_default_dtype(getattr(torch, default))
        dtypes.set_default_dtype(getattr(dtypes, default))
        ours, theirs = both(array, int(rng.integers(0, 40)) if rng.random() < 0.4 else None)
        assert ours == theirs, f"{array!r} under {options}, default {default}"


@pytest.mark.parametrize("name", UNSIGNED)
def test_integers_of_a_type_that_only_the_text_knows(name: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        array = array_of(rng, name)
        ours = printing.format_tensor(array, dtype_name=f"torch.{name}", show_dtype=True)
        assert ours == repr(torch.from_numpy(array.copy())), repr(array)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sequence_of_settings_leaves_the_same_options(seed: int) -> None:
    rng = np.random.default_rng(200 + seed)
    private: Any = torch._tensor_str  # PyTorch reads its options back only here
    for _ in range(50):
        options = {name: value for name, value in options_of(rng).items() if rng.random() < 0.6}
        if rng.random() < 0.3:
            options["profile"] = str(rng.choice(["default", "short", "full", "unheard of"]))
        set_both(**options)
        assert printing.get_printoptions() == private.get_printoptions()
        with printing.printoptions(**options), private.printoptions(**options):
            assert printing.get_printoptions() == private.get_printoptions()
        assert printing.get_printoptions() == private.get_printoptions()


def test_parameters() -> None:
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    ours = printing.parameter_text(printing.repr_of(array, requires_grad=True))
    assert ours == repr(torch.nn.Parameter(torch.from_numpy(array)))


def test_a_subclass_is_named() -> None:
    class Measured(torch.Tensor):  # type: ignore[misc]
        pass

    array = np.arange(60, dtype=np.float64).reshape(2, 30)
    assert printing.repr_of(array, prefix="Measured(") == repr(torch.from_numpy(array).as_subclass(Measured))
