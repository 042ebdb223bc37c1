"""Folding and turning the explorer's graph, the camera, keys, and where else the page is shown."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from programs.explored import explored, number_of
from showing.browsers import PATIENCE, Browser

CHOSEN = "[state.node, state.group, state.step]"
VIEW = "[state.view.x, state.view.y, state.view.k]"


def middle(shown: Browser, key: str) -> list[float]:
    """Where the middle of a box's upper edge is on the screen."""
    x, y, width, left, top, scale = shown.value(
        f"(({{ x, y, width }}, view) => [x, y, width, view.x, view.y, view.k])(scene.byKey.get('{key}'), state.view)")
    return [(x + width / 2) * scale + left, y * scale + top]


# Folding and turning


def test_fold_and_unfold(page: Any) -> None:
    shown = page("transformer")
    shown.click("#foldall")
    folded = shown.value("scene.boxes.length")
    shown.click("#unfoldall")
    assert shown.value("scene.boxes.length") == 187 > folded
    assert "open=all" in shown.address
    shown.press("f")
    assert shown.value("scene.boxes.length") == folded
    assert "open=none" in shown.address
    shown.press("u")
    assert shown.value("scene.boxes.length") == 187


def test_one_group_unfolds_where_it_stands(page: Any) -> None:
    shown = page("mlp", "#open=0-1")
    assert not shown.value("state.open.has(2)")
    place = middle(shown, "g2")
    shown.click("[data-key=g2]")
    assert shown.text("#about h2") == "2"
    shown.click("[data-key=g2]", double=True)
    assert shown.value("state.open.has(2)")
    assert middle(shown, "g2") == pytest.approx(place, abs=1)
    shown.click("[data-key=g2] .reach")
    assert not shown.value("state.open.has(2)")
    shown.click("#about .wide")
    assert shown.value("state.open.has(2)")
    assert shown.text("#about .wide") == "Fold"


def test_the_graph_turns(page: Any) -> None:
    shown = page("mlp")
    width, height = shown.value("[scene.width, scene.height]")
    shown.click("#direction")
    assert shown.value("[scene.width > scene.height, state.direction]") == [True, "right"]
    assert width < height
    assert shown.value("byId('direction').getAttribute('aria-pressed')") == "true"
    shown.press("d")
    assert shown.value("[scene.width, scene.height]") == [width, height]


def test_colors_are_chosen_by_pointer_and_keys(page: Any) -> None:
    shown = page("mlp")
    titles = []
    for value in ("time", "bytes", "dtype", "norm"):
        shown.click(f"[value={value}] + span")
        titles.append(shown.text("#scale p"))
        assert ("color=" in shown.address) == (value != "norm")
    assert titles == ["Time taken", "Memory of saved values", "Dtype of the result", "Norm of the gradient"]
    shown.press(Keys.ARROW_RIGHT)
    assert shown.value("[state.color, state.step]") == ["time", None]


# The camera


def test_wheel_drag_keys_and_pinch_move_the_camera(page: Any) -> None:
    shown = page("mlp")
    x, y, k = shown.value(VIEW)
    shown.tell("Input.dispatchMouseEvent", type="mouseWheel", x=300, y=300, deltaX=0, deltaY=-200)
    assert shown.value(VIEW)[2] > k
    shown.press("-", "-", "-")
    assert shown.value(VIEW)[2] < k
    x, y, k = shown.value(VIEW)
    for kind, at in (("mousePressed", 100), ("mouseMoved", 160), ("mouseReleased", 160)):
        shown.tell("Input.dispatchMouseEvent", type=kind, x=at, y=at + 200, button="left", buttons=1, clickCount=1)
    assert shown.value(VIEW) == pytest.approx([x + 60, y + 60, k], abs=1)
    assert shown.value(CHOSEN) == [None, None, None]
    shown.press("0")
    assert shown.value("scene.height * state.view.k") <= shown.value("graph().clientHeight")
    k = shown.value(VIEW)[2]
    for kind, gap in (("touchStart", 40), ("touchMove", 60), ("touchMove", 120), ("touchEnd", 0)):
        points = [{"x": 300 - gap, "y": 300, "id": 0}, {"x": 300 + gap, "y": 300, "id": 1}] if gap else []
        shown.tell("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    assert shown.value(VIEW)[2] > 1.5 * k
    shown.click("#fit")
    assert shown.value(VIEW)[2] == pytest.approx(k, abs=0.01)
    shown.click("#nearer")
    shown.click("#farther")
    assert shown.value(VIEW)[2] == pytest.approx(k, abs=0.01)


def test_what_is_chosen_comes_into_sight(page: Any) -> None:
    shown = page("long_chain")
    shown.press(Keys.END)
    x, y = middle(shown, f"n{explored('long_chain').document['steps'][-1]['node']}")
    assert 0 < x < shown.value("graph().clientWidth")
    assert 0 < y < shown.value("graph().clientHeight")


# Keys


def test_tab_goes_to_nodes_in_the_order_of_the_pass(page: Any) -> None:
    shown = page("nan")
    shown.value("byId('help').focus()")
    names = []
    for _ in range(4):
        shown.press(Keys.TAB)
        names.append(shown.value("document.activeElement.dataset.key"))
    assert names == [None, "n0", "n1", "n2"] or names == ["n0", "n1", "n2", names[3]]
    shown.press(Keys.ENTER)
    assert f"n{shown.value('state.node')}" in names
    shown.press(Keys.ARROW_DOWN)
    first = shown.value("state.node")
    shown.press(Keys.ARROW_UP)
    assert first in shown.value("targets(model.nodes.get(state.node))")


def test_enter_and_space_fold_a_group(page: Any) -> None:
    shown = page("mlp", "#open=none")
    key = shown.value("scene.boxes.find((box) => box.item.members).key")
    shown.value(f"document.querySelector('[data-key={key}]').focus()")
    shown.press(Keys.ENTER)
    assert shown.value("state.group") == int(key[1:])
    shown.press(Keys.ENTER)
    assert shown.value(f"state.open.has({key[1:]})")
    shown.value(f"document.querySelector('#titles [data-key={key}]').focus()")
    shown.press(" ")
    assert not shown.value(f"state.open.has({key[1:]})")


def test_help_opens_and_closes(page: Any) -> None:
    shown = page("mlp")
    shown.press("?")
    assert shown.value("byId('keys').open")
    assert shown.faults() == []
    shown.press(Keys.ARROW_RIGHT)
    assert shown.value("state.step") is None
    shown.press(Keys.ESCAPE)
    assert not shown.value("byId('keys').open")
    shown.click("#help")
    shown.click("#closehelp")
    assert not shown.value("byId('keys').open")


# Files, phones, notebooks


def test_the_picture_is_saved(page: Any, folder: Path) -> None:
    shown = page("mlp")
    shown.keep_messages()
    shown.click("#svg")
    deadline = time.monotonic() + PATIENCE
    while not (folder / "backward.svg").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    text = (folder / "backward.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "Relu" in text
    assert shown.text("#toast") == "Picture saved as backward.svg"


def test_a_narrow_page_has_a_sheet_and_a_menu(page: Any) -> None:
    shown = page("mlp", "#node=3", width=400)
    top = shown.value("byId('inspector').getBoundingClientRect().top")
    shown.click("#sheet")
    assert shown.value("byId('inspector').getBoundingClientRect().top") < top - 200
    assert shown.value("byId('sheet').getAttribute('aria-expanded')") == "true"
    assert middle(shown, "n3")[1] < shown.value("byId('inspector').getBoundingClientRect().top")
    shown.click("#sheet")
    assert not shown.driver.find_element("id", "foldall").is_displayed()
    shown.click("#more")
    shown.click("#foldall")
    assert shown.value("state.open.size") == 1
    shown.press(Keys.ESCAPE)
    assert not shown.driver.find_element("id", "foldall").is_displayed()


def test_a_notebook_shows_the_page_in_a_frame(shown: Browser, folder: Path) -> None:
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html><title>notebook</title>{explored('mlp')._repr_html_()}", encoding="utf-8")
    shown.open(path)
    shown.driver.switch_to.frame(0)
    shown.click(f"[data-key=n{number_of('mlp', 'LogSoftmaxBackward0')}]")
    assert shown.text("#about h2") == "LogSoftmaxBackward0"
    assert json.loads(shown.value("JSON.stringify(model.data.title)")) == explored("mlp").document["title"]
    shown.driver.switch_to.default_content()
    assert not shown.complaints
