"""Compiled functions that are called with one batch after the other."""

from __future__ import annotations

from typing import Any

import pytest

import retrograd as torch


@pytest.mark.parametrize("kind", [tuple, list, lambda batch: dict(zip("xy", batch))])
def test_batches_of_a_list_that_the_step_reaches(kind: Any) -> None:
    batches = [kind((torch.full((3,), float(k)), torch.ones(3))) for k in range(6)]

    def step(batch: Any) -> Any:
        x, y = batch.values() if isinstance(batch, dict) else batch
        return (x * y).sum() / len(batches)

    def step_of_two(x: Any, y: Any) -> Any:
        x.add_(1)
        return (x * y).sum() / len(batches), x

    compiled, of_two = torch.compile(step, fullgraph=True), torch.compile(step_of_two, fullgraph=True)
    for _ in range(2):
        assert [compiled(batch).item() for batch in batches] == [step(batch).item() for batch in batches]
        for batch in batches:
            x, y = batch.values() if isinstance(batch, dict) else batch
            version, total = x._version, (x + 1).sum().item()
            result, same = of_two(x, y)
            assert same is x
            assert (result.item() * len(batches), x._version) == (pytest.approx(total), version + 1)
    for function in (compiled, of_two):
        run = next(cell.cell_contents for cell in function.__closure__ if hasattr(cell.cell_contents, "run")).run
        assert len(run.entries) == 1


def test_a_list_of_batches_that_the_step_also_reads() -> None:
    batches = [torch.full((3,), float(k)) for k in range(4)]

    def step(x: Any) -> Any:
        x.mul_(2)
        return x - batches[1]

    expected = [[-1.0] * 3, [0.0] * 3, [2.0] * 3, [4.0] * 3]
    compiled = torch.compile(step, fullgraph=True)
    assert [compiled(x).tolist() for x in batches] == expected
    assert [compiled(x / 2).tolist() for x in batches] == [[k] * 3 for k in (-2.0, 0.0, 2.0, 4.0)]
    box: list[Any] = [torch.arange(9.0).reshape(3, 3).clone()]

    def turn(x: Any) -> None:
        x.t_()
        x.note = len(box)

    with pytest.warns(UserWarning, match="runs turn as it is"):
        torch.compile(turn)(box[0])
    assert (box[0].stride(), box[0].note) == ((1, 3), 1)


def test_of_many_shapes_only_the_guard_of_the_shape_is_asked() -> None:
    compiled, asked = torch.compile(lambda x: x.sin().sum(), dynamic=True), []
    for _ in range(2):
        for size in range(2, 8):
            compiled(torch.ones(size))
    run = next(cell.cell_contents for cell in compiled.__closure__ if hasattr(cell.cell_contents, "run")).run
    for guard, _ in run.entries:
        guard.check = lambda *args, check=guard.check: asked.append(check(*args)) or asked[-1]
    for size in (5, 2, 7, 2):
        x = torch.rand(size)
        assert torch.allclose(compiled(x), x.sin().sum())
    assert [type(answer) for answer in asked] == [list] * 4
