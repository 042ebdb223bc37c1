"""What the explorer shows, of which program. `test_uses.py` and `test_moves.py` test what one can do with it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from programs.explored import PASSES, explored
from showing.browsers import Browser

# Boxes beside each other, frames around what they hold, and no wire through a box that it does not end at.
GEOMETRY = """(() => {
  const wrong = [];
  const [right, bottom] = [(a) => a.x + a.width, (a) => a.y + a.height];
  const apart = (a, b) => right(a) <= b.x || right(b) <= a.x || bottom(a) <= b.y || bottom(b) <= a.y;
  const inside = (a, b) => a.x >= b.x && a.y >= b.y && right(a) <= right(b) && bottom(a) <= bottom(b);
  const near = [...scene.boxes].sort((a, b) => a.y - b.y);
  near.forEach((a, k) => {
    for (let j = k + 1; j < near.length && near[j].y < a.y + a.height; j += 1) {
      if (!apart(a, near[j])) wrong.push(`${a.key} over ${near[j].key}`);
    }
  });
  for (const box of [...scene.boxes, ...scene.frames]) {
    const around = box.item.home === null || box.item.home === 0 ? null : scene.byKey.get(`g${box.item.home}`);
    if (around && !inside(box, around)) wrong.push(`${box.key} leaves ${around.key}`);
    if (around && box.y < around.y + 28) wrong.push(`${box.key} under the title of ${around.key}`);
    if (box.x < -0.1 || box.y < -0.1 || right(box) > scene.width + 0.1) wrong.push(`${box.key} leaves the graph`);
  }
  const side = scene.direction === "down" ? "x" : "y";
  const straight = scene.wires.filter(([a, b]) => Math.abs(a[side] - b[side]) < 0.1);
  for (const [a, b] of straight.slice(0, 400)) for (const box of scene.boxes) {
    const [x, y] = [(a.x + b.x) / 2, (a.y + b.y) / 2];
    if (inside({ x: x - 1, y: y - 1, width: 2, height: 2 }, box)) wrong.push(`a wire in ${box.key}`);
  }
  return wrong.slice(0, 5);
})()"""
# The boxes that the links of the nodes join, and those that the wires join.
JOINED = """(() => {
  const wrong = [];
  for (const node of model.nodes.values()) {
    const box = boxOf(node);
    const reached = new Set(routes(box, "next").map(([, to]) => to).filter((stop) => stop.head));
    for (const id of targets(node)) {
      const other = boxOf(model.nodes.get(id));
      if (other !== box && !reached.has(other.top)) wrong.push(`${node.id} to ${id}`);
    }
  }
  return wrong.slice(0, 5);
})()"""


def labels(shown: Browser) -> list[str]:
    return shown.each("#boxes .box", "one.getAttribute('aria-label')")


# Every pass


@pytest.mark.parametrize("name", PASSES)
@pytest.mark.parametrize("direction", ["down", "right"])
def test_a_pass_is_drawn_without_overlaps(page: Any, name: str, direction: str) -> None:
    shown = page(name, f"#direction={direction}&open=all")
    assert shown.value("model.nodes.size") == shown.value("scene.boxes.length") == len(explored(name).document["nodes"])
    assert shown.value(GEOMETRY) == []
    assert shown.value(JOINED) == []


@pytest.mark.parametrize("name", PASSES)
def test_a_folded_pass_is_drawn_and_joined(page: Any, name: str) -> None:
    shown = page(name, "#open=none")
    children = explored(name).document["groups"][0]["children"]
    assert shown.value("scene.boxes.length") == len(children)
    assert shown.value(GEOMETRY) == []
    assert shown.value(JOINED) == []


@pytest.mark.parametrize("name", PASSES)
def test_every_node_can_be_inspected(page: Any, name: str) -> None:
    shown = page(name)
    texts = "model.order.slice(0, 60).map((node) => { choose(node); return byId('about').innerText; })"
    heads = shown.value(texts)
    for node, text in zip(sorted(explored(name).document["nodes"], key=lambda node: node["order"] or 0), heads):
        assert text
        assert "undefined" not in text
        assert "NaN" not in text.replace("NaN\n", "").replace("NaN.", "") or name == "nan", (node["name"], text)


@pytest.mark.parametrize("name", ["in_place", "own_functions", "fit_by_hand"])
def test_the_page_of_an_example(shown: Browser, tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-m", "retrograd", "explore", "-o", str(tmp_path / "step.html"), f"{name}.py"]
    subprocess.run(command, cwd=Path(__file__).parents[4] / "examples", check=True, capture_output=True)
    shown.open(tmp_path / "step.html", "#open=all")
    assert shown.value("scene.boxes.length") > 3
    assert shown.value(GEOMETRY) == shown.value(JOINED) == []
    assert f"Backward pass 1 of {name}.py" in shown.text("#about h2")
    assert not shown.complaints


# One thing each


def test_what_a_node_tells(page: Any) -> None:
    shown = page("mlp")
    number = next(node["id"] for node in explored("mlp").document["nodes"] if node["name"] == "AddmmBackward0")
    node = explored("mlp").document["nodes"][number]
    shown = page("mlp", f"#node={number}")
    text = shown.text("#about")
    assert shown.text("#about h2") == "AddmmBackward0"
    assert "operator · in 2: Linear" in text
    assert f"[16, 4] float32 · step {node['order'] + 1} of 11" in text
    assert shown.texts("#about h3") == ["Gradient that arrives", "Line of the program", "Sends gradients to",
                                        "Receives gradients from", "Rule that ran", "Saved values", "Cost"]
    assert f"{node['gradient']['norm']:.4}" in shown.texts("#about .stats dd")
    assert "self.weight" in text or "linear" in text.lower()
    assert shown.text("#about .line.here").split(" ", 1)[0] == str(node["site"]["line"])
    assert shown.texts("#about details .code") == [value["name"] for value in node["saved"] if "shape" in value]
    rule = explored("mlp").document["rules"][node["rule"]]
    assert rule["text"].split("\n")[0] in text
    assert rule["at"] in text
    assert shown.value("document.querySelector('#about figure [role=img]').getAttribute('aria-label')")


def test_what_is_wrong_is_red_and_named_first(page: Any) -> None:
    shown = page("nan")
    alarm = shown.text("#about .alarm")
    assert "The first of the pass is made by the rule of" in alarm
    assert "LogBackward0" in alarm
    assert sorted(shown.texts("#boxes .wrong .flag text")) == ["NaN", "NaN", "NaN", "inf"]
    outline = shown.value("getComputedStyle(document.querySelector('#boxes .wrong .body')).stroke")
    assert outline == shown.value("getComputedStyle(document.querySelector('.alarm')).borderLeftColor")
    shown.click("#about .alarm .item")
    assert shown.text("#about h2") == "LogBackward0"
    assert "makes the first NaN or infinity" in shown.text("#about .alarm")


def test_a_leaf_without_gradient_is_named(page: Any) -> None:
    shown = page("transformer")
    assert "2 leaves without gradient:" in shown.text("#about .alarm")
    assert "unused.weight" in shown.text("#about .alarm")
    assert [text for text in shown.texts("#boxes .flag text") if text] == ["no gradient", "no gradient"]


def test_a_healthy_pass_has_nothing_red(page: Any) -> None:
    shown = page("mlp")
    assert shown.text("#about .fine") == "No NaN, no infinity, and every leaf gets a gradient that is not 0."
    assert not shown.texts("#boxes .wrong, .alarm")


def test_the_overview_ranks_norms_memory_and_time(page: Any) -> None:
    shown = page("transformer")
    document = explored("transformer").document
    assert shown.texts("#about h3") == ["What is wrong", "Where gradients vanish or explode", "What holds the memory",
                                        "What takes the time", "Views and writes in place"]
    most = max(node["bytes"] for node in document["nodes"])
    slowest = max(document["nodes"], key=lambda node: node["time"] or 0)
    first = shown.each("#about section", "one.querySelector('.bar')?.innerText")
    assert first[2].endswith(f"{most / 1024:.3g} KiB")
    assert first[3].startswith(slowest["label"] or slowest["name"])
    leaves = [node for node in document["nodes"] if node["kind"] == "leaf" and node["gradient"]]
    assert first[1].startswith(min(leaves, key=lambda node: node["gradient"]["norm"])["label"])
    hidden = int(re.search(r"Show (\d+) more", shown.text("#about")).group(1))
    rows = len(shown.texts("#about .bar"))
    shown.click("#about .more")
    assert len(shown.texts("#about .bar")) == rows + hidden


def test_views_writes_functions_and_cuts(page: Any) -> None:
    shown = page("views", height=1400)
    shapes = dict(shown.each("#boxes .box", "[scene.byKey.get(one.dataset.key).item.kind,"
                             "one.querySelector('.body').getAttribute('d').replace(/[\\d.]+/g, '#')]"))
    assert sorted(shapes) == ["function", "leaf", "operator", "view", "write"]
    assert len(set(shapes.values())) == 5 - (shapes["leaf"] == shapes["operator"])
    text = shown.text("#about")
    assert "Writes in place (1)" in text
    assert "CopySlices" in text
    assert "no_grad" in text[text.index("Where the graph was cut"):]
    assert "x </script><b>" in labels(shown)[-1]


def test_a_color_means_the_same_in_the_legend_and_the_graph(page: Any) -> None:
    shown = page("mlp", "#color=bytes", height=1200)
    assert shown.text("#scale p") == "Memory of saved values"
    ends = shown.texts("#scale > span")
    sizes = [node["bytes"] for node in explored("mlp").document["nodes"] if node["bytes"]]
    assert ends[0] == f"{min(sizes)} B"
    assert ends[1] == f"{max(sizes) / 1024:.3g} KiB"
    most = next(node["id"] for node in explored("mlp").document["nodes"] if node["bytes"] == max(sizes))
    fill = shown.value(f"document.querySelector('[data-key=n{most}] .body').style.fill")
    assert fill.replace(",", "") == shown.value("paletteColor(1)")


# The look


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("name", "address", "width"), [
    ("cnn", "", 1200), ("transformer", "#node=20&step=21", 1200), ("nan", "#node=4", 400), ("views", "#find=a", 400)])
def test_nothing_for_axe_to_find(page: Any, name: str, address: str, width: int, dark: bool) -> None:
    assert page(name, address, dark=dark, width=width).faults() == []


def luminance(parts: list[int]) -> float:
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (part / 255 for part in parts)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_words_can_be_read_on_their_colors(page: Any) -> None:
    for dark in (False, True):
        shown = page("lstm", "#open=all", dark=dark)
        fills = "Array.from({length: 101}, (_, k) => paletteColor(k / 100))"
        for fill, ink in shown.value(f"{fills}.map((fill) => [fill, inkOn(fill)])"):
            back = luminance([int(part) for part in re.findall(r"\d+", fill)])
            assert ink in ("#000000", "#ffffff")
            assert (1.05 / (back + 0.05) if ink == "#ffffff" else (back + 0.05) / 0.05) >= 4.5, fill


def test_the_theme_follows_the_system_at_once(page: Any) -> None:
    shown = page("mlp")
    colors = "[getComputedStyle(document.body).backgroundColor, document.querySelector('.box .body').style.fill]"
    light = shown.value(colors)
    shown.theme("dark")
    assert all(one != other for one, other in zip(light, shown.value(colors)))


@pytest.mark.parametrize(("width", "height"), [(320, 640), (400, 800), (800, 600), (1200, 800), (1920, 1080)])
def test_no_page_is_wider_than_its_window(page: Any, width: int, height: int) -> None:
    shown = page("transformer", "#node=20&step=21", width=width, height=height)
    assert shown.value("document.documentElement.scrollWidth") <= width
    assert shown.value("document.documentElement.scrollHeight") <= height
    assert max(shown.each("body > :not(.skip) button, input", "one.getBoundingClientRect().right")) <= width
    assert shown.value("byId('graph').clientHeight") > height / 2


# Large graphs


def test_two_thousand_nodes_paint_within_a_second(page: Any) -> None:
    """The page paints after a second of work at most, and waits for nothing before: the boxes are there at once."""
    shown = page("large")
    assert len(explored("large").document["nodes"]) > 2000
    assert len(explored("large").page) < 3_000_000
    with shown.counting_work(), shown.at_first("document.querySelectorAll('#boxes .box').length"):
        page("large")
        shown.wait_for("performance.getEntriesByName('first-contentful-paint').length")
        assert 0.01 < shown.seconds_of_work < 1
        assert shown.value("atFirst") == shown.value("document.querySelectorAll('#boxes .box').length") > 10


def test_only_what_is_in_sight_is_drawn(page: Any) -> None:
    shown = page("large", "#open=all")
    assert shown.value("scene.boxes.length") > 2000
    assert 0 < shown.value("document.querySelectorAll('#boxes .box').length") < 200
    assert shown.value(GEOMETRY) == []


def test_the_saved_picture_is_whole(page: Any) -> None:
    shown = page("transformer", "#open=all")
    before = shown.value("document.querySelectorAll('#boxes .box').length")
    elements = [*ElementTree.fromstring(shown.value("svgText()")).iter("{http://www.w3.org/2000/svg}text")]
    texts = ["".join(text.itertext()).strip() for text in elements]
    assert all(re.search(r"font-family: [^;]*sans-serif.*font-size: \d", text.get("style", "")) for text in elements)
    nodes = explored("transformer").document["nodes"]
    assert {node["label"].rpartition(".")[2] for node in nodes if node["parameter"]} <= set(texts)
    assert "no gradient" in texts
    assert shown.value("document.querySelectorAll('#boxes .box').length") == before


def test_a_leaf_with_many_users_lists_them_on_demand(page: Any) -> None:
    shown = page("long_chain")
    (leaf,) = [node["id"] for node in explored("long_chain").document["nodes"] if node["kind"] == "leaf"]
    shown = page("long_chain", f"#node={leaf}")
    rows = shown.each("#about section", "one.querySelector('h3').innerText + one.querySelectorAll('.rows li').length")
    assert "Receives gradients from10" in rows
    shown.click("#about .more")
    rows = shown.each("#about section", "one.querySelector('h3').innerText + one.querySelectorAll('.rows li').length")
    assert "Receives gradients from301" in rows
