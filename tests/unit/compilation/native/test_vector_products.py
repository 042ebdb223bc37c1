"""Products with vectors and outer products in machine code: eager's numbers, in loops with what stands around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.execution.numpy_code import NumPyCode
from retrograd.compilation.native.machine_code import MachineCode

pytestmark = needs("llvmlite")

SIZES = (1, 1, 1, 2, 3, 5, 8, 17, 64)
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40)


def laid_out(rng: Any, shape: tuple[int, ...], dtype: Any, special: bool) -> Any:
    """A tensor of this shape: row by row, turned, with gaps, backwards in memory, or with repeated elements."""
    numbers = rng.standard_normal(shape).astype(dtype) * 4
    if special:
        numbers = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), numbers).astype(dtype)
    way = rng.integers(5)
    x = torch.tensor(numbers)
    if way == 1 and len(shape) > 1:
        return x.transpose(-1, -2).contiguous().transpose(-1, -2)
    if way == 2:
        return torch.stack([x, x * 2 + 1], -1)[..., 0]
    if way == 3 and len(shape) > 1:
        return x[..., :1, :].expand(shape)
    if way == 4 and len(shape) > 2:
        return x[:1].expand(shape)
    return x


def factors(rng: Any) -> tuple[str, Any, Any, float]:
    """The name of a product, its factors, and how many roundings a result may be off by."""
    name = str(rng.choice(["mm", "bmm", "mv", "dot", "matmul"]))
    count, m, n, k = (int(rng.choice(SIZES)) for _ in range(4))
    shapes: dict[str, Any] = {
        "mm": ((m, k), (k, n)), "bmm": ((count, m, k), (count, k, n)), "mv": ((m, k), (k,)), "dot": ((k,), (k,)),
        "matmul": [((k,), (k, n)), ((count, m, k), (k, n)), ((count, m, k), (k,)), ((k,), (count, k, n))][
            rng.integers(4)]}
    dtype = rng.choice(["f4", "f4", "f8", "i8"])
    special = bool(rng.random() < 0.4)
    x, y = [laid_out(rng, shape, dtype, special and dtype != "i8") for shape in shapes[name]]
    return name, x, y, 4 * k


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.sampled(4)
def test_products_as_eager(seed: int) -> None:
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        name, x, y, roundings = factors(rng)
        also = bool(rng.integers(2))

        def step(x: Any, y: Any) -> Any:
            product = getattr(torch, name)(x, y)
            return (product, (product + 1).clamp(-50, 50)) if also else (product,)

        compiled = torch.compile(step, backend="llvm", fullgraph=True, dynamic=False)
        for _ in range(3):
            for found, expected in zip(compiled(x, y), step(x, y), strict=True):
                compare(found, expected, x, y, roundings)


def compare(found: Any, expected: Any, x: Any, y: Any, roundings: float) -> None:
    """Equal but for roundings; zeros that are exact have the same sign."""
    assert (found.dtype, found.shape, found.stride()) == (expected.dtype, expected.shape, expected.stride())
    if not found.is_floating_point():
        np.testing.assert_array_equal(found.numpy(), expected.numpy())
        return
    sizes = [float(np.max(np.abs(z.numpy()), initial=0, where=np.isfinite(z.numpy()))) for z in (x, y)]
    off = roundings * float(np.finfo(found.numpy().dtype).eps) * (1 + sizes[0] * sizes[1])
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-5, atol=off)
    zeros = (found.numpy() == 0) & (expected.numpy() == 0)
    np.testing.assert_array_equal(np.signbit(found.numpy()[zeros]), np.signbit(expected.numpy()[zeros]))


@pytest.mark.parametrize("name", ["mm", "bmm", "matmul"])
def test_outer_products_have_no_negative_zeros(name: str) -> None:
    """A sum is never -0.0."""
    x, y = torch.tensor([[[-1.0], [2.0], [0.0]]] * 2), torch.tensor([[[0.0, -0.0, 1.0, -1.0]]] * 2)
    given = (x[0], y[0]) if name == "mm" else (x, y)
    compiled = torch.compile(getattr(torch, name), backend="llvm", fullgraph=True)
    for _ in range(3):
        found = compiled(*given)
        np.testing.assert_array_equal(found.numpy(), getattr(torch, name)(*given).numpy())
        assert not np.signbit(found.numpy()[found.numpy() == 0]).any()


def test_tiny_products_have_no_negative_zeros() -> None:
    compiled = torch.compile(torch.mm, backend="llvm", fullgraph=True)
    for _ in range(3):
        found = compiled(torch.full((4, 2), -0.0), torch.ones(2, 2)).numpy()
        assert not found.any()
        assert not np.signbit(found).any()


def made_by(step: Any, *args: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[NumPyCode, Any]:
    """The code of a compiled step, and its result."""
    made: list[MachineCode] = []
    begin = MachineCode.__init__

    def kept(self: MachineCode, *rest: Any) -> None:
        begin(self, *rest)
        made.append(self)

    monkeypatch.setattr(MachineCode, "__init__", kept)
    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    for _ in range(3):
        result = compiled(*args)
    code, = made
    return code, result


def test_a_hessian_is_one_native_call(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, x = torch.randn(16, 16), torch.randn(16)

    def step(x: Any) -> Any:
        return torch.func.hessian(lambda z: (z.sin() @ matrix @ z).tanh().sum())(x)

    code, found = made_by(step, x, monkeypatch=monkeypatch)
    assert len(code.natives) == 1
    assert code.text.count("\n") == 4, code.text            # the head, an address, the call, the result
    torch.testing.assert_close(found, step(x))


def test_outer_products_of_gradients_are_parts_of_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    weight, rows = torch.randn(4, 6), torch.randn(5, 6)

    def step(rows: Any) -> Any:
        return torch.func.vmap(torch.func.grad(lambda weight, row: (row @ weight.t()).sin().sum()), (None, 0))(
            weight, rows)

    code, found = made_by(step, rows, monkeypatch=monkeypatch)
    assert [*filter(lambda line: line.op.name == "bmm", code.program.lines)] == []
    torch.testing.assert_close(found, step(rows))


def test_wrong_targets_of_rows_raise() -> None:
    """The gradient by row needs no loss, so it must look at the targets itself."""
    def step(scores: Any, targets: Any) -> Any:
        return torch.func.vmap(torch.func.grad(
            lambda row, target: torch.nn.functional.cross_entropy(row[None], target[None])))(scores, targets)

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    scores = torch.randn(5, 4)
    for targets in ([0, 3, 1, 2, 2], [1, 0, -100, 2, 3], [-100] * 5, [3, 3, 3, 0, 0]):
        found, expected = compiled(scores, torch.tensor(targets)), step(scores, torch.tensor(targets))
        torch.testing.assert_close(found, expected, equal_nan=True)
    for targets in ([0, 4, 1, 2, 2], [0, 1, -1, 2, 2]):
        with pytest.raises(IndexError, match="out of bounds"):
            step(scores, torch.tensor(targets))
        compiled = torch.compile(step, backend="llvm", fullgraph=True)
        for _ in range(2):
            compiled(scores, torch.tensor([0, 3, 1, 2, 2]))
        with pytest.raises(IndexError, match="out of bounds"):
            compiled(scores, torch.tensor(targets))
