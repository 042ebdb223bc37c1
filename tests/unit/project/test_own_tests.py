"""The harness that runs PyTorch's own tests: its data files, its page, and how it compares values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from own_tests.page import written
from own_tests.running import Outcome
from own_tests.suites import SUITES, applies, patterns, reason

PAGE = (Path(__file__).parents[3] / "docs" / "pytorch-tests.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) % \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("name", ["not_applicable.txt", "reasons.txt"])
def test_each_pattern_has_a_reason_and_stands_once(name: str) -> None:
    found = patterns(name)
    assert all(why for _, why in found)
    assert len({pattern for pattern, _ in found}) == len(found)


def test_what_applies() -> None:
    assert applies("test_nn.py::TestNN::test_to")
    assert not applies("test_autograd.py::TestAutograd::test_sparse_mm_backward")
    assert reason("reasons.txt", "test_nn.py::TestNN::test_to") is None


def test_the_page_adds_up() -> None:
    *suites, (name, count, passed, share) = ROWS
    assert [suite for suite, *_ in suites] == [*SUITES]
    assert name == "all"
    totals = [sum([int(row[i].replace(",", "")) for row in suites]) for i in (1, 2)]
    assert totals == [int(count.replace(",", "")), int(passed.replace(",", ""))]
    assert float(share) == round(100 * totals[1] / totals[0], 1)


def test_a_test_without_a_reason_is_told() -> None:
    scores = {"nn": {"test_nn.py::TestNN::test_to": Outcome("fail", "because")}}
    with pytest.raises(ValueError, match=r"no reason for test_nn.py::TestNN::test_to: because"):
        written(PAGE, scores)
