"""Numbers, heat maps and zeros on the explorer's page: on boxes, on wires, in the chart and in the inspector."""

from __future__ import annotations

from typing import Any

import pytest

from programs.explored import explored, number_of


def few(shown: Any, node: int) -> list[str]:
    """The lines of numbers in a box."""
    return list(shown.each(f"[data-key=n{node}] .few", "one.textContent"))


# Numbers and heat maps


def test_a_box_shows_the_numbers_of_a_small_gradient(page: Any) -> None:
    node = number_of("nan", "MulBackward0")
    shown = page("nan", "#open=all")
    values = explored("nan").document["nodes"][node]["picture"]["values"]
    assert values == [1.0, 1.0, 1.0]
    assert few(shown, node) == ["1\u20021\u20021"]
    assert "NaN" in " ".join(shown.texts("#boxes .few"))


def test_a_box_shows_a_heat_map_of_a_larger_gradient(page: Any) -> None:
    node = number_of("mlp", "ReluBackward0")
    shown = page("mlp", height=1200)
    assert few(shown, node) == []
    assert shown.each(f"[data-key=n{node}] image", "one.getAttribute('href').slice(0, 15)") == ["data:image/png;"]
    inside = ("((image, body) => image.left > body.left && image.right < body.right && image.bottom < body.bottom)("
              f"...['image', '.body'].map((part) => document.querySelector(`[data-key=n{node}] ${{part}}`)"
              ".getBoundingClientRect()))")
    assert shown.value(inside)


def test_the_inspector_shows_numbers_and_values(page: Any) -> None:
    leaf = number_of("mlp", "2.bias")
    shown = page("mlp", f"#node={leaf}")
    node = explored("mlp").document["nodes"][leaf]
    cells = [float(text) for text in shown.texts("#about td")]
    assert cells == pytest.approx([*node["picture"]["values"], *node["value"]["picture"]["values"]], rel=5e-3)
    assert "Value" in shown.texts("#about h3")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_zero_is_in_the_middle_of_a_signed_scale(page: Any, dark: bool) -> None:
    shown = page("mlp", f"#node={number_of('mlp', 'ReluBackward0')}", dark=dark)
    assert shown.texts("#about .image .ramp b") == ["0"]
    low, high = shown.each("#about .image figcaption > span", "one.textContent")[:2]
    assert low == f"-{high}"
    zero, negative, positive = shown.value("[0, -1, 1].map((t) => signedColor(t).match(/\\d+/g).map(Number))")
    background = shown.value("channels(NEUTRAL[dark.matches ? 'dark' : 'light'])")
    assert max(abs(a - b) for a, b in zip(zero, background)) < 12
    assert negative[2] > negative[0]                             # blue and orange
    assert positive[0] > positive[2]
    colors = "levelColors({lo: -2, hi: 2})"
    assert shown.value(f"{colors}[128]") == zero
    assert shown.value(f"{colors}[0]") != zero                  # what is not finite


def test_wires_show_numbers_where_gradients_arrive(page: Any) -> None:
    document = explored("unrolled").document
    step = next(k for k, step in enumerate(document["steps"]) if len(step["arrivals"]) == 2)
    shown = page("unrolled", f"#step={step + 1}")
    arrivals = document["steps"][step]["arrivals"]
    pictures = [arrival.get("picture") or document["nodes"][arrival["to"]]["picture"] for arrival in arrivals]
    words = "[...one.querySelectorAll('.few')].map((line) => line.textContent).join('\\u2002')"
    marks = shown.each("#marks .mark", words)
    assert len(marks) == 2
    for mark, picture in zip(marks, pictures):
        assert [float(text) for text in mark.split("\u2002")] == pytest.approx(picture["values"], rel=5e-3)


# Zeros


def test_a_tensor_of_zeros_has_no_color(page: Any) -> None:
    shown = page("unrolled")
    zero, background = "levelColors({lo: 0, hi: 0})[128]", "signedColor(0).match(/\\d+/g).map(Number)"
    assert shown.value(zero) == shown.value(background)
    caption = "imagePicture({kind: 'image', width: 1, height: 1, values: btoa('\\x80'), lo: 0, hi: 0}).innerText"
    assert shown.value(caption) == "all 0"


def test_zeros_lie_on_the_floor_of_the_chart(page: Any) -> None:
    document = explored("unrolled").document
    shown = page("unrolled")
    assert shown.texts("#about .chart .axis span")[2] == "0"
    (line,) = shown.each("#about .norms", "one.getAttribute('d')")
    points = [tuple(map(float, point.split())) for point in line.removeprefix("M").split("L")]
    floor = max(y for _, y in points)
    first, last = document["totals"]["vanished"]
    count = len(document["steps"])
    zeros = [y for x, y in points if 100 * (first + 20) / count < x < 100 * (last - 20) / count]
    assert len(zeros) > 50
    assert {*zeros} == {floor}
    above = [y for x, y in points if x < 100 * (first - 20) / count]
    assert above
    assert max(above) < floor - 5


def test_a_gradient_that_vanished_is_told(page: Any) -> None:
    shown = page("unrolled")
    first, last = explored("unrolled").document["totals"]["vanished"]
    assert 0 < first < last
    assert f"The gradient is 0 from step {first + 1} on: vanished." in shown.text("#about .alarm")
    assert not shown.texts("#about .fine")


def test_zero_has_a_color_of_its_own(page: Any) -> None:
    shown = page("unrolled")
    zero = number_of("unrolled", "TanhBackward0")
    vanished = explored("unrolled").document["steps"][explored("unrolled").document["totals"]["vanished"][0]]["node"]
    assert zero != vanished
    assert shown.texts("#scale .key") == ["0"]
    palette = shown.value("Array.from({length: 101}, (_, k) => paletteColor(k / 100))")
    color = shown.value(f"itemColor(model.nodes.get({vanished}), 'norm').replace(/[^#\\w]/g, '')")
    assert color not in [one.replace(" ", "").replace("(", "").replace(")", "") for one in palette]
