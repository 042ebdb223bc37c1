"""torch.utils.flop_counter: counts for each module, and their table. Facts taken from PyTorch 2.13."""

from typing import Any

import pytest

import retrograd as torch
from retrograd.utils import flop_counter
from retrograd.utils.flop_counter import FlopCounterMode, aten, register_flop_formula

nn, functional = torch.nn, torch.nn.functional


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Linear(3, 4)
        self.b = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x: Any) -> Any:
        return self.b(self.a(x))


def test_the_table_shows_modules_and_operators(capsys: pytest.CaptureFixture[str]) -> None:
    model = Model()
    with FlopCounterMode(depth=2) as counter:
        model(torch.ones(5, 3)).sum().backward()
    assert capsys.readouterr().out.splitlines() == [
        "Module          FLOP    % Total",
        "------------  ------  ---------",
        "Model            960    100.00%",
        "- aten.addmm     360     37.50%",
        "- aten.mm        600     62.50%",
        "Model.a          240     25.00%",
        "- aten.addmm     120     12.50%",
        "- aten.mm        120     12.50%",
        "Model.b          720     75.00%",
        "- aten.addmm     240     25.00%",
        "- aten.mm        480     50.00%"]
    assert counter.get_table(1).splitlines()[2:] == [
        "Model            960    100.00%", "- aten.addmm     360     37.50%", "- aten.mm        600     62.50%"]
    assert {str(key): number for key, number in counter.get_flop_counts()["Model.b.2"].items()} == {
        "aten.addmm": 80, "aten.mm": 160}


def test_work_outside_of_modules_is_global() -> None:
    model = Model()
    with FlopCounterMode(display=False) as counter:
        model(torch.ones(5, 3))
        torch.ones(2000, 300) @ torch.ones(300, 4000)
    lines = counter.get_table(1).splitlines()
    assert lines[2:4] == ["Global        4800.000M    100.00%", "- aten.addmm     0.000M      0.00%"]
    with FlopCounterMode(display=False) as counter:
        torch.ones(3) + 1
    assert counter.get_table().splitlines() == [
        "Module      FLOP    % Total", "--------  ------  ---------", "Global         0         0%"]


def test_convolutions_forward_and_backward() -> None:
    with FlopCounterMode(display=False) as counter:
        x, w = torch.ones(2, 4, 8, 7, requires_grad=True), torch.ones(6, 2, 3, 3, requires_grad=True)
        functional.conv2d(x, w, groups=2, padding=1).sum().backward()
    assert {str(key): number for key, number in counter.get_flop_counts()["Global"].items()} == {
        "aten.convolution": 24192, "aten.convolution_backward": 72576}


def test_counters_and_profiles_inside_each_other() -> None:
    x = torch.ones(3, 3)
    with FlopCounterMode(display=False) as outer:
        x @ x
        with FlopCounterMode(display=False) as inner:
            x @ x
        with torch.autograd.profiler.profile() as prof:
            x @ x
    assert (outer.get_total_flops(), inner.get_total_flops()) == (3 * 54, 54)
    assert [event.name for event in prof.function_events] == ["aten::matmul", "aten::mm"]
    with torch.autograd.profiler.profile() as prof, FlopCounterMode(display=False) as inner:
        (x.requires_grad_() @ x).sum().backward()
    assert inner.get_total_flops() == 3 * 54
    assert "MmBackward0" in [event.name for event in prof.function_events]
    assert torch.autograd.profiler.profile().function_events == []


def test_formulas_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flop_counter, "flop_registry", {})

    @register_flop_formula(aten.exp)
    def exp_flop(shape: Any, out_shape: Any = None) -> int:
        return 10 * shape[0] + out_shape[0]

    with FlopCounterMode(display=False, custom_mapping={aten.add: lambda *args, out_shape: len(out_shape)}) as counter:
        torch.ones(3).exp() + torch.ones(1)
    assert counter.get_total_flops() == 34
    with pytest.raises(RuntimeError, match="duplicate registrations for aten.exp"):
        register_flop_formula([aten.exp])(exp_flop)
    with pytest.raises(ValueError, match=r"register_flop_formula\(targets\): expected each target to be"):
        register_flop_formula(["exp"])(exp_flop)


def test_wrong_uses() -> None:
    with pytest.warns(UserWarning, match="mods argument is not needed anymore, you can stop passing it"):
        FlopCounterMode(Model())
    counter = FlopCounterMode(display=False)
    with counter, pytest.raises(RuntimeError, match="FlopCounterMode is already open"):
        counter.__enter__()
    with pytest.raises(AssertionError, match=r"matmul: inner dimensions must match \(k == k2\), got 3 and 2"):
        flop_counter.mm_flop((2, 3), (2, 3))
