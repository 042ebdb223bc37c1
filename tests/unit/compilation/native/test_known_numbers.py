"""Single numbers that are the same in each run stand in machine code, and numbers that change do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.native import lanes
from retrograd.compilation.native.lowered import numbers_known
from retrograd.compilation.program.lines import Line, Program, Ref, Value
from retrograd.ops.elementwise import arithmetic

pytestmark = needs("llvmlite")

captured = torch.tensor(3.0)


def written(x: Any) -> Any:
    total = torch.tensor(0.5)
    before = x * total
    total.add_(x.sum())
    return before, x * total, total


def captured_and_changed(x: Any) -> Any:
    return x / captured + captured, captured * 2


def in_a_loop(x: Any) -> Any:
    total = torch.zeros(())
    for row in x:
        total += row.sum() / 2
    return total, x - total


STEPS: dict[str, Any] = {
    "written": written, "captured": captured_and_changed, "in a loop": in_a_loop,
    "numbers": lambda x: (x / 2, x / 3, x / -4.0, x / 1e-40, 2 / x, x * -0.0, x - np.inf, x * np.nan),
    "bools": lambda x: torch.where(torch.tensor(True), x, -x),
    "integers": lambda x: (x.long() + torch.tensor(3)) * torch.tensor(2),
    "only numbers": lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 2, 1]), reduction="sum"),
    "sums": lambda x: (x + torch.tensor(2.0).expand(3, 4)).sum(0) / torch.tensor(8.0, dtype=torch.float64),
}


@pytest.mark.parametrize("name", STEPS)
def test_numbers_as_eager(name: str) -> None:
    compiled = torch.compile(STEPS[name], backend="llvm", fullgraph=True)
    rng = np.random.default_rng(0)
    for turn in range(4):
        x = torch.tensor((rng.standard_normal((3, 4)) * 10.0 ** rng.integers(-3, 3)).astype("f4"))
        if name == "captured":
            captured.fill_(float(turn + 1))
        found, expected = compiled(x), STEPS[name](x)
        for one, other in zip(*[each if isinstance(each, tuple) else (each,) for each in (found, expected)],
                              strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


EDGES = [np.nan, np.inf, -np.inf, -0.0, 1.75, -1.75, 2.0**31, 2.0**31 - 0.5, -2.0**31 - 0.5, 2.0**63, -2.0**63, 1e30]
CASTS: dict[str, Any] = {
    "of the argument": lambda x, dtype: (x + 0.0).to(dtype), "of a known nan": lambda x, dtype: (x * np.nan).to(dtype),
    "of a choice": lambda x, dtype: torch.where(x > 1, np.nan, x).to(dtype)}


@pytest.mark.parametrize("name", CASTS)
@pytest.mark.parametrize("target", [torch.int32, torch.int64])
@pytest.mark.parametrize("source", [torch.float32, torch.float64])
def test_floats_that_are_no_integers(source: Any, target: Any, name: str) -> None:
    compiled = torch.compile(CASTS[name], backend="llvm", fullgraph=True)
    for repeats in (1, 1, 1, 4000):
        x = torch.tensor(EDGES, dtype=torch.float64).to(source).repeat(repeats)
        assert torch.equal(compiled(x, target), CASTS[name](x, target))


def test_floats_that_are_no_integers_for_arm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "is_x86", lambda: False)
    compiled = torch.compile(lambda x: (x + 0.0).to(torch.int32), backend="llvm", fullgraph=True)
    x, least, most = torch.tensor(EDGES, dtype=torch.float64), -2**31, 2**31 - 1
    compiled(x)                                            # without machine code
    assert compiled(x).tolist() == [0, most, least, 0, 1, -1, most, most, least, most, least, most]


def test_numbers_that_something_may_change_are_not_known() -> None:
    """Of five values: one is given, one is written, one is an array, one is from outside; the last is known."""
    shapes: list[tuple[int, ...]] = [(), (), (1,), (), ()]
    values = [Value(i, np.zeros(shape, "f4"), i, "outside" if i == 3 else "constant") for i, shape in enumerate(shapes)]
    line = Line(arithmetic.add, arithmetic.add.compute, (Ref(1), Ref(0)), (), False, True, None)
    assert numbers_known(Program(values, [line], [0], []), [0]) == {4}
