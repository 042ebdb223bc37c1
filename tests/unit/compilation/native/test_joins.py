"""Joins and the gradients of slices in machine code: the same bits, in one native call with what stands around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation.native.machine_code import MachineCode

pytestmark = needs("llvmlite")

JOINS: dict[str, Any] = {
    "cat": lambda x, y: torch.cat([x * 2, y, x + y], 1),
    "cat of the first dim": lambda x, y: torch.cat([x, y.neg()]),
    "cat of one array twice": lambda x, y: torch.cat([x, x], -1) + 1,
    "stack": lambda x, y: torch.stack([x + y, y, x], 1),
    "stack at the end": lambda x, y: torch.stack([x, y * x], -1),
    "cat of a turned array": lambda x, y: torch.cat([x.t(), y.t()]) * 3,
    "cat of parts": lambda x, y: torch.cat([x[:, 1:], y[:, :2]], 1).chunk(2, 1)[0] * y[:, :3],
    "cat with an empty array": lambda x, y: torch.cat([x, y[:, :0]], 1) * 2,
    "cat of doubles and floats": lambda x, y: torch.cat([x.double(), y]),
    "stack of integers": lambda x, y: torch.stack([x.long(), y.long()]) + 1,
    "a join of joins": lambda x, y: torch.cat([torch.stack([x, y]), torch.stack([y, x])], 2),
    "a join that is written to": lambda x, y: torch.cat([x, y]).mul_(2).add_(1),
    "a large join": lambda x, y: torch.cat([x] * 2000) + 1,
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", JOINS)
def test_joins_have_eagers_bits(name: str) -> None:
    def step(x: Any, y: Any) -> Any:
        result = JOINS[name](x, y)
        if not result.is_floating_point():
            return (result,)
        return (result.detach(), *torch.autograd.grad((result * result.detach()).sum(), (x, y), allow_unused=True))

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    numbers = np.random.default_rng(0)
    for _ in range(3):
        x, y = (torch.tensor(numbers.standard_normal((3, 4)), dtype=torch.float32).requires_grad_() for _ in range(2))
        for found, expected in zip(compiled(x, y), step(x, y), strict=True):
            assert (found is None) == (expected is None)
            if found is not None:
                np.testing.assert_array_equal(found.numpy(), expected.numpy())
                assert (found.stride(), found.dtype) == (expected.stride(), expected.dtype)


def test_a_recurrent_step_is_one_native_call(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[MachineCode] = []
    begin = MachineCode.__init__

    def kept(self: MachineCode, *rest: Any) -> None:
        begin(self, *rest)
        made.append(self)

    monkeypatch.setattr(MachineCode, "__init__", kept)
    cell = torch.nn.Linear(16, 16)

    def step(x: Any, h: Any) -> Any:
        results = []
        for t in range(4):
            a, b = cell(torch.cat([x[t], h], 1)).chunk(2, 1)
            h = a.sigmoid() * b.tanh()
            results.append(h)
        loss = torch.stack(results).pow(2).sum()
        return (loss.detach(), *torch.autograd.grad(loss, [*cell.parameters()]))

    compiled = torch.compile(step, backend="llvm", fullgraph=True)
    x, h = torch.randn(4, 5, 8), torch.zeros(5, 8)
    for _ in range(3):
        for found, expected in zip(compiled(x, h), step(x, h), strict=True):
            torch.testing.assert_close(found, expected)
    assert len(made) == 1
    assert len(made[0].natives) == 1
