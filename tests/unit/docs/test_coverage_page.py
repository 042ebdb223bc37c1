"""The page on coverage names what is here. (That it names all that PyTorch has, a test against PyTorch holds.)"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import retrograd

DATA = Path(__file__).parents[3] / "docs" / "coverage.csv"
SPACES = ("torch", "torch.Tensor", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special")


def names() -> Iterator[str]:
    """The names of functions that the data say are here. A row of a namespace counts its names."""
    with DATA.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            space = row["name"].rpartition(".")[0]
            if space in SPACES and not row["state"].startswith("missing: ") and " names (" not in row["state"]:
                yield row["name"]


def test_every_name_of_the_page_is_here() -> None:
    found = [*names()]
    assert len(found) > 800
    for name in found:
        attrgetter(name.partition(".")[2])(retrograd)
