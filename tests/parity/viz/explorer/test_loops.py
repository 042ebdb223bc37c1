"""Loops and large graphs on the explorer's page: what fits, what stepping opens, what a search tells apart."""

from __future__ import annotations

import re
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from programs.explored import explored

FITS = """((view) => view.x >= 0 && view.y >= 0 && view.x + scene.width * view.k <= graph().clientWidth
  && view.y + scene.height * view.k <= graph().clientHeight)(state.view)"""


@pytest.mark.parametrize("name", ["mlp", "unrolled", "large", "long_chain"])
@pytest.mark.parametrize("address", ["", "#open=all", "#open=all&direction=right"])
@pytest.mark.parametrize("width", [400, 1280])
def test_zero_shows_the_whole_graph(page: Any, name: str, address: str, width: int) -> None:
    shown = page(name, address, width=width)
    shown.press("0")
    assert shown.value(FITS)


def test_a_whole_loop_can_be_seen(page: Any) -> None:
    shown = page("unrolled")
    shown.press("0")
    assert shown.value("state.view.k * scene.boxes.find((box) => box.item.step).width") > 5


def test_a_loop_is_one_box_a_step(page: Any) -> None:
    shown = page("unrolled")
    assert shown.value("scene.boxes.filter((box) => box.item.step).length") == 200
    assert shown.value("scene.boxes[1].item.words[0]") == "iteration 200"
    assert shown.texts("#titles .name") == ["loop × 200"]


def test_stepping_opens_what_is_folded_and_closes_it_behind(page: Any) -> None:
    shown = page("unrolled")
    steps = explored("unrolled").document["steps"]
    opened = []
    shown.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    for place in range(1, 14):
        assert shown.value("[state.step, boxOf(model.nodes.get(state.node)).item.id]") == [place, steps[place]["node"]]
        opened.append(shown.value("[...state.open].filter((number) => model.groups[number].step).length"))
        inside = "((box, view) => [box.x * view.k + view.x, box.y * view.k + view.y])"
        x, y = shown.value(f"{inside}(boxOf(model.nodes.get(state.node)), state.view)")
        assert 0 <= x <= shown.value("graph().clientWidth")
        assert 0 <= y <= shown.value("graph().clientHeight")
        shown.press(Keys.ARROW_RIGHT)
    assert opened == [1] * 13


def test_a_step_in_the_address_is_shown(page: Any) -> None:
    shown = page("unrolled", "#step=300")
    node = explored("unrolled").document["steps"][299]["node"]
    assert shown.value("boxOf(model.nodes.get(state.node)).item.id") == node
    assert shown.texts("#about h2") == [explored("unrolled").document["nodes"][node]["name"]]


def test_finds_of_one_name_differ(page: Any) -> None:
    shown = page("unrolled")
    shown.press("/", *"tanh")
    assert shown.text("#count") == "200 finds"
    rows = shown.texts("#finds li")
    assert len({*rows}) == len(rows) > 20
    assert rows[0] == "TanhBackward0\nstep 2 · 2"
    shown = page("transformer")
    shown.press("/", *"gelu")
    assert all(re.search(r"step \d+ · explored\.py:\d+ · [\d.e-]+$", row) for row in shown.texts("#finds li"))


def test_the_text_of_the_program_is_found_apart(page: Any) -> None:
    shown = page("views")
    shown.press("/", *"tanh_()")
    assert shown.texts("#finds li.line .title") == ["y.tanh_()"]
    line = next(node["site"]["line"] for node in explored("views").document["nodes"] if node["name"] == "TanhBackward0")
    shown.click("#finds li.line")
    assert shown.value("state.find") == f"explored.py:{line}"
    assert shown.text("#about h2") == "TanhBackward0"
    shown = page("views")
    shown.press("/", *"tanhb")
    assert shown.text("#count") == "1 find"
    assert shown.texts("#finds li.line") == []


@pytest.mark.parametrize(("width", "height"), [(400, 800), (1280, 800)])
def test_the_legend_covers_no_part_of_the_graph(page: Any, width: int, height: int) -> None:
    shown = page("transformer", width=width, height=height)
    shown.click("#legend summary")
    graph = shown.value("(({top, bottom}) => [top, bottom])(graph().getBoundingClientRect())")
    for one in ("#legend", "#zoom"):
        top = shown.value(f"document.querySelector('{one}').getBoundingClientRect().top")
        assert top >= graph[1] > graph[0]
