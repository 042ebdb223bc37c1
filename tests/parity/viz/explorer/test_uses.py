"""Choosing, walking and searching in the explorer, and its address."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from selenium.webdriver.common.keys import Keys

from programs.explored import explored, number_of

CHOSEN = "[state.node, state.group, state.step]"


# Choosing


def test_a_click_chooses_and_the_address_says_so(page: Any) -> None:
    shown = page("mlp", height=1200)
    relu = number_of("mlp", "ReluBackward0")
    shown.click(f"[data-key=n{relu}]")
    assert shown.text("#about h2") == "ReluBackward0"
    assert f"node={relu}" in shown.address
    assert shown.value(f"document.querySelector('[data-key=n{relu}]').getAttribute('aria-pressed')") == "true"
    assert shown.value("byId('going').getAttribute('d').length > 0 && byId('coming').getAttribute('d').length > 0")


def test_back_and_forward_go_through_what_was_chosen(page: Any) -> None:
    shown = page("mlp", height=1200)
    for name in ("ReluBackward0", "LogSoftmaxBackward0"):
        shown.click(f"[data-key=n{number_of('mlp', name)}]")
    shown.driver.back()
    assert shown.value("byId('about').querySelector('h2').innerText") == "ReluBackward0"
    shown.driver.forward()
    assert shown.value("byId('about').querySelector('h2').innerText") == "LogSoftmaxBackward0"


def test_a_click_beside_the_graph_leads_back_to_the_overview(page: Any) -> None:
    shown = page("mlp", "#node=2")
    shown.value("graph().dispatchEvent(new MouseEvent('click', {bubbles: true}))")
    assert shown.value(CHOSEN) == [None, None, None]
    assert shown.text("#about h2").startswith("Backward pass")
    shown = page("mlp", "#node=2&step=3")
    shown.click("#overview")
    assert shown.value(CHOSEN) == [None, None, None]


def test_links_in_the_inspector_choose(page: Any) -> None:
    shown = page("mlp", f"#node={number_of('mlp', 'ReluBackward0')}")
    shown.click("#about .rows .item")
    assert shown.text("#about h2") == "AddmmBackward0"


@pytest.mark.parametrize("address", [
    "", "#node=3", "#node=20&step=12&color=time&direction=right", "#group=2&color=dtype&open=0-3.7",
    "#open=none&find=Gelu", "#open=all&view=-40,-300,1.3", "#step=4&node=3&color=bytes"])
def test_an_address_shows_the_same_again(page: Any, address: str) -> None:
    shown = page("transformer", address)
    shown.value("writeAddress()")
    first = shown.address
    if address:
        assert set(address[1:].split("&")) <= set(first[1:].split("&"))
    seen = shown.value("byId('camera').innerHTML + byId('about').innerText + byId('telling').innerText")
    shown = page("transformer", first)
    assert shown.value("byId('camera').innerHTML + byId('about').innerText + byId('telling').innerText") == seen


@pytest.mark.parametrize("address", [
    "#node=99999", "#node=x&step=-1&color=red&direction=up&open=9-1.x&view=1,2", "#group=1e3&step=0", "#%%%",
    "#open=0-999999999", "#node=__proto__&color=constructor", "#view=0,0,0"])
def test_an_address_that_makes_no_sense_shows_the_overview(page: Any, address: str) -> None:
    shown = page("mlp", address)
    assert shown.value(CHOSEN) == [None, None, None]
    assert shown.value("[state.color, state.direction]") == ["norm", "down"]
    assert shown.value("document.querySelectorAll('.box').length") > 2


def test_an_address_typed_in_is_followed(page: Any) -> None:
    shown = page("mlp")
    shown.driver.execute_script("location.hash = '#node=3&color=time'")
    assert shown.text("#about h2") == explored("mlp").document["nodes"][3]["name"]
    assert shown.text("#scale p") == "Time taken"


def test_a_link_is_copied(page: Any) -> None:
    shown = page("mlp", "#node=3")
    shown.keep_messages()
    shown.value("void (navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); })")
    for button in ("#link", "#copynode"):
        shown.click(button)
        assert shown.value("window.copied").endswith(".html#node=3&view=" + shown.address.partition("view=")[2])
    assert shown.text("#toast") == "Link copied"


# Walking


def test_arrow_keys_walk_through_the_pass(page: Any) -> None:
    shown = page("mlp")
    steps = explored("mlp").document["steps"]
    shown.press(Keys.ARROW_RIGHT)
    assert shown.value(CHOSEN) == [steps[0]["node"], None, 0]
    shown.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert shown.value(CHOSEN) == [steps[2]["node"], None, 2]
    assert shown.text("#where") == "3 / 11"
    assert shown.text("#telling").startswith("AddmmBackward0 · sends 3 gradients · ")
    assert len(shown.texts("#marks .mark")) == 3
    shown.press(Keys.ARROW_LEFT)
    assert shown.value("state.step") == 1
    shown.press(Keys.END)
    assert shown.value("state.step") == 10
    shown.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert shown.value("state.step") == 10
    shown.press(Keys.HOME, Keys.ARROW_LEFT)
    assert shown.value("state.step") == 0
    assert "step=1" in shown.address
    shown.press(Keys.ESCAPE)
    assert shown.value(CHOSEN) == [None, None, None]


def test_a_step_shows_what_has_run_what_waits_and_what_lies_ahead(page: Any) -> None:
    shown = page("mlp", "#step=3&node=2")
    steps = explored("mlp").document["steps"]
    ran = {step["node"] for step in steps[:3]}
    waits = {arrival["to"] for step in steps[:3] for arrival in step["arrivals"]} - ran
    for key, classes in shown.each(".box", "[one.dataset.key, one.getAttribute('class')]"):
        number = int(key[1:])
        assert ("waiting" in classes) == (number in waits), key
        assert ("ahead" in classes) == (number not in ran | waits), key
    assert shown.value("document.querySelector('.current').dataset.key") == f"n{steps[2]['node']}"


def test_a_step_says_what_it_frees_and_what_is_held(page: Any) -> None:
    document = explored("cnn").document
    steps = document["steps"]
    number = next(k for k, step in enumerate(steps) if step["frees"] >= 1024)
    held = document["totals"]["bytes"] - sum(step["frees"] for step in steps[:number + 1])
    text = page("cnn", f"#step={number + 1}&node={steps[number]['node']}").text("#telling")
    told = re.search(r" · frees (\S+) KiB · (\S+) KiB still held$", text)
    assert told is not None
    sizes = [float(size) * 1024 for size in told.groups()]
    assert sizes == pytest.approx([steps[number]["frees"], held], rel=0.01)
    quiet = next(k for k, step in enumerate(steps) if not step["frees"])
    assert "frees" not in page("cnn", f"#step={quiet + 1}&node={steps[quiet]['node']}").text("#telling")


def test_gradients_that_add_are_marked(page: Any) -> None:
    shown = page("long_chain")
    steps = explored("long_chain").document["steps"]
    adding = next(k for k, step in enumerate(steps) if any(arrival["adds"] for arrival in step["arrivals"]))
    shown = page("long_chain", f"#step={adding + 1}&node={steps[adding]['node']}")
    assert "add" in shown.text("#telling")
    assert any(text.startswith("+ ") for text in shown.each(".mark", "one.textContent"))
    assert "+" in shown.texts("#about abbr")


def test_buttons_and_the_scrubber_walk_too(page: Any) -> None:
    shown = page("mlp")
    shown.click("#forward")
    shown.click("#forward")
    shown.click("#back")
    assert shown.value("state.step") == 0
    shown.click("#slider")
    assert shown.value("state.step") == 5
    shown.press(Keys.ARROW_RIGHT)
    assert shown.value("state.step") == 6
    spoken = shown.value("byId('slider').getAttribute('aria-valuetext')")
    assert spoken.startswith("step 7 of 11: ")


def test_play_walks_to_the_end_and_nothing_else_moves(page: Any) -> None:
    shown = page("nan")
    everything = "JSON.stringify([state.step, state.view, document.body.innerHTML.length])"
    before = shown.value(everything)
    time.sleep(0.4)
    assert shown.value(everything) == before
    label = "byId('play').getAttribute('aria-label')"
    shown.value("PLAY.most = PLAY.least = 1e8")                 # the walk waits at its first step
    shown.click("#play")
    assert shown.value(f"[{label}, state.step, playing !== null]") == ["Pause", 0, True]
    shown.press(" ")
    assert shown.value(f"[{label}, state.step, playing]") == ["Play", 0, None]
    shown.value("PLAY.most = PLAY.least = 30")
    shown.click("#play")
    shown.wait_for(f"{label} === 'Play'")
    assert shown.value("[state.step, playing]") == [9, None]


# Search


def test_search_finds_marks_and_goes(page: Any) -> None:
    shown = page("transformer", "#open=none")
    shown.press("/")
    shown.press(*"layers.1 gelu")
    assert shown.text("#count") == "1 find"
    assert "GeluBackward0" in shown.text("#finds")
    assert shown.value("document.querySelector('.box.found') !== null")
    shown.press(Keys.ENTER)
    assert shown.text("#about h2") == "GeluBackward0"
    assert "in layers.1" in shown.text("#about")
    number = shown.value("state.node")
    assert shown.value(f"scene.byKey.has('n{number}')")
    assert shown.value("byId('finds').hidden")
    shown.press(Keys.ESCAPE)
    assert shown.value("state.find") == ""


def test_finds_are_chosen_by_keys_and_pointer(page: Any) -> None:
    shown = page("mlp")
    shown.press("/", *"addmm", Keys.ARROW_DOWN, Keys.ARROW_DOWN)
    assert shown.value("byId('search').getAttribute('aria-activedescendant')") == "find1"
    shown.press(Keys.ENTER)
    second = [node["id"] for node in explored("mlp").document["nodes"] if node["name"] == "AddmmBackward0"][1]
    assert shown.value("state.node") == second
    shown.click("#search")
    shown.click("#find0")
    assert shown.value("state.node") != second
    shown.press("/", Keys.ESCAPE)
    assert shown.value("[state.find, byId('finds').hidden, document.activeElement.id]") == ["", True, "graph"]


@pytest.mark.parametrize(("words", "fits"), [
    ("[16, 4]", lambda node: [16, 4] in [output["shape"] for output in node["outputs"]]),
    ("2.WEIGHT", lambda node: node["label"] == "2.weight"),
    ("relu backward", lambda node: node["name"] == "ReluBackward0"),
    ("leaf", lambda node: node["kind"] == "leaf"),
    ("no such", lambda node: False)])
def test_search_knows_shapes_labels_names_and_kinds(page: Any, words: str, fits: Any) -> None:
    shown = page("mlp")
    shown.press("/", *words)
    found = shown.value("[...found].filter((item) => !item.members).map((node) => node.id)")
    assert sorted(found) == sorted(node["id"] for node in explored("mlp").document["nodes"] if fits(node))
