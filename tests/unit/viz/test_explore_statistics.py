"""The statistics and pictures of arrays, against NumPy's own functions."""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np
import pytest

from retrograd.viz.statistics import Pictures, histogram, image, norm, number, statistics

GENERATOR = np.random.default_rng(0)
ARRAYS = [
    GENERATOR.normal(size=(3, 5)), GENERATOR.normal(3, 0.01, size=100_000).astype(np.float32), np.zeros((4, 4)),
    np.full(1000, 0.1, np.float32), np.arange(12).reshape(3, 4)[:, ::2], np.array([True, False, True]),
    np.float64(2.5), np.broadcast_to(np.float32(3), (50, 40)), GENERATOR.normal(size=70_000) * 1e150]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{[*array.shape]}")
def test_statistics(array: np.ndarray) -> None:
    x = np.asarray(array, np.float64).ravel()
    found = statistics(array)
    assert found is not None
    expected = {"norm": np.linalg.norm(x), "mean": x.mean(), "std": x.std(ddof=1) if x.size > 1 else 0.0,
                "min": x.min(), "max": x.max()}
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=1e-5, abs=1e-12), key
    assert (found["zeros"], found["nans"], found["infs"], found["size"]) == ((x == 0).sum(), 0, 0, x.size)
    assert norm(array) == found["norm"]
    if (x == x[0]).all():
        assert found["std"] == 0
    json.dumps(found, allow_nan=False)


def test_statistics_of_bad_values() -> None:
    array = np.array([1., np.nan, np.inf, -3., -np.inf])
    found = statistics(array)
    assert found == {"norm": "nan", "mean": -1.0, "std": 2.82843, "min": -3.0, "max": 1.0, "zeros": 0, "nans": 1,
                     "infs": 2, "size": 5}
    assert norm(array) == "nan"
    infinite = statistics(array[2:4])
    assert infinite is not None
    assert (infinite["norm"], infinite["max"], norm(array[2:4])) == ("inf", -3.0, "inf")
    empty = statistics(np.zeros((0, 3)))
    assert empty is not None
    assert (empty["norm"], empty["min"], empty["size"]) == (0.0, None, 0)
    assert (empty["mean"], empty["std"]) == (None, None)
    bad = statistics(np.full(2, np.nan))
    assert bad is not None
    assert (bad["mean"], bad["std"], bad["nans"]) == (None, None, 2)
    assert statistics(object()) is None


def test_statistics_of_complex_numbers() -> None:
    found = statistics(np.array([3 + 4j, -1j]))
    assert found == {**(statistics(np.array([5., 1.])) or {}), "parts": [1.5, 1.5]}
    assert statistics(np.array([complex("nan")])) == {**(statistics(np.array([np.nan])) or {}), "parts": [None, 0.0]}


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e-320])
def test_numbers_whose_squares_are_no_floats(scale: float) -> None:
    array = np.array([3., -4., 0.]) * scale
    found = statistics(array)
    assert found is not None
    assert found["norm"] == norm(array) == pytest.approx(5 * scale, rel=1e-2)
    assert found["std"] == pytest.approx(3.51188 * scale, rel=1e-2)
    assert found["mean"] == pytest.approx(-scale / 3, rel=1e-2)
    assert (found["zeros"], found["nans"], found["infs"]) == (1, 0, 0)
    assert norm(np.array([np.inf, scale])) == "inf"
    assert norm(np.array([np.inf, np.nan])) == "nan"


def test_numbers_that_are_complex_have_six_digits() -> None:
    found = Pictures(1).of(np.array([1 / 3 - 2j, complex("nan+infj")]))
    assert found is not None
    assert found["values"] == ["0.333333-2j", "nan+infj"]


def test_numbers() -> None:
    assert [number(x) for x in (1 / 3, math.nan, math.inf, -math.inf)] == [0.333333, "nan", "inf", "-inf"]


def test_a_histogram_counts_all_elements() -> None:
    x = GENERATOR.normal(size=1000)
    found = histogram(x)
    assert found is not None
    counts, edges = np.histogram(x, bins=24)
    assert found["counts"] == counts.tolist()
    assert found["edges"] == pytest.approx([edges[0], edges[-1]], rel=1e-5)
    few = histogram(np.array([1., np.nan, 2.]))
    assert few is not None
    assert sum(few["counts"]) == 2
    assert histogram(np.array([1., np.inf])) is None
    constant = histogram(np.full(9, 2.))
    assert constant is not None
    assert constant["counts"][0] == 9
    wide = histogram(np.array([-1.7e308, 1.7e308]))
    assert wide is not None
    assert sum(wide["counts"]) == 2


def test_an_image_shows_rows_and_columns() -> None:
    x = np.arange(100.).reshape(10, 10)
    found = image(x)
    assert found is not None
    assert (found["width"], found["height"], found["lo"], found["hi"]) == (10, 10, 0.0, 99.0)
    assert levels(found) == (1 + np.rint(x.ravel() * (254 / 99))).astype(np.uint8).tolist()
    large = image(GENERATOR.normal(size=(2, 300, 20)))
    assert large is not None
    assert (large["width"], large["height"]) == (20, 64)
    hidden = np.zeros((100, 100))
    hidden[2, 2] = 7.                                    # not among the rows and columns that are shown
    part = image(hidden)
    assert part is not None
    assert (part["hi"], {*levels(part)}) == (7.0, {1})
    row = image(np.arange(20))
    assert row is not None
    assert (row["width"], row["height"]) == (20, 1)
    assert image(np.full((9, 9), np.nan)) is None


def levels(picture: dict[str, Any]) -> list[int]:
    """The level of each pixel of an image."""
    return np.frombuffer(base64.b64decode(picture["values"]), np.uint8).tolist()


def test_an_image_of_signed_numbers_has_0_in_the_middle() -> None:
    found = image(np.array([[-1., 0.], [3., -0.0], [1.5, -3e-9]]))
    assert found is not None
    assert (found["lo"], found["hi"]) == (-3.0, 3.0)
    assert levels(found) == [128 - 42, 128, 255, 128, 128 + 64, 128]


def test_an_image_tells_what_is_not_finite() -> None:
    found = image(np.array([1., np.nan, 2., np.inf]))
    assert found is not None
    assert levels(found) == [1, 0, 255, 0]
    constant = image(np.array([2., 2., np.nan]))
    assert constant is not None
    assert (levels(constant), constant["lo"], constant["hi"]) == ([128, 128, 0], 2.0, 2.0)
    wide = image(np.array([-1.7e308, 1.7e308]))
    assert wide is not None
    assert levels(wide) == [1, 255]


@pytest.mark.parametrize(("array", "values"), [
    (np.array([[1 / 3, np.nan], [np.inf, -2.]], np.float32), [0.333333, "nan", "inf", -2.0]),
    (np.array([12345678, -1]), [12345678, -1]), (np.array([True, False]), [True, False]),
    (np.array([2**60]), [str(2**60)]), (np.array([1 + 2j]), ["1+2j"]), (np.float64(2.5), [2.5])])
def test_few_elements_are_shown_by_their_numbers(array: Any, values: list[Any]) -> None:
    assert Pictures(1).of(array) == {"kind": "numbers", "shape": [*array.shape], "values": values}


def test_up_to_sixteen_elements_are_few() -> None:
    kinds = [(found or {})["kind"] for found in (Pictures(1).of(np.ones(16)), Pictures(1).of(np.ones(17)))]
    assert kinds == ["numbers", "image"]


def test_many_pictures_are_small() -> None:
    array = GENERATOR.normal(size=(200, 200))
    sizes = []
    for many in (10, 500, 6000):
        found = Pictures(many).of(array)
        assert found is not None
        sizes.append(len(json.dumps(found)) * many)
    assert sizes[0] < 10 * 6000
    assert sizes[1] < 800_000 * 1.3
    assert sizes[2] < 800_000 * 1.3
    assert Pictures(1).of(np.ones(0)) is None
    assert Pictures(1).of("text") is None
    assert "histogram" in (Pictures(10).of(array) or {})
    assert "histogram" not in (Pictures(6000).of(array) or {})
