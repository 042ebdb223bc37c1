"""The list of passes: each plan goes through them in this order, and the explanation says what they have left."""

from __future__ import annotations

import pytest

import retrograd as torch
from needing import needs
from retrograd.compilation import explaining
from retrograd.compilation.compiled import Compiled
from retrograd.compilation.execution.plan import Plan
from retrograd.compilation.passes.order import PASSES, Work
from retrograd.compilation.sized.plans import SizedPlan

NAMES = [each.name for each in PASSES]


def scaled(x: torch.Tensor) -> torch.Tensor:
    ones = torch.ones(3)
    unused = x.exp()
    del unused
    y = torch.cat([(x * ones).softmax(0), x.clone()])
    return y.mean() + x.sin() + x.sin()


def explained(monkeypatch: pytest.MonkeyPatch, native: bool) -> explaining.Explanation:
    monkeypatch.setattr(explaining, "native", lambda backend: native)
    return torch.compile.explain(scaled, torch.arange(3.))


def test_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    found = explained(monkeypatch, False)
    others = ("networks", "attention", "joins", "products")
    assert [*found.passes[0]] == ["traced", *[name for name in NAMES if name not in others]]
    assert "lines traced" in str(found)
    assert f"{found.passes[0]['loops']} units after loops" in str(found)


@pytest.mark.parametrize("name", ["constants", "formulas", "detours", "repeats", "unused"])
def test_each_pass_changes_the_number_of_lines(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = explained(monkeypatch, False)
    left = [*found.passes[0].items()]
    place = [each for each, _ in left].index(name)
    assert left[place][1] != left[place - 1][1]
    assert f"{left[place][1]} after {name}" in str(found)


@needs("llvmlite")
def test_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    left = explained(monkeypatch, True).passes[0]
    assert [*left] == ["traced", *[name for name in NAMES if name != "stacks"]]
    assert left["formulas"] < left["networks"] < left["joins"]


def test_plans_for_all_sizes_are_not_stacked(monkeypatch: pytest.MonkeyPatch) -> None:
    works: list[Work] = []
    make = SizedPlan.__init__

    def noted(self: SizedPlan, *args: object) -> None:
        run = Work.run
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Work, "run", lambda work, late: (works.append(work), run(work, late)))
            make(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(SizedPlan, "__init__", noted)
    compiled = Compiled(lambda x: (x * 2 + 1).mean() + x, False, "numpy", 8, True)
    for size in (3, 5, 7, 11):
        compiled(torch.ones(size))
    assert {*[name for work in works for name in work.left]} == {"traced", *NAMES} - {
        "equal constants", "release", "networks", "attention", "joins", "products", "stacks"}


def test_passes_that_wait_run_when_the_plan_does(monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []
    make = Plan.__init__

    def noted(self: Plan, work: Work) -> None:
        plans.append(self)
        make(self, work)

    monkeypatch.setattr(Plan, "__init__", noted)
    compiled = Compiled(scaled, False, "numpy", 8, None)
    compiled(torch.arange(3.))
    plan, = plans
    late = {each.name for each in PASSES if each.late}
    assert late.isdisjoint(plan.work.left)
    left = plan.work.left
    compiled(torch.arange(3.))
    assert {"loops", "stacks"} == late & left.keys()
    assert not hasattr(plan, "work")                         # a plan that runs lets go of it
