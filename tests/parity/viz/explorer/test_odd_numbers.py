"""The explorer's page of passes with complex numbers, empty tensors, saved NaN, and equal norms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

import retrograd as torch
from programs.explored import opened
from retrograd import viz
from showing.browsers import Browser


class Saving(torch.autograd.Function):
    """A Function that saves a NaN, which no operation of the program has made."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(torch.tensor([float("nan"), 1.0]))
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2


def loss(leaves: dict[str, Any]) -> Any:
    z, empty, x = leaves.values()
    return (z * z).abs().sum() + (empty * 2).relu().sum() + Saving.apply(x).sum()


@pytest.fixture(scope="module")
def odd(folder: Path) -> dict[str, int]:
    """The numbers of the nodes of a pass, by their labels; the page is `odd.html`."""
    torch.manual_seed(0)
    leaves = {"z": torch.randn(2, 4, dtype=torch.complex128, requires_grad=True),
              "empty": torch.randn(0, 3, requires_grad=True), "x": torch.ones(2, requires_grad=True)}
    found = viz.explore(lambda: loss(leaves), params=leaves)
    found.save(folder / "odd.html")
    return {node["label"]: node["id"] for node in found.document["nodes"]}


def test_numbers_stay_in_their_boxes(shown: Browser, folder: Path, odd: dict[str, int]) -> None:
    opened(shown, folder, "odd", "#open=all")
    wide = ("[...document.querySelectorAll('#boxes .box')].filter((box) => [...box.querySelectorAll('.few')].some("
            "(line) => line.getBoundingClientRect().width > box.querySelector('.body').getBoundingClientRect().width))")
    assert shown.value(f"{wide}.length") == 0
    lines = shown.each(f"[data-key=n{odd['z']}] .few", "one.textContent")
    assert all(line.count("j") in (1, 2) for line in lines)
    assert sum(line.count("j") for line in lines) == 8


def test_statistics_of_complex_numbers_say_what_they_are_of(shown: Browser, folder: Path, odd: dict[str, int]) -> None:
    opened(shown, folder, "odd", f"#node={odd['z']}")
    assert "their absolute values" in shown.text("#about")
    opened(shown, folder, "odd", f"#node={odd['x']}")
    assert "their absolute values" not in shown.text("#about")


def test_an_empty_gradient_has_not_vanished(shown: Browser, folder: Path, odd: dict[str, int]) -> None:
    opened(shown, folder, "odd")
    assert "zeros" not in shown.text("#about section")
    assert "vanished" not in shown.text("#about section")
    assert shown.each(f"[data-key=n{odd['empty']}] .note", "one.textContent.trim()") == ["[0, 3]"]


def test_a_node_with_a_saved_nan_is_named(shown: Browser, folder: Path, odd: dict[str, int]) -> None:
    opened(shown, folder, "odd")
    assert shown.text("#about .alarm") == "NaN or infinity in 1 node:\nSavingBackward"


def test_equal_norms_have_one_key(shown: Browser, folder: Path) -> None:
    x = torch.ones((), requires_grad=True)
    viz.explore((x * 1 + 0) * 1, params={"x": x}).save(folder / "equal.html")
    opened(shown, folder, "equal")
    assert shown.texts("#scale .key") == ["1"]
    assert shown.texts("#scale .ramp") == []
    assert shown.texts("#about .chart .axis span") == ["1", ""]


def test_the_walk_folds_nothing_that_the_user_unfolded(page: Any) -> None:
    shown = page("unrolled")
    shown.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    shown.press("u", *[Keys.ARROW_RIGHT] * 8)
    assert shown.value("state.open.size === model.groups.length")
