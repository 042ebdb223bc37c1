"""The explorer's page of two passes, one beside the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import retrograd as torch
from programs.explored import explored, opened
from retrograd import nn, viz
from showing.browsers import Browser


def network(kind: Any) -> Any:
    """A pass through two layers with a function between them."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 6), kind(), nn.Linear(6, 3))
    x = torch.randn(8, 5)
    return viz.explore(lambda: model(x).square().mean(), params=model)


@pytest.fixture(scope="module")
def both(folder: Path) -> Any:
    found = network(nn.Sigmoid).beside(network(nn.Tanh), ("after", "before"))
    found.save(folder / "both.html")
    return found


def number_in(found: Any, name: str) -> int:
    return next(int(node["id"]) for node in found.document["nodes"] if name in (node["label"], node["name"]))


def test_what_differs_is_marked_and_listed(shown: Browser, folder: Path, both: Any) -> None:
    opened(shown, folder, "both", height=1400)
    text = shown.text("#about section")
    assert "after beside before" in text
    assert f"{both.document['beside']['differing']} gradients of 11 differ." in text
    assert text[text.index("Only in after"):].splitlines()[1] == "SigmoidBackward0"
    assert text[text.index("Only in before"):].splitlines()[1:] == ["TanhBackward0", "[8, 6]"]
    sigmoid, mean = (f"[data-key=n{number_in(both, name)}]" for name in ("SigmoidBackward0", "MeanBackward0"))
    assert shown.texts(f"{sigmoid} .flag text") == ["only after"]
    assert shown.texts(f"{mean} .flag text") == []
    bias = next(node for node in both.document["nodes"] if node["label"] == "2.bias")
    shown.click(f"[data-key=n{bias['id']}]")
    (flag,) = shown.texts(f"[data-key=n{bias['id']}] .flag text")
    assert float(flag.removeprefix("≠").removesuffix("%")) == pytest.approx(100 * bias["change"], rel=0.05)
    assert not shown.complaints


def test_the_gradients_stand_side_by_side(shown: Browser, folder: Path, both: Any) -> None:
    bias = next(node for node in both.document["nodes"] if node["label"] == "2.bias")
    opened(shown, folder, "both", f"#node={bias['id']}")
    rows = dict(shown.each("#about .both tbody tr", "[one.cells[0].textContent, [one.cells[1], one.cells[2]].map("
                           "(cell) => cell.textContent)]"))
    for key in ("norm", "min", "max"):
        assert [float(text) for text in rows[key]] == pytest.approx(
            [bias["gradient"][key], bias["other"]["gradient"][key]], rel=1e-3)
    numbers = "[...one.querySelectorAll('td')].map((cell) => Number(cell.textContent))"
    halves = shown.each("#about .halves > div", numbers)
    assert halves[0] == pytest.approx(bias["picture"]["values"], rel=5e-3)
    assert halves[1] == pytest.approx(bias["other"]["picture"]["values"], rel=5e-3)
    places = shown.each("#about .halves > div", "one.getBoundingClientRect().top")
    assert places[0] == places[1]


def test_change_is_a_color_of_such_pages_only(shown: Browser, folder: Path, both: Any) -> None:
    opened(shown, folder, "both")
    shown.click("[value=change] + span")
    assert shown.text("#scale p") == "Difference of the two gradients"
    assert shown.texts("#scale .key") == ["0"]
    assert "color=change" in shown.address
    opened(shown, folder, "mlp")
    assert not shown.driver.find_element("css selector", "[value=change] + span").is_displayed()
    assert "beside" not in explored("mlp").document


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_nothing_for_axe_to_find(shown: Browser, folder: Path, both: Any, width: int, dark: bool) -> None:
    node = number_in(both, "2.bias")
    opened(shown, folder, "both", f"#node={node}", width=width, dark=dark)
    assert shown.faults() == []
    assert shown.value("document.documentElement.scrollWidth") <= width
    assert max(shown.each("body > :not(.skip) button, input", "one.getBoundingClientRect().right")) <= width
